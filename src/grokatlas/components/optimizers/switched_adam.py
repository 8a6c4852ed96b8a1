"""Adam whose memory of squared gradients is changed once in a run."""

from typing import TypedDict

import torch
from torch import Tensor

from grokatlas.components.optimizers._scalars import as_weight, double
from grokatlas.engine.contracts import Hyperparameter, Optimizer, Params
from grokatlas.engine.keyword_types import Count, Decay, Positive

KEPT = 2  # copies of the parameters in the state: both moments


class Moments(TypedDict):
    """Both moments by parameter; steps taken and the weight of the second moment, in float64."""

    first: Params
    second: Params
    step: Tensor
    weight: Tensor


class SwitchedAdam:
    """Adam (Kingma & Ba 2015) with another beta2, or an empty second moment, from one step on.

    With ``b`` the beta2 of step ``t``, and ``v`` and its weight ``w`` both 0 at first,

        ``v <- b v + (1 - b) g^2``, ``w <- b w + (1 - b)``,
        ``p <- p - lr (m / (1 - beta1^t)) / (sqrt(v / w) + eps)``.

    With a constant ``b`` the weight is ``1 - b^t``, the bias correction of Adam.
    """

    def __init__(
        self,
        rates: tuple[Hyperparameter, Hyperparameter, Hyperparameter, Hyperparameter],
        switch: int,
        beta2_after: Hyperparameter,
        empty: bool,
    ) -> None:
        self.lr, self.beta1, self.beta2, self.eps = rates
        self.switch = switch
        self.beta2_after = beta2_after
        self.empty = empty

    def init(self, params: Params) -> Moments:
        """Empty moments, and no step taken."""
        first = {key: torch.zeros_like(value) for key, value in params.items()}
        second = {key: torch.zeros_like(value) for key, value in params.items()}
        some = next(iter(params.values()))
        none = torch.zeros_like(some.sum(), dtype=torch.float64)
        return {"first": first, "second": second, "step": none, "weight": none.clone()}

    def update(self, params: Params, grads: Params, state: Moments) -> tuple[Params, Moments]:
        """The parameters after one step, and the moments."""
        step = state["step"] + 1
        one = torch.ones_like(step)
        after = step > self.switch
        beta2 = torch.where(after, one * double(self.beta2_after), one * double(self.beta2))
        last = torch.where(step == self.switch + 1, 0.0 * one, one) if self.empty else one
        made: Moments = {
            "first": {},
            "second": {},
            "step": step,
            "weight": beta2 * last * state["weight"] + (1 - beta2),
        }
        for key, grad in grads.items():
            weight1 = as_weight(1 - self.beta1, grad)
            made["first"][key] = torch.lerp(state["first"][key], grad, weight1)
            second = state["second"][key] * last.to(grad.dtype)
            made["second"][key] = torch.lerp(second, grad * grad, (1 - beta2).to(grad.dtype))
        move = self.direction(made)
        return {key: value - self.lr * move[key] for key, value in params.items()}, made

    def direction(self, state: Moments) -> Params:
        """The last step over minus the step size; 0 before the first."""
        correction = 1 - double(self.beta1) ** state["step"].clamp(min=1.0)
        weight = torch.where(state["step"] > 0, state["weight"], 1.0).sqrt()
        made = {}
        for key, first in state["first"].items():
            root = state["second"][key].sqrt() / weight.to(first.dtype)
            made[key] = first / correction.to(first.dtype) / (root + self.eps)
        return made


def build(
    *,
    lr: Positive,
    beta1: Decay,
    beta2: Decay,
    eps: Positive,
    switch: Count,
    beta2_after: Decay,
    empty: bool,
) -> Optimizer[Moments]:
    """Adam with a change of its second moment after some step, without weight decay.

    Args:
        lr: step size.
        beta1: decay rate of the first moment.
        beta2: decay rate of the second moment up to the switch.
        eps: added outside the root.
        switch: last step before the change.
        beta2_after: decay rate of the second moment after it.
        empty: the second moment is set to 0 at the switch, and its bias corrected anew.
    """
    return SwitchedAdam((lr, beta1, beta2, eps), switch, beta2_after, empty)
