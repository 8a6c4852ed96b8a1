"""Recovery from linear measurements in theory: the interpolator of least norm."""

from typing import Literal

import numpy as np
import pandas as pd

from grokatlas.components.measures import _least_norm, _least_nuclear
from grokatlas.engine.contracts import FinishedRun, Measure, TaskData
from grokatlas.engine.keyword_types import Count, Positive

NEEDS = ["snapshots"]

# the norm whose unit ball holds the subgradients of each norm
DUAL = {"l1": np.inf, "l2": None, "nuclear": 2}


def build(
    *, norm: Literal["l1", "l2", "nuclear"], tolerance: Positive, iterations: Count
) -> Measure[FinishedRun]:
    """The convex problem behind a run of task ``linear_recovery``, solved, and its scale of time.

    A regulariser of a small weight ends at the matrix of least norm among those that fit all data.
    Before that the data's gradient takes the start ``A_0`` to the nearest fit ``A^ = A_0 +
    X^+ (y - X A_0)``; a subgradient of the norm has a dual norm of at most 1, so ``|A^ - A*|`` in
    the dual norm is about the time of the rest times step size and weight (arXiv 2506.05718,
    theorems of sparse and low-rank recovery).

    Args:
        norm: whose minimiser it is: ``l1``, ``l2`` (Frobenius) or ``nuclear``.
        tolerance: the relative duality gap of the nuclear norm at which its solver stops.
        iterations: the largest number of its iterations.

    Returns:
        a function of a finished run with its first snapshot, giving one row for each member:
        ``samples`` N, ``instance``, ``minimiser_error``, ``|A - A*| / |A*|`` of the minimiser A
        with Frobenius norms, and ``distance``, ``|A^ - A*|`` in the dual norm (the largest entry,
        the Frobenius norm, the largest singular value). A `ValueError` for another task, without
        the first snapshot, or if the solver does not come to the tolerance.
    """

    def measure(run: FinishedRun) -> pd.DataFrame:
        if "samples" not in run.data.extras:
            raise ValueError("convex_recovery needs the task linear_recovery")
        if 0 not in run.snapshots:
            raise ValueError("convex_recovery needs train.snapshots: [initial]")
        (starts,) = run.snapshots[0].values()
        rows: list[dict[str, float]] = []
        errors: dict[tuple[int, int], float] = {}  # members of one seed have one problem
        for member, start in enumerate(starts):
            x, y, truth, key = _problem(run.data, member)
            if key not in errors:
                least = _least(norm, x, y, truth.shape, tolerance, iterations)
                errors[key] = float(np.linalg.norm(least - truth) / np.linalg.norm(truth))
            fit = start[0] + np.linalg.pinv(x) @ (y - x @ start[0])
            away = fit - truth.ravel()
            if norm == "nuclear":
                away = away.reshape(truth.shape)
            row = {"member": member, "samples": key[0], "instance": key[1]}
            finite = bool(np.isfinite(away).all())  # not of a member that diverged
            distance = float(np.linalg.norm(away, DUAL[norm])) if finite else float("nan")
            rows.append(row | {"minimiser_error": errors[key], "distance": distance})
        return pd.DataFrame(rows)

    return measure


def _problem(
    data: TaskData, member: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray, tuple[int, int]]:
    """X ``[N, D]``, y ``[N]``, A* ``[R, S]``, and N and the instance, of one member."""
    extras = data.extras["truth"], data.extras["samples"], data.extras["instance"]
    x, y, truth, samples, instance = (
        array[member] if data.per_member else array
        for array in (data.train_inputs, data.train_targets, *extras)
    )
    key = int(samples[0]), int(instance[0])
    return x[: key[0]].astype(float), y[: key[0], 0].astype(float), truth, key


def _least(
    norm: str,
    x: np.ndarray,
    y: np.ndarray,
    shape: tuple[int, ...],
    tolerance: float,
    iterations: int,
) -> np.ndarray:
    """The matrix ``[R, S]`` of least norm with ``X vec(A) = y``."""
    if norm == "nuclear":
        size = shape[0], shape[1]
        return _least_nuclear.solved(x, y, size, tolerance=tolerance, iterations=iterations)[0]
    solution = _least_norm.l1(x, y)[0] if norm == "l1" else np.linalg.pinv(x) @ y
    return solution.reshape(shape)
