"""A matrix of low rank, of which some entries are observed."""

from typing import Any, Literal

import numpy as np

from grokatlas.engine.dataset import Dataset
from grokatlas.engine.keyword_types import Count, Seed, Unit


def build(
    *,
    rows: Count,
    columns: Count,
    rank: Count,
    truth: Literal["gaussian_factors", "normalised"],
    train_points: Count,
    leverage_share: Unit,
    test_entries: Literal["unobserved", "all"],
    instance_seed: Seed,
) -> Dataset:
    """Entries (i, j) of a matrix A* of rank r, some of them for training.

    Args:
        rows: of A*.
        columns: of A*.
        rank: r.
        truth: ``gaussian_factors`` is U V^T with entries N(0, 1) (arXiv 2505.20172, figure 2);
            ``normalised`` is U V^T / sqrt(r) scaled to Frobenius norm 10 (arXiv 2506.05718).
        train_points: N, number of observed entries.
        leverage_share: tau; the int(tau N) entries of highest leverage score mu_i + nu_j are
            observed, the other ones drawn uniformly from the rest, without replacement.
        test_entries: ``unobserved`` entries only, or ``all``.
        instance_seed: of a NumPy ``RandomState`` that draws U ``[rows, r]``, V ``[columns, r]``,
            then a permutation of the entries that no leverage score decides.

    With the compact decomposition A* = P S Q^T, mu_i = (rows / r) |P_i|^2 and
    nu_j = (columns / r) |Q_j|^2. Inputs are pairs (i, j) ``[N, 2]``, targets ``[N, 1]``; test
    entries in row order. Extras: ``truth`` A* ``[rows, columns]`` and its ``singular_values``
    ``[min(rows, columns)]``, largest first.

    Raises:
        ValueError: the rank or the number of observed entries does not fit the matrix.
    """
    if rank > min(rows, columns):
        raise ValueError(f"rank {rank} is not allowed: must be at most {min(rows, columns)}")
    entries = rows * columns
    most = entries if test_entries == "all" else entries - 1
    if train_points > most:
        raise ValueError(f"train_points {train_points} is not allowed: must be at most {most}")
    random = np.random.RandomState(int(instance_seed))
    left, right = (random.standard_normal((size, rank)) for size in (rows, columns))
    matrix = left @ right.T
    if truth == "normalised":
        matrix *= 10 / np.linalg.norm(matrix)
    ordered = np.argsort(-_leverage_scores(matrix, rank).ravel(), kind="stable")
    certain = ordered[: int(leverage_share * train_points)]
    others = random.permutation(np.setdiff1d(np.arange(entries), certain))
    train = np.concatenate([certain, others[: train_points - len(certain)]])
    test = np.arange(entries)
    if test_entries == "unobserved":
        test = np.setdiff1d(test, train)
    return Dataset(
        **_samples(matrix, train, "train"),
        **_samples(matrix, test, "test"),
        outputs=1,
        vocabulary=max(rows, columns),
        extras={"truth": matrix, "singular_values": np.linalg.svd(matrix, compute_uv=False)},
    )


def _leverage_scores(matrix: np.ndarray, rank: int) -> np.ndarray:
    """mu_i + nu_j ``[rows, columns]``."""
    left, _, right = np.linalg.svd(matrix, full_matrices=False)
    mu = matrix.shape[0] / rank * (left[:, :rank] ** 2).sum(axis=1)
    nu = matrix.shape[1] / rank * (right[:rank] ** 2).sum(axis=0)
    return mu[:, None] + nu[None, :]


def _samples(matrix: np.ndarray, places: np.ndarray, part: str) -> dict[str, Any]:
    """Inputs and targets of entries given by their places in row order."""
    pairs = np.stack(np.unravel_index(places, matrix.shape), axis=1)
    return {f"{part}_inputs": pairs, f"{part}_targets": matrix.ravel()[places][:, None]}


def size(*, rows: int, columns: int, train_points: int, **_: Any) -> dict[str, Any]:
    """Size of the data, without making them (docs/extending.md)."""
    data = {"samples": train_points, "shape": (2,), "outputs": 1}
    return data | {"vocabulary": max(rows, columns), "matrix": (rows, columns)}
