"""Gradient descent with momentum and weight decay."""

from typing import Any, TypedDict

import torch

from grokatlas.components.optimizers._scalars import is_zero
from grokatlas.engine.contracts import Hyperparameter, Optimizer, Params
from grokatlas.engine.keyword_types import NonNegative, Positive, Unit

ROTATABLE = True  # a rotation of inputs and first-layer weights changes nothing


class Momentum(TypedDict):
    """The state: a buffer of each parameter, or none."""

    buffer: Params


class SGD:
    """As ``torch.optim.SGD`` without dampening.

    ``d = g + weight_decay * p``; ``b <- momentum * b + d``, 0 at first; ``p <- p - lr * b``, or
    ``p - lr * (d + momentum * b)`` with Nesterov's momentum. The decay is coupled: equal to a
    penalty ``weight_decay / 2 * |p|^2``.
    """

    def __init__(
        self,
        lr: Hyperparameter,
        momentum: Hyperparameter,
        weight_decay: Hyperparameter,
        nesterov: bool,
    ) -> None:
        self.lr = lr
        self.momentum = momentum
        self.weight_decay = weight_decay
        self.nesterov = nesterov

    def init(self, params: Params) -> Momentum:
        """A buffer of each parameter; none if momentum is the number 0."""
        if is_zero(self.momentum):
            return {"buffer": {}}
        return {"buffer": {key: torch.zeros_like(value) for key, value in params.items()}}

    def update(self, params: Params, grads: Params, state: Momentum) -> tuple[Params, Momentum]:
        """The parameters after one step, and the buffers."""
        if not is_zero(self.weight_decay):
            grads = {key: grads[key] + self.weight_decay * value for key, value in params.items()}
        moves, buffer = grads, {}
        if not is_zero(self.momentum):
            buffer = {key: self.momentum * b + grads[key] for key, b in state["buffer"].items()}
            moves = buffer
            if self.nesterov:
                moves = {key: grads[key] + self.momentum * b for key, b in buffer.items()}
        moved = {key: value - self.lr * moves[key] for key, value in params.items()}
        return moved, {"buffer": buffer}


def build(
    *, lr: Positive, momentum: Unit, weight_decay: NonNegative, nesterov: bool
) -> Optimizer[Momentum]:
    """Gradient descent on the batch.

    Args:
        lr: step size.
        momentum: factor of the buffer; 0 keeps none.
        weight_decay: factor of the coupled decay.
        nesterov: whether momentum is Nesterov's.

    Raises:
        ValueError: Nesterov's momentum of 0.
    """
    if nesterov and is_zero(momentum):
        raise ValueError("nesterov is true, but momentum is 0; give a momentum above 0")
    return SGD(lr, momentum, weight_decay, nesterov)


def kept(*, momentum: float = 1.0, **_: Any) -> int:
    """Copies of the parameters in the state; `momentum` may be a member's (docs/extending.md)."""
    return 0 if momentum == 0 else 1
