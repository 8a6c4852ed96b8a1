"""Norms of all parameters together."""

from collections.abc import Callable
from typing import Any, Literal

import torch


def build(*, orders: list[Literal["l1", "l2"]]) -> Callable[[Any], dict]:
    """Columns ``l1_norm`` and ``l2_norm``: of all parameters as one vector."""

    def observe(view: Any) -> dict:
        flat = torch.cat([value.reshape(-1) for value in view.params.values()])
        norms = {"l1": lambda: flat.abs().sum(), "l2": lambda: flat.square().sum().sqrt()}
        return {f"{order}_norm": norms[order]() for order in orders}

    return observe
