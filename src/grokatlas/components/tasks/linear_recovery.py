"""A structured matrix seen through random linear measurements: compressed and matrix sensing."""

from typing import Any, Literal

import numpy as np

from grokatlas.engine.dataset import Dataset
from grokatlas.engine.keyword_types import Count, Counts, Seed


def build(
    *,
    rows: Count,
    columns: Count,
    truth: Literal["sparse", "low_rank", "gaussian", "block_constant"],
    nonzeros: Count,
    rank: Count,
    blocks: Count,
    train_points: Counts,
    instance_seed: Seed,
) -> Dataset:
    """Targets y_i = <X_i, A*> without noise, with A* a matrix of one of four kinds.

    Args:
        rows: R of A*.
        columns: S of A*; it has n = R S entries.
        truth: kind of A*: ``sparse`` has `nonzeros` entries N(0, 1) and zeros elsewhere;
            ``low_rank`` is U V^T with `rank` columns N(0, 1) each; ``gaussian`` has entries
            N(0, 1); ``block_constant`` has `blocks` x `blocks` rectangles of one N(0, 1) value
            each. All are then scaled to Frobenius norm 1.
        nonzeros: s, of a sparse truth.
        rank: r, of a truth of low rank.
        blocks: rectangles along each side of a block constant truth.
        train_points: numbers of measurements, N_0 to N_(K-1). Seed ``s`` has the truth of instance
            ``s // K`` and the first ``N_k`` of its measurements, ``k = s % K``: so members of one
            run differ in N.
        instance_seed: s.

    A NumPy ``RandomState(instance)`` draws the measurements, the same for every kind, then A*.
    Entries of X_i are N(0, 1/n) (variance), so that eigenvalues of X^T X stay below about
    ``(1 + (N/n)^(1/2))^2``, at most 4, for every N.

    Training inputs are X ``[max N, n]``, each X_i row by row, targets ``[max N, 1]``; measurements
    from the N-th on are zeros, and so are their targets: neither a sum over samples nor a norm sees
    them. Test inputs are the n unit vectors, targets A* ``[n, 1]``: the relative test error of a
    linear model is |A - A*| / |A*|. Extras: ``truth`` A* ``[R, S]``, ``samples`` N ``[1]`` and
    ``instance`` ``[1]``.

    Raises:
        ValueError: there are more nonzeros, ranks or blocks than fit into the matrix.
    """
    most = {"nonzeros": rows * columns, "rank": min(rows, columns), "blocks": min(rows, columns)}
    given = {"nonzeros": nonzeros, "rank": rank, "blocks": blocks}
    for name, value in given.items():
        if value > most[name]:
            raise ValueError(f"{name} {value} is not allowed: must be at most {most[name]}")
    instance, place = divmod(int(instance_seed), len(train_points))
    samples, features = train_points[place], rows * columns
    random = np.random.RandomState(instance)
    measurements = random.standard_normal((max(train_points), features)) / features**0.5
    measurements[samples:] = 0
    matrix = _truth(random, truth, (rows, columns), given)
    return Dataset(
        train_inputs=measurements,
        train_targets=measurements @ matrix.reshape(-1, 1),
        test_inputs=np.eye(features),
        test_targets=matrix.reshape(-1, 1),
        outputs=1,
        extras={
            "truth": matrix,
            "samples": np.array([samples]),
            "instance": np.array([instance]),
        },
    )


def _truth(
    random: np.random.RandomState, kind: str, shape: tuple[int, int], given: dict[str, int]
) -> np.ndarray:
    """A* ``[R, S]`` of norm 1."""
    if kind == "sparse":
        matrix = np.zeros(shape)
        places = random.choice(matrix.size, given["nonzeros"], replace=False)
        matrix.flat[places] = random.standard_normal(given["nonzeros"])
    elif kind == "low_rank":
        left, right = (random.standard_normal((size, given["rank"])) for size in shape)
        matrix = left @ right.T
    elif kind == "block_constant":
        values = random.standard_normal((given["blocks"], given["blocks"]))
        down, across = (np.arange(size) * given["blocks"] // size for size in shape)
        matrix = values[np.ix_(down, across)]
    else:
        matrix = random.standard_normal(shape)
    return matrix / np.linalg.norm(matrix)


def size(*, rows: int, columns: int, train_points: list[int], **_: Any) -> dict[str, Any]:
    """Size of the data, without making them (docs/extending.md)."""
    return {"samples": max(train_points), "shape": (rows * columns,), "outputs": 1}
