"""The size of the steps of an adaptive optimizer."""

from typing import TypeGuard, cast

import torch

from grokatlas.engine.contracts import AdaptiveOptimizer, Columns, Observable, Tree
from grokatlas.engine.observed import Observed

COLUMNS = {"effective_step": None}
SEES_STATE = True


def build() -> Observable:
    """Column ``effective_step``: the (lower) median over all entries of ``|m| / (sqrt(v) + eps)``.

    ``m`` and ``v`` are Adam's moments after this step, with their bias corrections (Kingma & Ba
    2015, algorithm 1): it is the size of the last step over the step size, 1 where the gradient
    keeps its sign and size, far below 1 where the denominator remembers gradients that were larger.
    It is 0 before the first step. A decoupled weight decay is not in it, nor what links of
    ``updates``, such as a schedule, make of the step.

    A run whose optimizer has no such moments is refused with a `ValueError` when observed.
    """

    def observe(view: Observed) -> Columns:
        optimizer = getattr(view.dynamics, "optimizer", None)
        if not _is_adaptive(optimizer):
            raise ValueError("effective_step needs an optimizer with moments: adam or adamw")
        moments = cast(Tree, view.state["optimizer"])
        made = optimizer.direction(moments)
        sizes = torch.cat([value.abs().reshape(-1) for value in made.values()])
        return {"effective_step": sizes.sort().values[(len(sizes) - 1) // 2]}

    return observe


def _is_adaptive(optimizer: object) -> TypeGuard[AdaptiveOptimizer[Tree]]:
    return hasattr(optimizer, "direction")
