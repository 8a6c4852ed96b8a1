"""The matrix of least nuclear norm with given linear measurements: a convex problem, solved."""

import numpy as np


def solved(
    x: np.ndarray, y: np.ndarray, shape: tuple[int, int], *, tolerance: float, iterations: int
) -> tuple[np.ndarray, float]:
    """The matrix A of least nuclear norm with ``X vec(A) = y``.

    Douglas-Rachford splitting (Lions and Mercier, 1979), as in `_least_norm.nuclear`: ``A`` is the
    nearest matrix to ``Z`` that fits, ``B`` is ``2 A - Z`` with its singular values lowered by
    ``g``, and ``Z`` moves by ``B - A``. ``L = (A - Z) / g`` is ``X^T l`` for some ``l``; scaled
    down to a spectral norm of at most 1 it is a dual point, and ``<L, A> = <l, y>`` a bound of
    ``|A|_*`` from below.

    Args:
        x: X ``[N, R S]``, rows of which are matrices row by row.
        y: ``[N]``.
        shape: R and S.
        tolerance: the relative duality gap at which it stops.
        iterations: the largest number of them.

    Returns:
        A ``[R, S]``, and its relative gap.

    Raises:
        ValueError: the gap is above the tolerance after all iterations.
    """
    inverse = np.linalg.pinv(x)
    least = (inverse @ y).reshape(shape)
    lowered = np.linalg.norm(least, 2) / 10  # g; it changes how fast it is, not what is found
    if lowered == 0:
        return least, 0.0
    along = inverse @ x
    point, gap = least, np.inf
    for iteration in range(iterations):
        solution = point + least - (along @ point.ravel()).reshape(shape)
        left, values, right = np.linalg.svd(2 * solution - point, full_matrices=False)
        if iteration % 20 == 0:
            gap = _gap(solution, (solution - point) / lowered)
            if gap <= tolerance:
                return solution, gap
        point = point + (left * np.maximum(values - lowered, 0)) @ right - solution
    raise ValueError(
        f"no matrix of least nuclear norm within a relative gap of {tolerance:g} in {iterations} "
        f"iterations: it is {gap:.2g}"
    )


def _gap(solution: np.ndarray, dual: np.ndarray) -> float:
    norm = np.linalg.norm(solution, "nuc")
    bound = (dual * solution).sum() / max(1.0, np.linalg.norm(dual, 2))
    return float((norm - bound) / norm)
