"""Plate 1: when a network memorises and generalises, by the memory of Adam's denominator."""

import numpy as np
import pandas as pd

from grokatlas.claims import statistics
from grokatlas.claims.statistics import Tables

BETA2, WEIGHT = "optimizer.beta2", "penalties.0.weight"
LONGER = "_long"  # ends the name of an experiment that goes on where another one ended
KEYS = {"adam_memory": ["case", BETA2, "seed"], "adam_memory_weights": [BETA2, WEIGHT, "seed"]}


def times(tables: Tables, name: str) -> pd.DataFrame:
    """The times t1 and t2 of each member, infinite for never, from its longest run.

    With `KEYS`, and ``length``, the update at which the run was to end.
    """
    parts = []
    for table in (
        tables[table_name] for table_name in (name, name + LONGER) if table_name in tables
    ):
        rows = statistics.record(table, "grokking_times")[[*KEYS[name], "t1", "t2"]]
        parts.append(rows.assign(length=float(table["step"].max())))
    rows = pd.concat(parts).sort_values("length", kind="stable")
    return rows.drop_duplicates(KEYS[name], keep="last").fillna({"t1": np.inf, "t2": np.inf})


def longest(tables: Tables, history: pd.DataFrame) -> pd.DataFrame:
    """The history of `adam_memory`, continued with longer runs until the first of these ends."""
    longer = tables.get("adam_memory" + LONGER)
    if longer is None:
        return history
    rows = statistics.history(longer)
    ends = rows.groupby(KEYS["adam_memory"], as_index=False)["step"].max()
    ends = ends.groupby(["case", BETA2], as_index=False)["step"].min()
    rows = rows.merge(ends, on=["case", BETA2], suffixes=("", "_end"))
    more = (rows["step"] > history["step"].max()) & (rows["step"] <= rows["step_end"])
    return pd.concat([history, rows[more].drop(columns="step_end")], ignore_index=True)


def ratio_of_times(tables: Tables, case: str, time: str, slow: float, fast: float) -> list[float]:
    """A time (``t1`` or ``t2``) at one beta2 over that at another, for each seed.

    Infinite where the slow one never comes; not a number where the fast one does not.
    """
    reached = times(tables, "adam_memory")
    late, early = (
        reached[(reached["case"] == case) & (reached[BETA2] == beta2)].set_index("seed")[time]
        for beta2 in (slow, fast)
    )
    both = pd.concat([late, early.replace(np.inf, np.nan)], axis=1).sort_index()
    return [float(above / below) for above, below in both.to_numpy()]


def order_of_peaks(tables: Tables, case: str) -> list[float]:
    """Spearman's correlation of beta2 and the step of the largest l2 norm, for each seed."""
    rows = statistics.history(tables["adam_memory"], case=case)
    orders = []
    for _, part in rows.groupby("seed"):
        known = part[part["l2_norm"].notna()]
        peaks = known.loc[known.groupby(BETA2)["l2_norm"].idxmax()]
        orders.append(statistics.order(peaks[BETA2], peaks["step"]) if len(peaks) else np.nan)
    return orders


def ratio_of_steps(tables: Tables, case: str, slow: float, fast: float) -> list[float]:
    """The median effective step from t1 to twice t1 at one beta2 over that at another, by seed."""
    late, early = (_steps_on_plateau(tables, case, beta2) for beta2 in (slow, fast))
    return [float(ratio) for ratio in early / late]


def _steps_on_plateau(tables: Tables, case: str, beta2: float) -> pd.Series:
    chosen = {"case": case, "optimizer__beta2": beta2}
    known = statistics.record(tables["adam_memory"], "grokking_times", **chosen)
    rows = statistics.history(tables["adam_memory"], **chosen)
    t1 = rows["seed"].map(known.set_index("seed")["t1"])
    plateau = rows[(rows["step"] >= t1) & (rows["step"] <= 2 * t1)]
    return plateau.groupby("seed")["effective_step"].median().reindex(known["seed"])


def exponent_of_weight(tables: Tables, beta2: float) -> list[float]:
    """The exponent of t2 against the weight of the l2 norm at one beta2, for each seed.

    Weights that do not generalise within the run are left out; not a number with fewer than two.
    """
    return [float(exponent) for exponent in _exponents(tables, beta2)]


def difference_of_exponents(tables: Tables, slow: float, fast: float) -> list[float]:
    """`exponent_of_weight` at one beta2 minus that at another, for each seed that has both."""
    late, early = (_exponents(tables, beta2) for beta2 in (slow, fast))
    return [float(difference) for difference in early - late]


def _exponents(tables: Tables, beta2: float) -> pd.Series:
    rows = _at(tables, beta2)
    exponents = {
        seed: statistics.slope(part[WEIGHT], part["t2"]) for seed, part in rows.groupby("seed")
    }
    return pd.Series(exponents, dtype=float)


def updates_per_decay(tables: Tables, beta2: float, least: float) -> list[float]:
    """The growth of t2 when the weight falls by a factor e, over 2 / (1 - beta2), by seed.

    When the gradient of the data is gone, the root of Adam's denominator shrinks by a factor e in
    2 / (1 - beta2) updates. If t2 waits for it to come down to the gradient of the regulariser, the
    quotient is 1. Weights below `least`, whose gradient is below Adam's eps, do not count; not a
    number with fewer than two weights that generalise.
    """
    rows = _at(tables, beta2)
    rows = rows[(rows[WEIGHT] >= least) & np.isfinite(rows["t2"])]
    quotients = []
    for _, part in rows.groupby("seed"):
        if part[WEIGHT].nunique() < 2:
            quotients.append(np.nan)
            continue
        grown = np.polyfit(-np.log(part[WEIGHT]), part["t2"], 1)[0]
        quotients.append(float(grown * (1 - beta2) / 2))
    return quotients


def _at(tables: Tables, beta2: float) -> pd.DataFrame:
    reached = times(tables, "adam_memory_weights")
    return reached[reached[BETA2] == beta2]
