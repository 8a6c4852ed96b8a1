"""Points of a function of one variable that a few ReLU neurons make."""

from typing import Any

import numpy as np

from grokatlas.engine.dataset import Dataset
from grokatlas.engine.keyword_types import Count, Vector


def build(
    *,
    slopes: Vector,
    offsets: Vector,
    weights: Vector,
    points: Vector,
    low: float,
    high: float,
    test_points: Count,
) -> Dataset:
    """f*(x) = sum_j weights_j relu(slopes_j x + offsets_j); arXiv 2505.20172, figure 3.

    Args:
        slopes: of each neuron of the teacher; published: [-1, 1, 1].
        offsets: of each; published: [1, 0.25, -1].
        weights: of each in the sum; published: [2, 4, -8].
        points: the training inputs.
        low: left end of the test grid, -2 in the paper.
        high: right end of the test grid, 2 in the paper.
        test_points: number of test inputs, evenly spaced with both ends.

    Inputs ``[N, 1]``, targets f*(x) ``[N, 1]``. The published training inputs are 0.0884, -1.18101,
    0.23742, 0.38184, 1.68048, 0.96858, -0.79231, -1.52746, 1.41274 and 1.38428.

    Raises:
        ValueError: the teacher's lists differ in length, or the grid is empty.
    """
    if not len(slopes) == len(offsets) == len(weights):
        lengths = f"{len(slopes)}, {len(offsets)} and {len(weights)}"
        raise ValueError(f"slopes, offsets and weights have {lengths} entries; give equally many")
    if low >= high:
        raise ValueError(f"low {low:g} is not allowed: must be below high, {high:g}")

    def teacher(inputs: np.ndarray) -> np.ndarray:
        hidden = np.maximum(inputs * np.array(slopes) + np.array(offsets), 0)
        return hidden @ np.array(weights)[:, None]

    train = np.array(points, dtype=float)[:, None]
    test = np.linspace(low, high, test_points)[:, None]
    return Dataset(
        train_inputs=train,
        train_targets=teacher(train),
        test_inputs=test,
        test_targets=teacher(test),
        outputs=1,
    )


def size(*, points: list[float], **_: Any) -> dict[str, Any]:
    """Size of the data, without making them (docs/extending.md)."""
    return {"samples": len(points), "shape": (1,), "outputs": 1}
