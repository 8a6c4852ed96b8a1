"""The number of parameters that are not zero."""

import torch

from grokatlas.engine.contracts import Columns, Observable
from grokatlas.engine.keyword_types import NonNegative
from grokatlas.engine.observed import Observed

COLUMNS = {"l0_norm": None}


def build(*, threshold: NonNegative) -> Observable:
    """Column ``l0_norm``: the number of entries of all parameters with ``|p| > threshold``.

    Args:
        threshold: above it an entry counts; subgradient descent leaves no exact zeros.
    """

    def observe(view: Observed) -> Columns:
        flat = torch.cat([value.reshape(-1) for value in view.params.values()])
        counted = (flat.abs() > threshold).to(flat.dtype)
        return {"l0_norm": torch.where(flat.isnan(), flat, counted).sum()}

    return observe
