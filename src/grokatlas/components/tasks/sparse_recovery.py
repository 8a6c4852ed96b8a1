"""A sparse vector seen through few random measurements (compressed sensing)."""

from typing import Any

import numpy as np

from grokatlas.engine.dataset import Dataset
from grokatlas.engine.keyword_types import Count, Positive, Seed


def build(
    *,
    features: Count,
    nonzeros: Count,
    train_points: Count,
    signal_to_noise: Positive | None,
    instance_seed: Seed,
) -> Dataset:
    """Targets y = X a* + noise, with a* sparse; arXiv 2506.05718, figures 4 to 7.

    Args:
        features: n, entries of a*, which is sparse in the standard basis.
        nonzeros: s, how many of them are not zero.
        train_points: N, number of measurements.
        signal_to_noise: SNR of the measurements; null means no noise.
        instance_seed: of a*, X and noise; 1 with n = 100, s = 5, N = 30 is the published instance.

    As in the authors' code, each of the three is drawn from a NumPy ``RandomState(seed)`` of its
    own: a* has s places chosen without replacement, then s values N(0, 1/n); X is ``[N, n]`` with
    entries N(0, 1/N); the noise has variance E|a*|^2 / (N SNR) with E|a*|^2 = s/n (variances).

    Training inputs are X, targets y ``[N, 1]``. Test inputs are the n unit vectors, targets a*
    ``[n, 1]``: the relative test error of a linear model is |a - a*| / |a*|. Extras: ``truth`` a*
    ``[n]``, and ``least_squares`` ``[n]``, the solution of least norm.

    Raises:
        ValueError: there are more nonzeros than features.
    """
    if nonzeros > features:
        raise ValueError(f"nonzeros {nonzeros} is not allowed: must be at most {features} features")
    seed = int(instance_seed)
    random = np.random.RandomState(seed)
    truth = np.zeros(features)
    places = random.choice(features, nonzeros, replace=False)
    truth[places] = random.standard_normal(nonzeros) / features**0.5
    shape = (train_points, features)
    measurements = np.random.RandomState(seed).standard_normal(shape) / train_points**0.5
    observed = measurements @ truth
    if signal_to_noise is not None:
        variance = nonzeros / features / (train_points * signal_to_noise)
        noise = np.random.RandomState(seed).standard_normal(train_points)
        observed = observed + variance**0.5 * noise
    return Dataset(
        train_inputs=measurements,
        train_targets=observed[:, None],
        test_inputs=np.eye(features),
        test_targets=truth[:, None],
        outputs=1,
        extras={"truth": truth, "least_squares": np.linalg.pinv(measurements) @ observed},
    )


def size(*, features: int, train_points: int, **_: Any) -> dict[str, Any]:
    """Size of the data, without making them (docs/extending.md)."""
    return {"samples": train_points, "shape": (features,), "outputs": 1}
