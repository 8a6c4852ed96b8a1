"""The share of preactivations that are at the kink of their unit."""

import torch

from grokatlas.engine.contracts import Columns, Observable
from grokatlas.engine.keyword_types import Positive
from grokatlas.engine.observed import Observed

COLUMNS = {"share_at_kinks": None}
FIRST = "layers.0.weight"


def build(*, within: Positive) -> Observable:
    """Column ``share_at_kinks``, of the first layer of an `mlp` without biases.

    With preactivations ``z = X E`` ``[N, H]`` of the training set it is the share of entries with
    ``|z| < within * (mean z^2)^(1/2)``. Of a smooth density it is in proportion to `within`, near
    0.8 times it for a normal one; units that a flow holds at their kinks are seen at any value.

    Args:
        within: relative to the root mean square.

    Raises:
        ValueError: the model is another one.
    """

    def observe(view: Observed) -> Columns:
        weight = view.params.get(FIRST)
        if weight is None or "layers.0.bias" in view.params:
            raise ValueError("kinks needs a model of layers without biases: mlp or fitted_mlp")
        before = view.data["train_inputs"].flatten(1) @ weight.T
        size = before.square().mean().sqrt()
        near = (before.abs() < within * size).to(before.dtype)
        return {"share_at_kinks": torch.where(size.isfinite(), near.mean(), torch.nan)}

    return observe
