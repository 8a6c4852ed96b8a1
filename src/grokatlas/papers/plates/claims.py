"""Numbers of the plates' predictions, each from the tables of one figure, one for each seed."""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from grokatlas.claims import readings
from grokatlas.papers.plates import _recovery
from grokatlas.papers.plates._accelerators import largest_share_led, lead, time_over_baseline
from grokatlas.papers.plates._precision import (
    accuracy_beside,
    factor_beside,
    last_accuracy,
    most_collapsed,
    time_beside,
)
from grokatlas.papers.plates._progress import share_beyond_clock, time_of_move
from grokatlas.papers.plates._slow_time import exponent_of_slow_time, spread_of_slow_times
from grokatlas.papers.plates._theories import error_beside, predicted_over_measured

__all__ = [
    "accuracy_beside",
    "agreement",
    "difference_of_exponents",
    "error_beside",
    "exponent_of_distance",
    "exponent_of_slow_time",
    "exponent_of_weight",
    "factor_beside",
    "largest_share_led",
    "last_accuracy",
    "lead",
    "most_collapsed",
    "order_of_peaks",
    "predicted_over_measured",
    "ratio_of_steps",
    "ratio_of_times",
    "share_beyond_clock",
    "share_of_mirages",
    "share_off_diagonal",
    "share_recovered",
    "spread_of_slow_times",
    "time_beside",
    "time_of_move",
    "time_over_baseline",
    "time_over_distance",
]

Tables = Mapping[str, pd.DataFrame]

BETA2, WEIGHT = "optimizer.beta2", "penalties.0.weight"


def ratio_of_times(tables: Tables, case: str, time: str, slow: float, fast: float) -> list[float]:
    """A time (``t1`` or ``t2``) at one beta2 over that at another, for each seed.

    Infinite where the slow one never comes; not a number where the fast one does not.
    """
    table = tables["adam_memory"]
    late, early = (
        readings.record(table, "grokking_times", case=case, optimizer__beta2=beta2)
        .set_index("seed")[time]
        .fillna(np.inf)
        for beta2 in (slow, fast)
    )
    both = pd.concat([late, early.replace(np.inf, np.nan)], axis=1)
    return [float(above / below) for above, below in both.to_numpy()]


def order_of_peaks(tables: Tables, case: str) -> list[float]:
    """Spearman's correlation of beta2 and the step of the largest l2 norm, for each seed."""
    rows = readings.history(tables["adam_memory"], case=case)
    found = []
    for _, part in rows.groupby("seed"):
        kept = part[part["l2_norm"].notna()]
        peaks = kept.loc[kept.groupby(BETA2)["l2_norm"].idxmax()]
        found.append(readings.order(peaks[BETA2], peaks["step"]) if len(peaks) else np.nan)
    return found


def ratio_of_steps(tables: Tables, case: str, slow: float, fast: float) -> list[float]:
    """The median effective step from t1 to twice t1 at one beta2 over that at another, by seed."""
    late, early = (_steps_on_plateau(tables, case, beta2) for beta2 in (slow, fast))
    return [float(ratio) for ratio in early / late]


def _steps_on_plateau(tables: Tables, case: str, beta2: float) -> pd.Series:
    chosen = {"case": case, "optimizer__beta2": beta2}
    times = readings.record(tables["adam_memory"], "grokking_times", **chosen)
    rows = readings.history(tables["adam_memory"], **chosen)
    t1 = rows["seed"].map(times.set_index("seed")["t1"])
    plateau = rows[(rows["step"] >= t1) & (rows["step"] <= 2 * t1)]
    return plateau.groupby("seed")["effective_step"].median().reindex(times["seed"])


def exponent_of_weight(tables: Tables, beta2: float) -> list[float]:
    """The exponent of t2 against the weight of the l2 norm at one beta2, for each seed.

    Weights that do not generalise within the run are left out; not a number with fewer than two.
    """
    return [float(each) for each in _exponents(tables, beta2)]


def difference_of_exponents(tables: Tables, slow: float, fast: float) -> list[float]:
    """`exponent_of_weight` at one beta2 minus that at another, for each seed that has both."""
    late, early = (_exponents(tables, beta2) for beta2 in (slow, fast))
    return [float(each) for each in early - late]


def _exponents(tables: Tables, beta2: float) -> pd.Series:
    table = tables["adam_memory_weights"]
    rows = readings.record(table, "grokking_times", optimizer__beta2=beta2)
    found = {seed: readings.slope(part[WEIGHT], part["t2"]) for seed, part in rows.groupby("seed")}
    return pd.Series(found, dtype=float)


def share_recovered(
    tables: Tables, truth: str, regulariser: str, fewest: int, most: int
) -> list[float]:
    """The share of runs of one truth and regulariser, both starts, that recover the truth.

    Args:
        tables: of plate 4.
        truth: its kind.
        regulariser: ``l1``, ``nuclear``, ``l2`` or ``none``.
        fewest: measurements of a run that counts.
        most: as `fewest`.
    """
    rows = _recovery.outcomes(tables)
    rows = rows[(rows["truth"] == truth) & (rows["regulariser"] == regulariser)]
    return [float(rows.loc[rows["samples"].between(fewest, most), "recovered"].mean())]


def share_off_diagonal(
    tables: Tables, outcome: str, most: int, regulariser: str, start: float | str
) -> list[float]:
    """The share of runs with an outcome where the regulariser does not fit the truth.

    Args:
        tables: of plate 4.
        outcome: ``recovered`` or ``mirage``.
        most: measurements of a run that counts.
        regulariser: one of these four, or ``all``.
        start: entries before training, or ``all``.
    """
    rows = _chosen(tables, most, regulariser, start)
    return [
        float(
            rows.loc[rows["truth"].map(_recovery.DIAGONAL) != rows["regulariser"], outcome].mean()
        )
    ]


def share_of_mirages(
    tables: Tables, most: int, regulariser: str, start: float | str
) -> list[float]:
    """The share of runs, whatever the truth, that are a mirage; arguments as above."""
    return [float(_chosen(tables, most, regulariser, start)["mirage"].mean())]


def _chosen(tables: Tables, most: int, regulariser: str, start: float) -> pd.DataFrame:
    rows = _recovery.outcomes(tables)
    rows = rows[rows["samples"] <= most]
    if regulariser != "all":
        rows = rows[rows["regulariser"] == regulariser]
    return rows if start == "all" else rows[rows["start"] == start]


def time_over_distance(tables: Tables) -> list[float]:
    """The median of t2 x rate x weight over the distance to go on the diagonal, by instance."""
    rows = _on_diagonal(tables)
    return [
        float((part["slow"] / part["distance"]).median()) for _, part in rows.groupby("instance")
    ]


def exponent_of_distance(tables: Tables, most: int) -> list[float]:
    """The exponent of t2 x rate x weight against the distance on the diagonal, by instance.

    Args:
        tables: of plate 4.
        most: measurements of a problem that counts.
    """
    rows = _on_diagonal(tables)
    rows = rows[rows["samples"] <= most]
    return [readings.slope(part["distance"], part["slow"]) for _, part in rows.groupby("instance")]


def agreement(tables: Tables) -> list[float]:
    """The share of problems on the diagonal that the least start recovers as the minimiser does."""
    rows = _on_diagonal(tables)
    rows = rows[rows["start"] == rows["start"].min()]
    return [float((rows["recovered"] == rows["convex"]).mean())]


def _on_diagonal(tables: Tables) -> pd.DataFrame:
    rows = _recovery.outcomes(tables)
    return rows[rows["truth"].map(_recovery.DIAGONAL) == rows["regulariser"]]
