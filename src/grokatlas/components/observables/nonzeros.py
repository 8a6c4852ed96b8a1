"""How many parameters are not zero."""

from collections.abc import Callable
from typing import Any

import torch

from grokatlas.engine.keyword_types import NonNegative

COLUMNS = {"l0_norm": None}


def build(*, threshold: NonNegative) -> Callable[[Any], dict]:
    """Column ``l0_norm``: the number of entries of all parameters with ``|p| > threshold``.

    Args:
        threshold: above it an entry counts; subgradient descent leaves no exact zeros.
    """

    def observe(view: Any) -> dict:
        flat = torch.cat([value.reshape(-1) for value in view.params.values()])
        counted = (flat.abs() > threshold).to(flat.dtype)
        return {"l0_norm": torch.where(flat.isnan(), flat, counted).sum()}

    return observe
