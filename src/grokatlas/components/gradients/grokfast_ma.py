"""Grokfast with a windowed moving average: slow gradients amplified."""

from typing import Any, TypedDict

import torch
from torch import Tensor

from grokatlas.engine.contracts import GradientLink, Hyperparameter, Params
from grokatlas.engine.keyword_types import Count, NonNegative

ROTATABLE = True  # a rotation of inputs and first-layer weights changes nothing


class Window(TypedDict):
    """The state: the last gradients ``[window, ...]``, and how many were seen ``[]``."""

    recent: Params
    seen: Tensor


class GrokfastMA:
    """``g <- g + lamb * mean of the last `window` gradients``, the present one included.

    Nothing is added before `window` gradients were seen. The state holds `window` copies of the
    parameters. Source: Lee et al., arXiv 2405.20233, and ``gradfilter_ma`` of the authors' code
    with filter ``mean`` and ``warmup``.
    """

    def __init__(self, window: int, lamb: Hyperparameter) -> None:
        self.window = window
        self.lamb = lamb

    def init(self, params: Params) -> Window:
        """The last gradients ``[window, ...]``, oldest first, and how many were seen."""
        recent = {
            key: torch.stack([torch.zeros_like(value)] * self.window)
            for key, value in params.items()
        }
        some = next(iter(params.values()))
        return {"recent": recent, "seen": torch.zeros_like(some.sum(), dtype=torch.int64)}

    def update(self, params: Params, grads: Params, state: Window) -> tuple[Params, Window]:
        """The amplified gradients, and the window."""
        seen = state["seen"] + 1
        full = seen >= self.window
        recent, amplified = {}, {}
        for key, grad in grads.items():
            # a running sum would keep the rounding of gradients long gone
            recent[key] = torch.cat([state["recent"][key][1:], grad[None]])
            factor = self.lamb * full.to(grad.dtype)
            amplified[key] = grad + factor * recent[key].mean(0)
        return amplified, {"recent": recent, "seen": seen}


def build(*, window: Count, lamb: NonNegative) -> GradientLink[Window]:
    """Gradients plus `lamb` times the mean of the last ones.

    Args:
        window: number of gradients in the mean.
        lamb: factor of the mean.
    """
    return GrokfastMA(window, lamb)


def kept(*, window: int, **_: Any) -> int:
    """Copies of the parameters in the state (docs/extending.md)."""
    return window
