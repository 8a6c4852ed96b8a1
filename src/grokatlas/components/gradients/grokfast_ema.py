"""Grokfast with an exponential moving average: slow gradients amplified."""

from typing import TypedDict

import torch
from torch import Tensor

from grokatlas.engine.contracts import GradientLink, Hyperparameter, Params
from grokatlas.engine.keyword_types import NonNegative, Unit

ROTATABLE = True  # a rotation of inputs and first-layer weights changes nothing
KEPT = 1  # copies of the parameters in the state: the average


class Average(TypedDict):
    """The state: the average by parameter, and whether a gradient was seen ``[]``, 0 or 1."""

    average: Params
    seen: Tensor


class GrokfastEMA:
    """``h <- alpha h + (1 - alpha) g``, ``g <- g + lamb h``.

    The average ``h`` begins as the first gradient. Source: Lee et al., arXiv 2405.20233, and
    ``gradfilter_ema`` of the authors' code.
    """

    def __init__(self, alpha: Hyperparameter, lamb: Hyperparameter) -> None:
        self.alpha = alpha
        self.lamb = lamb

    def init(self, params: Params) -> Average:
        """The average, and whether a gradient was seen (0 or 1)."""
        average = {key: torch.zeros_like(value) for key, value in params.items()}
        some = next(iter(params.values()))
        return {"average": average, "seen": torch.zeros_like(some.sum())}

    def update(self, params: Params, grads: Params, state: Average) -> tuple[Params, Average]:
        """The amplified gradients, and the average."""
        alpha = self.alpha * state["seen"]  # 0 at the first gradient, which the average then is
        average = {
            key: torch.lerp(grad, state["average"][key], alpha.to(grad.dtype))
            for key, grad in grads.items()
        }
        amplified = {key: grad + self.lamb * average[key] for key, grad in grads.items()}
        return amplified, {"average": average, "seen": torch.ones_like(state["seen"])}


def build(*, alpha: Unit, lamb: NonNegative) -> GradientLink[Average]:
    """Gradients plus `lamb` times their moving average.

    Args:
        alpha: decay rate of the average.
        lamb: factor of the average.
    """
    return GrokfastEMA(alpha, lamb)
