"""One training sample, and test samples of the least-norm linear function through it."""

from typing import Any

import numpy as np

from grokatlas.engine.dataset import Dataset
from grokatlas.engine.keyword_types import Count, Vector, Whole


def build(*, point: Vector, target: float, test_points: Count, test_seed: Whole) -> Dataset:
    """The toys of `geometry`, section on linear models.

    Args:
        point: the training input x_1 ``[D]``.
        target: its target y_1.
        test_points: number of test inputs, drawn from N(0, 1) in each coordinate.
        test_seed: of the test inputs.

    Test targets are <x, w> with w = y_1 x_1 / |x_1|^2, the least-norm solution: for the paper's
    (1, 1) -> 2 that is x_1 + x_2.
    """
    inputs = np.array([point])
    solution = target * inputs[0] / (inputs[0] @ inputs[0])
    test_inputs = np.random.RandomState(test_seed).standard_normal((test_points, len(point)))
    return Dataset(
        train_inputs=inputs,
        train_targets=np.array([[target]]),
        test_inputs=test_inputs,
        test_targets=(test_inputs @ solution)[:, None],
        outputs=1,
    )


def size(*, point: list[float], **_: Any) -> dict[str, Any]:
    """Size of the data, without making them (docs/extending.md)."""
    return {"samples": 1, "shape": (len(point),), "outputs": 1}
