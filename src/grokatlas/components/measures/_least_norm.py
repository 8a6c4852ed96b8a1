"""Interpolators of least nuclear norm and of least l1 norm: two convex problems, solved."""

import numpy as np
import scipy.optimize


def nuclear(
    observed: np.ndarray, entries: np.ndarray, *, tolerance: float, iterations: int
) -> tuple[np.ndarray, float]:
    """The matrix X of least nuclear norm that has the observed entries of A.

    Douglas-Rachford splitting (Lions and Mercier, 1979) of ``|X|_*`` and the set of matrices with
    these entries: ``X`` is ``Z`` with them put in, ``Y`` is ``2 X - Z`` with its singular values
    lowered by ``g``, and ``Z`` moves by ``Y - X``. ``L = (X - Z) / g`` is zero elsewhere; where its
    largest singular value is at most 1 it is a dual point, and ``<L, A>`` a bound of ``|X|_*`` from
    below. So with ``L`` scaled down to that, the relative gap of the two is a certificate.

    Args:
        observed: True at the observed entries ``[R, S]``.
        entries: A ``[R, S]``; what is not observed is not looked at.
        tolerance: the relative duality gap at which it stops.
        iterations: the largest number of them.

    Returns:
        X ``[R, S]``, and its relative gap.

    Raises:
        ValueError: the gap is above the tolerance after all iterations.
    """
    known = np.where(observed, entries, 0.0)
    lowered = np.linalg.norm(known, 2) / 10  # g; it changes how fast it is, not what is found
    if lowered == 0:
        return known, 0.0
    point, gap = known, np.inf
    for iteration in range(iterations):
        solution = np.where(observed, known, point)
        left, values, right = np.linalg.svd(2 * solution - point, full_matrices=False)
        if iteration % 20 == 0:
            gap = _gap(solution, (solution - point) / lowered, known)
            if gap <= tolerance:
                return solution, gap
        point = point + (left * np.maximum(values - lowered, 0)) @ right - solution
    raise ValueError(
        f"no matrix of least nuclear norm within a relative gap of {tolerance:g} in {iterations} "
        f"iterations: it is {gap:.2g}"
    )


def _gap(solution: np.ndarray, dual: np.ndarray, known: np.ndarray) -> float:
    norm = np.linalg.norm(solution, "nuc")
    bound = (dual * known).sum() / max(1.0, np.linalg.norm(dual, 2))
    return float((norm - bound) / norm)


def l1(features: np.ndarray, targets: np.ndarray) -> tuple[np.ndarray, float]:
    """The vector b of least l1 norm with ``X b = y``, as a linear program (HiGHS, of SciPy).

    With ``b = p - q`` and ``p, q >= 0``, the sum of all entries of both is least.

    Args:
        features: X ``[N, D]``.
        targets: y ``[N]``.

    Returns:
        b ``[D]``, and the relative gap to ``<l, y>``, with the program's dual point l scaled down
        to ``|X^T l| <= 1``, which is a bound from below.

    Raises:
        ValueError: no vector fits, or the solver gave up.
    """
    both = np.hstack([features, -features])
    solved = scipy.optimize.linprog(np.ones(both.shape[1]), A_eq=both, b_eq=targets)
    if not solved.success:
        raise ValueError(f"no vector of least l1 norm: {solved.message}")
    half = features.shape[1]
    solution = solved.x[:half] - solved.x[half:]
    dual = np.asarray(solved.eqlin.marginals)
    bound = dual @ targets / max(1.0, np.abs(features.T @ dual).max())
    norm = np.abs(solution).sum()
    return solution, float((norm - bound) / norm) if norm else 0.0
