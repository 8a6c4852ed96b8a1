"""Muon: momentum with orthogonal updates of matrices, and Adam of all other parameters."""

from typing import Any, NotRequired, TypedDict

import torch
from torch import Tensor

from grokatlas.components.optimizers.adam import Adam, Moments
from grokatlas.engine import moving
from grokatlas.engine.contracts import Hyperparameter, Optimizer, Params
from grokatlas.engine.keyword_types import Decay, NonNegative, Positive

STEPS = 5  # of the iteration
A, B, C = 3.4445, -4.7750, 2.0315  # its coefficients, by Jordan
TINY = 1e-7  # the least norm that a gradient is divided by
RMS = 0.2  # of Adam's updates, by Liu et al.


class State(TypedDict):
    """The mean gradient of each matrix, and the state of Adam for the others, if there are some."""

    momentum: Params
    adam: NotRequired[Moments]


class Muon:
    """As ``torch.optim.Muon``, with ``match_rms_adamw``, in the parameters' own precision.

    With ``m <- momentum m + (1 - momentum) g``, 0 at first, and Nesterov's
    ``u = momentum m + (1 - momentum) g``, a step of a matrix ``p`` of n rows and k columns is

        ``p <- p (1 - lr * weight_decay) - 0.2 lr max(n, k)^(1/2) O(u)``,

    where ``O`` is five steps of ``X <- a X + (b X X^T + c (X X^T)^2) X`` from ``u / |u|``: nearly
    the orthogonal factor of u. Heads ``[heads, rows, columns]`` are taken as one matrix ``[heads *
    rows, columns]``, and a kernel ``[out, in, height, width]`` as ``[out, in * height * width]``.
    Sources: Jordan et al. 2024, "Muon: an optimizer for hidden layers in neural networks"; Liu et
    al., arXiv 2502.16982, for the scale, with which one step size and one decay serve all
    parameters.
    """

    def __init__(
        self,
        adam: Adam,
        parameters: list[str],
        momentum: Hyperparameter,
        weight_decay: Hyperparameter,
    ) -> None:
        self.others = adam
        self.parameters = parameters
        self.momentum = momentum
        self.weight_decay = weight_decay

    def init(self, params: Params) -> State:
        """A mean gradient of 0 for each matrix, and the state of Adam for the others.

        Raises:
            ValueError: a pattern matches no parameter.
        """
        matrices, others = self._parted(params)
        state: State = {"momentum": {key: torch.zeros_like(p) for key, p in matrices.items()}}
        if others:
            state["adam"] = self.others.init(others)
        return state

    def update(self, params: Params, grads: Params, state: State) -> tuple[Params, State]:
        """The parameters after one step, and the state."""
        keep = 1 - self.others.lr * self.weight_decay
        decayed = {key: value * keep for key, value in params.items()}
        matrices, others = self._parted(decayed)
        made: State = {"momentum": {}}
        for key, value in matrices.items():
            mean = self._mean(state["momentum"][key], grads[key])
            made["momentum"][key] = mean
            step = RMS * _orthogonal(self._mean(mean, grads[key]))
            matrices[key] = value - self.others.lr * step
        if others:
            own = {key: grads[key] for key in others}
            others, made["adam"] = self.others.update(others, own, state["adam"])
        return {key: (matrices | others)[key] for key in params}, made

    def _mean(self, mean: Tensor, grad: Tensor) -> Tensor:
        return self.momentum * mean + (1 - self.momentum) * grad

    def _parted(self, params: Params) -> tuple[Params, Params]:
        """The matrices that Muon moves, and the other parameters."""
        named = moving.names(self.parameters, list(params), "parameters")
        matrices = {key: params[key] for key in named if params[key].ndim > 1}
        return matrices, {key: params[key] for key in params if key not in matrices}


def _orthogonal(update: Tensor) -> Tensor:
    """An update's nearly orthogonal factor, times the root of its larger side."""
    matrix = update.flatten(0, 1) if update.ndim == 3 else update.flatten(1)
    wide = matrix if matrix.shape[0] <= matrix.shape[1] else matrix.T
    wide = wide / wide.square().sum().sqrt().clamp(min=TINY)
    for _ in range(STEPS):
        gram = wide @ wide.T
        wide = A * wide + (B * gram + C * gram @ gram) @ wide
    scaled = max(matrix.shape) ** 0.5 * wide
    whole = scaled if matrix.shape[0] <= matrix.shape[1] else scaled.T
    return whole.reshape(update.shape)


def build(
    *,
    lr: Positive,
    parameters: list[str],
    momentum: Decay,
    weight_decay: NonNegative,
    beta1: Decay,
    beta2: Decay,
    eps: Positive,
) -> Optimizer[State]:
    """Muon for matrices and AdamW for all else, with one step size and one decoupled decay.

    Published for hidden matrices alone: embeddings and readouts are Adam's there.

    Args:
        lr: step size; of a matrix, that of an update whose root mean square is 0.2.
        parameters: names, or patterns such as ``layers.1.*``, of the parameters whose matrices Muon
            moves; ``*`` is all.
        momentum: decay rate of a matrix's mean gradient; published: 0.95.
        weight_decay: factor of the decoupled decay, ``p <- p (1 - lr * weight_decay)``.
        beta1: decay rate of the first moment of other parameters.
        beta2: decay rate of their second moment.
        eps: added outside its root.
    """
    return Muon(Adam(lr, beta1, beta2, eps), parameters, momentum, weight_decay)


def kept(*, parameters: list[str], **_: Any) -> int:
    """Copies of the parameters in the state: one of a matrix, two of what is Adam's."""
    return 1 if "*" in parameters else 2
