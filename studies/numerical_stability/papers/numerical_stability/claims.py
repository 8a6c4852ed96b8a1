"""Numbers of the claims, one for each seed."""

from collections.abc import Mapping

import pandas as pd

from grokatlas.claims import statistics

Tables = Mapping[str, pd.DataFrame]
HALF = 0.5  # of the points, collapsed: what counts as the onset


def collapse_before(tables: Tables, case: str, other: str) -> list[float]:
    """The update at which half of the points have collapsed, over that of another case.

    Where neither ever has, there is no number.
    """
    rows = [statistics.history(tables["collapse"], case=name) for name in (case, other)]
    first, second = (statistics.first(each, "collapsed_points", HALF) for each in rows)
    return [one / two for one, two in zip(first, second, strict=True)]


def best_accuracy(tables: Tables, experiment: str, case: str) -> list[float]:
    """The largest test accuracy."""
    rows = statistics.history(tables[experiment], case=case)
    return list(rows.groupby("seed")["test_accuracy"].max())


def last_collapsed(tables: Tables, experiment: str, case: str) -> list[float]:
    """The share of collapsed points at the end."""
    return statistics.last(statistics.history(tables[experiment], case=case), "collapsed_points")


def _reached(tables: Tables, case: str, decay: float, level: float) -> list[float]:
    wanted = {"case": case, "optimizer__weight_decay": decay}
    rows = statistics.history(tables["decay"], **wanted)
    return statistics.first(rows, "test_accuracy", level)


def reached(tables: Tables, decay: float, level: float) -> list[float]:
    """The first update with a test accuracy of `level` under AdamW with a weight decay."""
    return _reached(tables, "decay", decay, level)


def slower(
    tables: Tables, decay: float, level: float, orthogonal: str = "orthogonal"
) -> list[float]:
    """The update at which AdamW reaches a test accuracy, over that of orthogonal gradients."""
    first = _reached(tables, "decay", decay, level)
    second = _reached(tables, orthogonal, 0.0, level)
    return [one / two for one, two in zip(first, second, strict=True)]
