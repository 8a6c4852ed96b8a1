"""Linear regression with fewer samples than features: many solutions, one of least norm."""

from typing import Any

import numpy as np

from grokatlas.engine.dataset import Dataset
from grokatlas.engine.keyword_types import Count, NonNegative, Seed


def build(
    *,
    features: Count,
    train_points: Count,
    test_points: Count,
    noise: NonNegative,
    data_seed: Seed,
) -> Dataset:
    """Targets y = X w* + noise, X Gaussian; arXiv 2505.20172, appendix C.

    Args:
        features: D.
        train_points: N < D, so that X has a null space of dimension D - N.
        test_points: number of test samples, without noise.
        noise: standard deviation of the noise on training targets.
        data_seed: of a NumPy ``RandomState`` that draws w*, X, noise and test inputs.

    Entries of X are N(0, 1), of w* N(0, 1/D) (variances). Inputs ``[N, D]``, targets ``[N, 1]``.
    Under gradient flow of |X w - y|^2 / 2 + lambda |w|^2 / 2 the error decays at the rates
    sigma_i^2 + lambda on the row space of X and lambda on its null space. Extras: ``truth`` w*
    ``[D]``, ``least_norm`` X^+ y ``[D]`` and ``singular_values`` sigma ``[N]``, largest first.

    Raises:
        ValueError: there are not fewer training samples than features.
    """
    if train_points >= features:
        allowed = f"must be less than {features} features"
        raise ValueError(f"train_points {train_points} is not allowed: {allowed}")
    random = np.random.RandomState(int(data_seed))
    truth = random.standard_normal(features) / features**0.5
    inputs = random.standard_normal((train_points, features))
    targets = inputs @ truth + noise * random.standard_normal(train_points)
    test_inputs = random.standard_normal((test_points, features))
    return Dataset(
        train_inputs=inputs,
        train_targets=targets[:, None],
        test_inputs=test_inputs,
        test_targets=(test_inputs @ truth)[:, None],
        outputs=1,
        extras={
            "truth": truth,
            "least_norm": np.linalg.pinv(inputs) @ targets,
            "singular_values": np.linalg.svd(inputs, compute_uv=False),
        },
    )


def size(*, features: int, train_points: int, **_: Any) -> dict[str, Any]:
    """Size of the data, without making them (docs/extending.md)."""
    return {"samples": train_points, "shape": (features,), "outputs": 1}
