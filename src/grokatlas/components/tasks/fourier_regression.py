"""A sparse Fourier series, from few points of the circle."""

from typing import Any

import numpy as np

from grokatlas.engine.dataset import Dataset
from grokatlas.engine.keyword_types import Count, Counts, Seed, Vector


def build(
    *,
    frequencies: Count,
    cosine_frequencies: Counts,
    cosine_coefficients: Vector,
    sine_frequencies: Counts,
    sine_coefficients: Vector,
    train_points: Count,
    test_points: Count,
    data_seed: Seed,
) -> Dataset:
    """f*(x) = <phi(x), b*>, linear in Fourier features; arXiv 2505.20172, appendix D.2.

    Args:
        frequencies: K; phi = (1, sqrt2 cos x, ..., sqrt2 cos Kx, sqrt2 sin x, ..., sqrt2 sin Kx).
        cosine_frequencies: of the cosine features that b* uses.
        cosine_coefficients: the entries of b* there.
        sine_frequencies: of the sine features that b* uses.
        sine_coefficients: the entries of b* there.
        train_points: number of training points x, drawn from U[-pi, pi].
        test_points: number of test points, evenly spaced on the circle from x = -pi.
        data_seed: of the training points.

    Inputs are phi(x) ``[N, 2K + 1]``, targets ``[N, 1]``. With more than 2K test points the
    features are orthonormal on the grid: the mean squared test error of a linear model b is
    |b - b*|^2. Extras: ``truth`` b* ``[2K + 1]``, and x itself, ``train_positions`` and
    ``test_positions`` ``[N]``.

    Raises:
        ValueError: a frequency is above K or is listed twice, or its coefficient is missing.
    """
    truth = np.zeros(2 * frequencies + 1)
    for name, chosen, values, start in (
        ("cosine", cosine_frequencies, cosine_coefficients, 0),
        ("sine", sine_frequencies, sine_coefficients, frequencies),
    ):
        if max(chosen) > frequencies or len({*chosen}) < len(chosen):
            allowed = f"different ones of 1 to {frequencies}"
            raise ValueError(f"{name}_frequencies {chosen} are not allowed: give {allowed}")
        if len(chosen) != len(values):
            counts = f"{len(values)} entries, {name}_frequencies {len(chosen)}"
            raise ValueError(f"{name}_coefficients has {counts}; give equally many")
        truth[[start + k for k in chosen]] = values
    random = np.random.RandomState(int(data_seed))
    positions = {
        "train": random.uniform(-np.pi, np.pi, train_points),
        "test": np.linspace(-np.pi, np.pi, test_points, endpoint=False),
    }
    made: dict[str, Any] = {}  # arrays of the data set, by name
    for part, points in positions.items():
        inputs = _features(points, frequencies)
        made |= {f"{part}_inputs": inputs, f"{part}_targets": (inputs @ truth)[:, None]}
    extras = {f"{part}_positions": points for part, points in positions.items()}
    return Dataset(**made, outputs=1, extras={"truth": truth} | extras)


def _features(points: np.ndarray, frequencies: int) -> np.ndarray:
    """The features phi of points ``[N]``, as ``[N, 2K + 1]``."""
    angles = points[:, None] * np.arange(1, frequencies + 1)
    waves = 2**0.5 * np.concatenate([np.cos(angles), np.sin(angles)], axis=1)
    return np.concatenate([np.ones((len(points), 1)), waves], axis=1)


def size(*, frequencies: int, train_points: int, **_: Any) -> dict[str, Any]:
    """Size of the data, without making them (docs/extending.md)."""
    return {"samples": train_points, "shape": (2 * frequencies + 1,), "outputs": 1}
