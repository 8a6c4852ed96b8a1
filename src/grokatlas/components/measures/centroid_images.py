"""Centroids of training images, as images."""

import pandas as pd
import torch
from torch import Tensor

from grokatlas.engine.contracts import FinishedRun, Measure
from grokatlas.engine.keyword_types import Whole
from grokatlas.engine.rebuilt import restored

NEEDS = ["snapshots"]


def build(*, points: list[Whole]) -> Measure[FinishedRun]:
    """The centroid ``mu = J^T 1`` of some training points, entry by entry.

    Args:
        points: their places in the training set.

    Returns:
        a function of a finished run, giving one row for each member, snapshot ``step`` and
        ``point``: its ``label``, the ``shape`` of an input (as ``3x32x32``), the ``input`` and the
        ``centroid``, their entries in order as JSON text, and ``alignment``, the cosine of the two
        (0 if one of them vanishes).

    Source: arXiv 2506.12284, figure 6.

    Raises:
        ValueError: when measured: there are not so many training points, or they are tokens.
    """

    def measure(run: FinishedRun) -> pd.DataFrame:
        rows = []
        for one in restored(run):
            inputs, targets = one.data["train_inputs"], one.data["train_targets"]
            if not inputs.is_floating_point():
                raise ValueError("centroid_images needs real inputs; these are tokens")
            if max(points) >= len(inputs):
                raise ValueError(f"centroid_images.points must be less than {len(inputs)}")
            chosen = inputs[points]
            slopes = torch.func.grad(lambda x, one=one: one.outputs(x).sum())(chosen)
            cosines = torch.cosine_similarity(chosen.flatten(1), slopes.flatten(1))
            for place, point in enumerate(points):
                row: dict[str, object] = {"member": one.member, "step": one.step, "point": point}
                row["label"] = _label(targets[point])
                row["shape"] = "x".join(str(size) for size in chosen.shape[1:])
                row["input"], row["centroid"] = _text(chosen[place]), _text(slopes[place])
                rows.append(row | {"alignment": float(cosines[place])})
        return pd.DataFrame(rows)

    return measure


def _label(target: Tensor) -> int:
    """The class of a label, of one-hot targets, or of one real target by its sign."""
    if target.numel() == 1:
        return int(target > 0) if target.is_floating_point() else int(target)
    return int(target.argmax())


def _text(values: Tensor) -> str:
    return "[" + ",".join(f"{value:.6g}" for value in values.flatten().tolist()) + "]"
