"""The steps at which a logged quantity reaches levels."""

import pandas as pd

from grokatlas.engine.contracts import LightRun, Measure
from grokatlas.engine.keyword_types import Column, Vector

LIGHT = True  # computed from the history alone


def build(*, column: Column, levels: Vector) -> Measure[LightRun]:
    """The first logged steps at which a column of the history is at least a level.

    Args:
        column: of the history, such as ``test_accuracy``.
        levels: what it is compared with.

    Returns:
        a function of a finished run, giving one row for each member and ``level``: the ``step``,
        missing where the level was never reached.

    Raises:
        ValueError: when measured: the history has no such column.
    """

    def measure(run: LightRun) -> pd.DataFrame:
        history = run.history
        if column not in history:
            known = ", ".join(name for name in history if name not in ("member", "step"))
            raise ValueError(f"reached_steps.column {column!r} is not logged; logged: {known}")
        rows = []
        for member, part in history.sort_values("step").groupby("member"):
            for level in levels:
                steps = part.loc[part[column] >= level, "step"]
                step = float(steps.iloc[0]) if len(steps) else float("nan")
                rows.append({"member": member, "level": level, "step": step})
        return pd.DataFrame(rows)

    return measure
