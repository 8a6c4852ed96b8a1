"""Memorisation and generalisation times."""

import pandas as pd

from grokatlas.engine.contracts import LightRun, Measure
from grokatlas.engine.keyword_types import Unit

LIGHT = True  # computed from the history alone
NEEDS = ["accuracies"]


def build(*, train_accuracy: Unit, test_accuracy: Unit) -> Measure[LightRun]:
    """The first logged steps at which accuracies reach a level.

    Args:
        train_accuracy: the level that defines t1.
        test_accuracy: the level that defines t2.

    Returns:
        a function of a finished run, giving one row for each member: ``t1`` and ``t2`` in steps,
        missing where the level was never reached, and the ``test_accuracy`` at the end.
    """

    def measure(run: LightRun) -> pd.DataFrame:
        history = run.history
        rows = []
        for member, part in history.groupby("member"):
            part = part.sort_values("step")
            rows.append(
                {
                    "member": member,
                    "t1": _first(part, "train_accuracy", train_accuracy),
                    "t2": _first(part, "test_accuracy", test_accuracy),
                    "test_accuracy": part["test_accuracy"].iloc[-1],
                }
            )
        return pd.DataFrame(rows).astype({"t1": "float64", "t2": "float64"})

    return measure


def _first(history: pd.DataFrame, column: str, level: float) -> float:
    reached = history.loc[history[column] >= level, "step"]
    return float(reached.iloc[0]) if len(reached) else float("nan")
