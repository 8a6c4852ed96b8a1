"""Norms of all parameters together."""

from typing import Literal

import torch
from torch import Tensor

from grokatlas.engine.contracts import Columns, Observable
from grokatlas.engine.linalg import nan_if_not_finite
from grokatlas.engine.observed import Observed

COLUMNS = {"{orders}_norm": None}


def build(*, orders: list[Literal["l1", "l2", "nuclear"]]) -> Observable:
    """Columns ``l1_norm``, ``l2_norm`` and ``nuclear_norm``, those of `orders`.

    Args:
        orders: ``l1`` and ``l2`` are of all parameters as one vector (``l2`` not squared);
            ``nuclear`` is the sum of the singular values of every parameter that is a matrix.
    """

    def observe(view: Observed) -> Columns:
        values = list(view.params.values())
        flat = torch.cat([value.reshape(-1) for value in values])
        norms = {
            "l1": lambda: flat.abs().sum(),
            "l2": lambda: flat.square().sum().sqrt(),
            "nuclear": lambda: _nuclear(values, flat),
        }
        return {f"{order}_norm": norms[order]() for order in orders}

    return observe


def _nuclear(values: list[Tensor], flat: Tensor) -> Tensor:
    matrices = [value for value in values if value.ndim == 2]
    sums = (nan_if_not_finite(torch.linalg.svdvals, matrix).sum() for matrix in matrices)
    return sum(sums, flat.new_zeros(()))
