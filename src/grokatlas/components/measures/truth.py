"""The truth that a run should recover, and the distance of a fit without regulariser."""

import numpy as np
import pandas as pd

from grokatlas.engine.contracts import FinishedRun, Measure, TaskData


def build() -> Measure[FinishedRun]:
    """The truth of sparse recovery or matrix completion, and the least squares solution beside it.

    Returns:
        a function of a finished run, giving one row for each member. For a vector a* ``[n]``:
        ``truth.<k>``, ``truth_l1_norm`` and ``least_squares_distance``, ``max_k |a^ - a*|_k`` with
        a^ the solution of least norm. For a matrix A*: ``truth_singular_values.<k>`` (largest
        first), ``truth_nuclear_norm`` and ``least_squares_distance``, the largest singular value
        of ``A^ - A*`` with A^ the observed entries and zeros. A `ValueError` if the task knows no
        truth.

    Source: the reference lines of arXiv 2506.05718, figures 5 and 6: t2 is about
    ``least_squares_distance / (alpha beta)``.
    """

    def measure(run: FinishedRun) -> pd.DataFrame:
        if "truth" not in run.data.extras:
            raise ValueError("truth needs a task that knows what is to be recovered")
        members = sorted(run.history["member"].unique())
        return pd.DataFrame([{"member": member} | _row(run.data, member) for member in members])

    return measure


def _row(data: TaskData, member: int) -> dict[str, float]:
    def own(array: np.ndarray) -> np.ndarray:
        return array[member] if data.per_member else array

    truth = own(data.extras["truth"])
    if truth.ndim == 1:
        distance = np.abs(own(data.extras["least_squares"]) - truth).max()
        entries = {f"truth.{k}": value for k, value in enumerate(truth)}
        norm = {"truth_l1_norm": np.abs(truth).sum()}
        return entries | norm | {"least_squares_distance": distance}
    rows, columns = own(data.train_inputs).T
    fit = np.zeros_like(truth)
    fit[rows, columns] = own(data.train_targets)[:, 0]
    values = np.linalg.svd(truth, compute_uv=False)
    entries = {f"truth_singular_values.{k}": value for k, value in enumerate(values)}
    distance = np.linalg.norm(fit - truth, 2)
    return entries | {"truth_nuclear_norm": values.sum(), "least_squares_distance": distance}
