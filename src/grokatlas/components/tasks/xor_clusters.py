"""Clusters whose label is the product of two signs, among many small nuisance coordinates."""

from typing import Any

import numpy as np

from grokatlas.engine.dataset import Dataset
from grokatlas.engine.keyword_types import Count, NonNegative, Seed


def build(
    *,
    features: Count,
    train_points: Count,
    test_points: Count,
    amplitude: NonNegative,
    data_seed: Seed,
) -> Dataset:
    """x_1, x_2 uniform in {-1, 1}, label x_1 x_2; arXiv 2506.12284, figure 4.

    Args:
        features: p, the two signs and p - 2 nuisance coordinates.
        train_points: number of training samples.
        test_points: number of test samples, drawn the same way.
        amplitude: a nuisance coordinate is uniform in the two values -amplitude and amplitude.
        data_seed: of all signs.

    Inputs ``[N, p]``; targets ``[N, 1]``, real, -1 or 1.

    Raises:
        ValueError: there are fewer than two features.
    """
    if features < 2:
        raise ValueError(f"features {features} is not allowed: must be at least 2")
    random = np.random.RandomState(int(data_seed))
    scale = np.full(features, amplitude)
    scale[:2] = 1.0
    made: dict[str, Any] = {}  # arrays of the data set, by name
    for part, points in (("train", train_points), ("test", test_points)):
        signs = random.randint(0, 2, (points, features), dtype=np.int8) * 2 - 1
        made[f"{part}_inputs"] = signs * scale
        made[f"{part}_targets"] = (signs[:, :1] * signs[:, 1:2]).astype(float)
    return Dataset(**made, outputs=1)


def size(*, features: int, train_points: int, **_: Any) -> dict[str, Any]:
    """Size of the data, without making them (docs/extending.md)."""
    return {"samples": train_points, "shape": (features,), "outputs": 1}
