"""Plate 3 on fifty runs: which measure on the plateau tells when a run generalises."""

import numpy as np
import pandas as pd
from scipy import stats

from grokatlas.claims import statistics
from grokatlas.claims.statistics import Tables
from grokatlas.papers.plates._progress import MEASURES, OF_TEST_SET

TABLE = "progress_seeds"
WEIGHT = "penalties.0.weight"
CHANCE = 0.05  # of one such correlation, for all measures together


def plateau(tables: Tables, at: int) -> pd.DataFrame:
    """One row for each run: ``weight``, ``seed``, ``t2`` and the measures at an update.

    A measure is one of `_progress.MEASURES` that the runs log; ``t2`` is infinite where a run does
    not generalise before its ``end``, the last logged update.
    """
    table = tables[TABLE]
    times = statistics.record(table, "grokking_times").set_index("seed")["t2"]
    end = statistics.history(table).groupby("seed")["step"].max()
    rows = statistics.history(table, step=at).set_index("seed")
    columns = {
        name: next((column for column in measure.columns if column in rows), None)
        for name, measure in MEASURES.items()
    }
    made = {name: rows[column] for name, column in columns.items() if column}
    times = times.reindex(rows.index).fillna(np.inf)
    known = {"weight": rows[WEIGHT], "t2": times, "end": end.reindex(rows.index)}
    return pd.DataFrame(known | made).reset_index()


def correlations(rows: pd.DataFrame) -> pd.DataFrame:
    """Spearman's correlation of each measure with ``t2``, over all runs and ``within`` a weight.

    Within a weight it is of ranks among the runs of the same weight, less their mean. ``beyond`` is
    whether it exceeds the `level` of chance.
    """
    measures = [name for name in MEASURES if name in rows]
    inner = rows.groupby("weight")[[*measures, "t2"]].rank()
    inner = inner - inner.groupby(rows["weight"]).transform("mean")
    made = []
    for name in ("weight", *measures):
        within = inner[name].corr(inner["t2"]) if name in inner else float("nan")
        over_all = rows[name].rank().corr(rows["t2"].rank())
        made.append({"measure": name, "over_all": over_all, "within": within})
    return pd.DataFrame(made).assign(beyond=lambda all_: all_["within"].abs() > level(rows))


def level(rows: pd.DataFrame) -> float:
    """The size of a correlation within weights that chance exceeds with probability `CHANCE`.

    By Student's distribution of ``r ((n - w - 1) / (1 - r^2))^(1/2)`` for n runs of w weights, with
    Bonferroni's correction for the number of measures.
    """
    free = len(rows) - rows["weight"].nunique() - 1
    if free < 1:
        return 1.0
    t = stats.t.isf(CHANCE / len(MEASURES.keys() & set(rows)) / 2, free)
    return float(t / np.sqrt(free + t**2))


def correlation_with_t2(tables: Tables, measure: str, among: str, at: int) -> list[float]:
    """Spearman's correlation of a measure at an update with t2.

    Args:
        tables: of the figure.
        measure: one of `_progress.MEASURES`, or ``weight``.
        among: runs of the same ``weight``, or ``all``.
        at: the update.
    """
    rows = correlations(plateau(tables, at)).set_index("measure")
    return [float(rows.loc[measure, "within" if among == "weight" else "over_all"])]


def number_that_tell(tables: Tables, at: int) -> list[float]:
    """The number of measures but the test loss that correlate within a weight beyond chance."""
    rows = correlations(plateau(tables, at))
    rows = rows[~rows["measure"].isin(OF_TEST_SET)]
    return [float(rows["beyond"].sum()) if rows["within"].notna().any() else float("nan")]
