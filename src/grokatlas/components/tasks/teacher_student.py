"""Outputs of a random two-layer ReLU network, with its Jacobian if asked for."""

from typing import Any

import numpy as np

from grokatlas.engine.dataset import Dataset
from grokatlas.engine.keyword_types import Count, Seed


def build(
    *,
    features: Count,
    width: Count,
    outputs: Count,
    train_points: Count,
    test_points: Count,
    jacobian: bool,
    instance_seed: Seed,
) -> Dataset:
    """Targets y = B relu(A x) of x ~ N(0, I); arXiv 2506.05718, non-linear teacher-student.

    Args:
        features: D, entries of x.
        width: H, units of the teacher's hidden layer.
        outputs: C, entries of y.
        train_points: number of training samples.
        test_points: number of test samples.
        jacobian: whether targets hold the teacher's Jacobian too (Sobolev training).
        instance_seed: of a NumPy ``RandomState`` that draws A, B, training and test inputs.

    A ``[H, D]`` has entries N(0, 1), B ``[C, H]`` entries of standard deviation 1/H. Inputs
    ``[N, D]``. Targets are y ``[N, C]``; with `jacobian` they are ``[N, C, 1 + D]``: y_c, then
    dy_c/dx_d = sum_h B_ch [A_h x > 0] A_hd. Extras: ``first_layer`` A and ``second_layer`` B.
    """
    random = np.random.RandomState(int(instance_seed))
    first = random.standard_normal((width, features))
    second = random.standard_normal((outputs, width)) / width
    made: dict[str, Any] = {}  # arrays of the data set, by name
    for part, points in (("train", train_points), ("test", test_points)):
        inputs = random.standard_normal((points, features))
        hidden = inputs @ first.T
        targets = np.maximum(hidden, 0) @ second.T
        if jacobian:
            active = (hidden > 0)[:, None, :] * second  # [N, C, H]
            targets = np.concatenate([targets[:, :, None], active @ first], axis=2)
        made |= {f"{part}_inputs": inputs, f"{part}_targets": targets}
    extras = {"first_layer": first, "second_layer": second}
    return Dataset(**made, outputs=outputs, extras=extras)


def size(*, features: int, outputs: int, train_points: int, **_: Any) -> dict[str, Any]:
    """Size of the data, without making them (docs/extending.md)."""
    return {"samples": train_points, "shape": (features,), "outputs": outputs}
