"""Gradient flow of least squares with weight decay, by implicit steps that lengthen."""

from typing import Any, TypedDict

import torch
from torch import Tensor

from grokatlas.engine.contracts import Batch, Dynamics, Hyperparameter, Model, NetworkLoss, Params
from grokatlas.engine.keyword_types import Count, NonNegative, Positive
from grokatlas.engine.linalg import solve_positive

FULL_BATCH = True  # a step takes the whole training set


class Flow(TypedDict):
    """The state: the parameters, and the length ``[]`` of the next step in time."""

    params: Params
    length: Tensor


class ImplicitFlow:
    """``w' = -grad(|f(w) - y|^2 / N + weight_decay |w|^2)``, from fast to slow times in few steps.

    Gradient descent takes ``1 / (2 lr weight_decay)`` steps to a unit of slow time, 1e8 for a
    weight decay of 1e-7. Here each step of the time h is one of the implicit Euler rule, so that w
    goes to the minimum over x of

        ``|f(x) - y|^2 / N + weight_decay |x|^2 + |x - w|^2 / (2 h)``.

    The regularised loss falls with every such step, whatever h is. The minimum is sought by the
    method of Gauss and Newton: with ``a = 1/h + 2 weight_decay``, the minimum ``z = w / (a h)`` of
    the last two terms, and at x the residual ``r = f(x) - y`` and ``J = df/dx [N C, P]``,

        ``x <- z - J^T (J J^T + a N/2)^-1 (r + J (z - x))``, from ``x = w``.

    For a linear model the first iteration is exact. The k-th step has ``h = first (1 + growth)^k``,
    so that the relative error of a time scale is of order `growth`.
    """

    def __init__(
        self,
        model: Model,
        weight_decay: Hyperparameter,
        first: Hyperparameter,
        growth: Hyperparameter,
        iterations: int,
    ) -> None:
        self.model = model
        self.weight_decay = weight_decay
        self.first = first
        self.growth = growth
        self.iterations = iterations

    def init(self, params: Params) -> Flow:
        """The parameters, and the length of the first step."""
        some = next(iter(params.values()))
        return {
            "params": params,
            "length": (torch.zeros_like(some.sum()) + self.first).to(some.dtype),
        }

    def update(self, state: Flow, batch: Batch) -> Flow:
        """One step on the whole training set."""
        params, length = state["params"], state["length"]
        inverse = 1 / length + 2 * self.weight_decay
        moved = _flat(params)
        target = moved / (inverse * length)
        for _ in range(self.iterations):
            moved = self._corrected(moved, target, inverse, params, batch)
        longer = (length * (1 + self.growth)).to(length.dtype)
        return {"params": _unflat(moved, params), "length": longer}

    def parameters(self, state: Flow, batch: Batch) -> Params:
        """The parameters."""
        return state["params"]

    def _corrected(
        self, point: Tensor, target: Tensor, inverse: Tensor, like: Params, batch: Batch
    ) -> Tensor:
        """A point ``[P]`` after an iteration of Gauss and Newton."""
        residual, jacobian = self._linearised(point, like, batch)
        identity = torch.eye(len(residual), dtype=point.dtype, device=point.device)
        gram = jacobian @ jacobian.T + inverse * len(batch[0]) / 2 * identity
        wanted = residual + jacobian @ (target - point)
        return target - jacobian.T @ solve_positive(gram, wanted[:, None])[:, 0]

    def _linearised(self, point: Tensor, like: Params, batch: Batch) -> tuple[Tensor, Tensor]:
        """Residuals ``[N C]``, labels as one-hot targets, and their derivative ``[N C, P]``."""
        inputs, targets = batch

        def residual(flat: Tensor) -> tuple[Tensor, Tensor]:
            outputs, wanted = self.model(_unflat(flat, like), inputs), targets
            if not targets.is_floating_point():
                classes = torch.arange(outputs.shape[-1], device=targets.device)
                wanted = (targets[:, None] == classes).to(outputs.dtype)
            value = (outputs - wanted).flatten()
            return value, value

        jacobian, value = torch.func.jacrev(residual, has_aux=True)(point)
        return value, jacobian


def _flat(params: Params) -> Tensor:
    return torch.cat([value.flatten() for value in params.values()])


def _unflat(flat: Tensor, like: Params) -> Params:
    parts = flat.split([value.numel() for value in like.values()])
    return {key: part.view_as(like[key]) for key, part in zip(like, parts, strict=True)}


def build(
    model: Model,
    loss: NetworkLoss,
    *,
    weight_decay: NonNegative,
    first: Positive,
    growth: Positive,
    iterations: Count,
) -> Dynamics[Flow]:
    """Gradient flow of ``|f - y|^2 / N + weight_decay |w|^2``.

    Args:
        model: any whose outputs have the shape of the targets, or of one-hot labels.
        loss: only observed; ``|f - y|^2 / N`` is loss `mse` with the mean over samples.
        weight_decay: lambda.
        first: length of the first step in time.
        growth: each step is longer than the one before by this share.
        iterations: of Gauss and Newton in each step.
    """
    return ImplicitFlow(model, weight_decay, first, growth, iterations)


def cost(*, iterations: int, **_: Any) -> int:
    """Times the work of a step of gradient descent: each iteration has its Jacobian."""
    return 2 * iterations
