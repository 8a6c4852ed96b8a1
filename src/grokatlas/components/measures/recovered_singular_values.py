"""Singular values at the end of a run beside those of the matrix to recover."""

import numpy as np
import pandas as pd

from grokatlas.engine.contracts import FinishedRun, Measure

NEEDS = ["singular_values"]


def build() -> Measure[FinishedRun]:
    """Final and true singular values, place by place (arXiv 2505.20172, figure 2, right).

    The run logs observable ``singular_values``; the task's extra ``singular_values`` is the truth.

    Returns:
        a function of a finished run, giving one row for each member and ``place`` (0 is the
        largest): ``true_value``, the task's, and ``final_value``, of the member's last logged
        step. A `ValueError` if the task has no such truth or the observable was not logged.
    """

    def measure(run: FinishedRun) -> pd.DataFrame:
        truth = run.data.extras.get("singular_values")
        columns = [f"singular_values.{k}" for k in range(0 if truth is None else truth.shape[-1])]
        if truth is None or not columns or not set(columns) <= set(run.history.columns):
            needs = "a task of which they are known and observable singular_values"
            raise ValueError(f"recovered_singular_values needs {needs}")
        last = run.history.sort_values("step").groupby("member").tail(1).sort_values("member")
        rows = []
        for member, final in zip(last["member"], last[columns].to_numpy(), strict=True):
            true = np.asarray(truth[member] if run.data.per_member else truth)
            frame = pd.DataFrame({"place": range(len(true)), "true_value": true})
            rows.append(frame.assign(member=member, final_value=final))
        return pd.concat(rows, ignore_index=True)

    return measure
