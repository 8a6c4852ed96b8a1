"""Plate 8: an intervention on the memory of Adam's denominator, and decoupled weight decay."""

import numpy as np
import pandas as pd

from grokatlas.claims import statistics
from grokatlas.claims.statistics import Tables
from grokatlas.papers.plates._adam_memory import BETA2

CONTROL = "large_step"  # the case of `adam_memory` that has the settings of plate 8


def times(tables: Tables, experiment: str) -> pd.DataFrame:
    """The times t1 and t2 of each member, infinite for never; of `adam_memory` its control.

    The control's longest memory has the times of `adam_late`, which trains until it generalises.
    """
    chosen = {"case": CONTROL} if experiment == "adam_memory" else {}
    rows = statistics.record(tables[experiment], "grokking_times", **chosen)
    if chosen and "adam_late" in tables:
        late = statistics.record(tables["adam_late"], "grokking_times")
        rows = pd.concat([late, rows]).drop_duplicates([BETA2, "seed"])
    return rows.fillna({"t1": np.inf, "t2": np.inf})


def ratio_to_control(tables: Tables, case: str, beta2: float) -> list[float]:
    """The t2 of a switched run over that of the control at one beta2, for each seed."""
    rows, control = times(tables, "adam_switched"), times(tables, "adam_memory")
    return _ratios(rows[rows["case"] == case], control[control[BETA2] == beta2])


def ratio_under_decay(tables: Tables, experiment: str, slow: float, fast: float) -> list[float]:
    """The t2 of an experiment at one beta2 over that at another, for each seed."""
    rows = times(tables, experiment)
    return _ratios(rows[rows[BETA2] == slow], rows[rows[BETA2] == fast])


def waits(tables: Tables) -> pd.DataFrame:
    """The wait that the law has for each member of `adam_remembered`, in updates.

    Columns ``optimizer.beta2``, ``seed`` and ``wait``, ``2 / (1 - beta2) log(g / eps)``: the root
    of the denominator has to fall from the gradients g that it remembers after memorisation to eps,
    which is above the regulariser's gradient, and falls by a factor e in 2 / (1 - beta2) updates.
    """
    rows = statistics.history(tables["adam_remembered"])
    last = rows[rows["step"] == rows["step"].max()]
    wait = 2 / (1 - last[BETA2]) * np.log(last["adam_denominator"] / last["optimizer.eps"])
    return last[[BETA2, "seed"]].assign(wait=wait).reset_index(drop=True)


def predicted(tables: Tables, fast: float = 0.9) -> pd.DataFrame:
    """The control's t2 by the law, from that at the shortest memory; also ``t2`` as measured."""
    rows = times(tables, "adam_memory").merge(waits(tables), on=[BETA2, "seed"])
    start = rows[rows[BETA2] == fast].set_index("seed")
    rows = rows.join(start[["t2", "wait"]], on="seed", rsuffix="_fast")
    later = rows["wait"] - rows["wait_fast"]
    return rows.assign(later=later, predicted=rows["t2_fast"] + later)


def wait_over_law(tables: Tables, beta2: float, factor: float) -> list[float]:
    """The delay of t2 at one beta2 against 0.9 over that of the law, for each seed.

    Args:
        tables: of plate 8.
        beta2: the decay of the denominator.
        factor: of the law; 1 where the denominator itself and not its root divides the step.
    """
    rows = predicted(tables)
    rows = rows[rows[BETA2] == beta2].sort_values("seed")
    return [float(value) for value in (rows["t2"] - rows["t2_fast"]) / (rows["later"] * factor / 2)]


def time_over_law(tables: Tables, beta2: float, factor: float) -> list[float]:
    """The t2 at one beta2 over that of the law, for each seed; arguments as `wait_over_law`."""
    rows = predicted(tables)
    rows = rows[rows[BETA2] == beta2].sort_values("seed")
    return [float(v) for v in rows["t2"] / (rows["t2_fast"] + rows["later"] * factor / 2)]


def _ratios(late: pd.DataFrame, early: pd.DataFrame) -> list[float]:
    """Infinite where the late one never comes; not a number where the early one does not."""
    both = pd.concat(
        [late.set_index("seed")["t2"], early.set_index("seed")["t2"].replace(np.inf, np.nan)],
        axis=1,
        join="inner",
    ).sort_index()
    return [float(above / below) for above, below in both.to_numpy()]
