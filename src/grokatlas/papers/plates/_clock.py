"""Plate 8: an intervention on the memory of Adam's denominator, and decoupled weight decay."""

import numpy as np
import pandas as pd

from grokatlas.claims import statistics
from grokatlas.claims.statistics import Tables
from grokatlas.papers.plates._adam_memory import BETA2

CONTROL = "large_step"  # the case of `adam_memory` that has the settings of plate 8


def times(tables: Tables, experiment: str) -> pd.DataFrame:
    """The times t1 and t2 of each member, infinite for never; of `adam_memory` its control."""
    chosen = {"case": CONTROL} if experiment == "adam_memory" else {}
    rows = statistics.record(tables[experiment], "grokking_times", **chosen)
    return rows.fillna({"t1": np.inf, "t2": np.inf})


def ratio_to_control(tables: Tables, case: str, beta2: float) -> list[float]:
    """The t2 of a switched run over that of the control at one beta2, for each seed."""
    rows, control = times(tables, "adam_switched"), times(tables, "adam_memory")
    return _ratios(rows[rows["case"] == case], control[control[BETA2] == beta2])


def ratio_under_decay(tables: Tables, experiment: str, slow: float, fast: float) -> list[float]:
    """The t2 of an experiment at one beta2 over that at another, for each seed."""
    rows = times(tables, experiment)
    return _ratios(rows[rows[BETA2] == slow], rows[rows[BETA2] == fast])


def _ratios(late: pd.DataFrame, early: pd.DataFrame) -> list[float]:
    """Infinite where the late one never comes; not a number where the early one does not."""
    both = pd.concat(
        [late.set_index("seed")["t2"], early.set_index("seed")["t2"].replace(np.inf, np.nan)],
        axis=1,
        join="inner",
    ).sort_index()
    return [float(above / below) for above, below in both.to_numpy()]
