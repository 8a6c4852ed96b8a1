"""The gradients that an adaptive optimizer remembers."""

from typing import Any, TypeGuard, cast

import torch

from grokatlas.components.optimizers.adam import Adam
from grokatlas.engine.contracts import Columns, Observable, Tree
from grokatlas.engine.observed import Observed

COLUMNS = {"adam_denominator": None}
SEES_STATE = True


def build() -> Observable:
    """Column ``adam_denominator``: the (lower) median over all entries of ``sqrt(v)``.

    ``v`` is Adam's second moment after this step, with its bias correction (Kingma & Ba 2015,
    algorithm 1), so that it is the size of the gradients that the denominator remembers, without
    eps. It is 0 before the first step.

    A run whose optimizer has no such moment is refused with a `ValueError` when observed.
    """

    def observe(view: Observed) -> Columns:
        optimizer = getattr(view.dynamics, "optimizer", None)
        optimizer = getattr(optimizer, "adam", optimizer)  # within adamw
        if not _is_adam(optimizer):
            raise ValueError("adam_denominator needs the moments of adam or adamw")
        moments: Any = cast(Tree, view.state["optimizer"])
        second = [value.reshape(-1) for value in moments["second"].values()]
        lower = torch.cat(second).sort().values[(sum(map(len, second)) - 1) // 2]
        correction = 1 - optimizer.beta2 ** moments["step"].clamp(min=1.0)
        return {"adam_denominator": (lower / correction.to(lower.dtype)).sqrt()}

    return observe


def _is_adam(optimizer: object) -> TypeGuard[Adam]:
    return hasattr(optimizer, "beta2")
