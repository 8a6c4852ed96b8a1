"""Adam."""

from typing import TypedDict

import torch
from torch import Tensor

from grokatlas.components.optimizers._scalars import as_weight, double
from grokatlas.engine.contracts import Hyperparameter, Optimizer, Params
from grokatlas.engine.keyword_types import Decay, Positive
from grokatlas.engine.trace import fused_adam

KEPT = 2  # copies of the parameters in the state: both moments


class Moments(TypedDict):
    """The state of Adam: both moments by parameter, and the number of steps ``[]`` in float64."""

    first: Params
    second: Params
    step: Tensor


class Adam:
    """Adam with bias correction (Kingma & Ba 2015, algorithm 1), as ``torch.optim.Adam``.

    With ``m <- beta1 m + (1 - beta1) g`` and ``v <- beta2 v + (1 - beta2) g^2``, both 0 at first,
    step ``t`` (from 1) is

        ``p <- p - lr (m / c_1) / (sqrt(v / c_2) + eps)``, ``c_i = 1 - beta_i^t``.

    The corrections are computed in float64 whatever the dtype of the parameters: in float32
    ``1 - beta2^t`` would lose half of its digits in the first steps.
    """

    def __init__(
        self, lr: Hyperparameter, beta1: Hyperparameter, beta2: Hyperparameter, eps: Hyperparameter
    ) -> None:
        self.lr = lr
        self.beta1 = beta1
        self.beta2 = beta2
        self.eps = eps

    def init(self, params: Params) -> Moments:
        """First and second moments, and the number of steps."""
        first = {key: torch.zeros_like(value) for key, value in params.items()}
        second = {key: torch.zeros_like(value) for key, value in params.items()}
        some = next(iter(params.values()))
        step = torch.zeros_like(some.sum(), dtype=torch.float64)
        return {"first": first, "second": second, "step": step}

    def update(self, params: Params, grads: Params, state: Moments) -> tuple[Params, Moments]:
        """The parameters after one step, and the moments."""
        state = state | {"step": state["step"] + 1}
        rates = (self.lr, self.beta1, self.beta2, self.eps)
        if any(isinstance(rate, Tensor) for rate in rates):
            return self._moved_by_formula(params, grads, state)
        lists = (params, grads, state["first"], state["second"])
        moved = fused_adam.adam(
            *([tree[key] for key in params] for tree in lists), state["step"], *rates
        )
        count = len(params)
        params, first, second = (
            dict(zip(params, moved[start : start + count], strict=True))
            for start in (0, count, 2 * count)
        )
        return params, {"first": first, "second": second, "step": state["step"]}

    def direction(self, state: Moments) -> Params:
        """``(m / c_1) / (sqrt(v / c_2) + eps)`` of the last step; 0 before the first."""
        taken = state["step"].clamp(min=1.0)
        correction1 = 1 - double(self.beta1) ** taken
        correction2 = (1 - double(self.beta2) ** taken).sqrt()
        made = {}
        for key, first in state["first"].items():
            root = state["second"][key].sqrt() / correction2.to(first.dtype)
            made[key] = first / correction1.to(first.dtype) / (root + self.eps)
        return made

    def _moved_by_formula(
        self, params: Params, grads: Params, state: Moments
    ) -> tuple[Params, Moments]:
        """The same in plain operations, for rates that are a member's own."""
        scale, shift = self._divisor(state["step"])
        first, second, moved = {}, {}, {}
        for key, value in params.items():
            grad = grads[key]
            weight1, weight2 = as_weight(1 - self.beta1, grad), as_weight(1 - self.beta2, grad)
            first[key] = torch.lerp(state["first"][key], grad, weight1)
            second[key] = torch.lerp(state["second"][key], grad * grad, weight2)
            root = second[key].sqrt()
            divisor = root * scale.to(value.dtype) + shift.to(value.dtype)
            moved[key] = torch.addcdiv(value, first[key], divisor)
        return moved, {"first": first, "second": second, "step": state["step"]}

    def _divisor(self, step: Tensor) -> tuple[Tensor, Tensor]:
        """``a``, ``b`` such that a step is ``p + m / (a sqrt(v) + b)``: few passes over ``p``."""
        correction1 = 1 - double(self.beta1) ** step
        correction2 = 1 - double(self.beta2) ** step
        rate = correction1 / double(self.lr)
        return -rate / correction2.sqrt(), -rate * double(self.eps)


def build(*, lr: Positive, beta1: Decay, beta2: Decay, eps: Positive) -> Optimizer[Moments]:
    """Adam without weight decay.

    Args:
        lr: step size.
        beta1: decay rate of the first moment.
        beta2: decay rate of the second moment.
        eps: added outside the root.
    """
    return Adam(lr, beta1, beta2, eps)
