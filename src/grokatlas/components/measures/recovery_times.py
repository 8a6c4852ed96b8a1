"""Times at which relative errors fall."""

from typing import Any

import numpy as np
import pandas as pd

from grokatlas.engine.contracts import LightRun, Measure
from grokatlas.engine.keyword_types import Count, Positive

LIGHT = True  # computed from the history alone
NEEDS = ["relative_errors"]


def build(
    *, train_error: Positive, test_error: Positive, band: Positive, last: Count, run_length: Count
) -> Measure[LightRun]:
    """Memorisation and recovery times by the errors of observable ``relative_errors``.

    Args:
        train_error: t1 is the first logged step with a train error below it.
        test_error: t2 is the first logged step with a test error below it.
        band: the relative distance from its final value in which an error counts as settled.
        last: the final value is the mean of so many last logged values.
        run_length: an error is settled from the first of so many logged steps in a row in the
            band.

    Returns:
        a function of a finished run, giving one row for each member: ``t1``, ``t2``, and
        ``t1_settled``, ``t2_settled`` (of train and test error) in steps, missing where never
        reached; ``final_train_error`` and ``final_test_error``.

    Source: arXiv 2506.05718 and its authors' notebooks: levels 1e-3 (sparse recovery) and 1e-4
    (matrices) in figure 5; band 0.05, 3 last values and 2 in a row in figure 6.
    """

    def measure(run: LightRun) -> pd.DataFrame:
        rows = []
        for member, part in run.history.groupby("member"):
            part = part.sort_values("step")
            row: dict[str, Any] = {"member": member}
            pairs = (("t1", "train_error", train_error), ("t2", "test_error", test_error))
            for name, column, level in pairs:
                steps, errors = part["step"].to_numpy(), part[column].to_numpy()
                final = errors[-last:].mean()
                near = np.abs(errors - final) <= band * final
                row[name] = _first(steps, errors < level, 1)
                row[f"{name}_settled"] = _first(steps, near, run_length)
                row[f"final_{column}"] = final
            rows.append(row)
        return pd.DataFrame(rows)

    return measure


def _first(steps: np.ndarray, true: np.ndarray, length: int) -> float:
    """The first step from which `length` logged ones in a row are true, or NaN."""
    if len(true) < length:
        return float("nan")
    runs = np.lib.stride_tricks.sliding_window_view(true, length).all(axis=1)
    return float(steps[runs.argmax()]) if runs.any() else float("nan")
