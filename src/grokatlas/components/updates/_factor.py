"""A step multiplied by a factor that depends on the number of steps so far."""

from collections.abc import Callable
from typing import TypedDict

import torch
from torch import Tensor

from grokatlas.engine.contracts import Params


class Steps(TypedDict):
    """The state: the number of steps so far ``[]``, in float64."""

    steps: Tensor


class ScaledStep:
    """``p + factor(t) (p' - p)`` in place of ``p'``: `t` steps were taken before this one.

    The step of every optimizer here is proportional to its step size, decoupled decay included and
    moments left out. So this is a step size of ``factor(t) lr``, and the factors of several links
    multiply. A factor of 1 gives ``p'`` to the last bit.

    Args:
        factor: of the number of steps ``[]`` in float64, in the same dtype.
    """

    def __init__(self, factor: Callable[[Tensor], Tensor]) -> None:
        self.factor = factor

    def init(self, params: Params) -> Steps:
        """No step so far."""
        some = next(iter(params.values()))
        return {"steps": torch.zeros_like(some.sum(), dtype=torch.float64)}

    def update(self, before: Params, after: Params, state: Steps) -> tuple[Params, Steps]:
        """The parameters after a step of another length, and one step more."""
        factor = self.factor(state["steps"])
        scaled = {
            key: torch.lerp(value, after[key], factor.to(value.dtype))
            for key, value in before.items()
        }
        return scaled, {"steps": state["steps"] + 1}
