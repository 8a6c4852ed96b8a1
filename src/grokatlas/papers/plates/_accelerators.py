"""Plate 7: how much sooner each method makes each task generalise."""

import numpy as np
import pandas as pd

from grokatlas.claims import statistics
from grokatlas.claims.statistics import Tables

TASKS = ("addition", "transformer", "ce", "mse", "xor", "sparse", "completion")
BASELINE, CHOICE = "none", 100  # a case; the seed by which weights are chosen
WEIGHTS = {  # method -> the column of its weight
    "weight_decay": "optimizer.weight_decay",
    "l2": "penalties.0.weight",
    "l1": "penalties.0.weight",
    "nuclear": "penalties.0.weight",
    "grokfast_ema": "gradients.0.lamb",
    "grokfast_ma": "gradients.0.lamb",
    "grokalign": "penalties.0.weight",
    "noise": "inputs.0.low",
}
UNITS = ("updates", "operations")
KEYS = ["task", "method", "seed"]


def tasks(tables: Tables) -> list[str]:
    """The tasks whose tables are given, in the order of `TASKS`."""
    return [task for task in TASKS if f"accelerators_{task}" in tables]


def judged(tables: Tables) -> pd.DataFrame:
    """Times to generalise of each method at its chosen weight, on the seeds that are judged.

    The weight is the one with the smallest time on seed `CHOICE`, of several the smallest. The
    times ``updates`` and ``operations`` are infinite for never, also of members that diverged;
    their quotients over the baseline's on the same seed are infinite where the method never
    generalises, 0 where the baseline alone does not, and not a number where both do not.
    """
    every = pd.concat([_times(task, tables[f"accelerators_{task}"]) for task in tasks(tables)])
    known = every["seed"] == CHOICE
    best = every[known].sort_values(["updates", "weight"]).groupby(["task", "method"]).first()
    best = best["weight"].rename("chosen").reset_index()
    others = every[~known].merge(best, on=["task", "method"])
    own = (others["weight"] == others["chosen"]) | (others["method"] == BASELINE)
    others = others[own].drop(columns="chosen")
    base = others.loc[others["method"] == BASELINE, ["task", "seed", *UNITS]]
    both = others.merge(base, on=["task", "seed"], suffixes=("", "_base"))
    for unit in UNITS:
        quotient = both[unit] / both[f"{unit}_base"].replace(0, np.nan)
        both[f"{unit}_quotient"] = quotient
    return both.drop(columns=[f"{unit}_base" for unit in UNITS]).reset_index(drop=True)


def _times(task: str, table: pd.DataFrame) -> pd.DataFrame:
    """``task``, ``method``, ``weight``, ``seed`` and times of all members of a table."""
    names = table["record"].unique()
    record = "recovery_times" if "recovery_times" in names else "grokking_times"
    rows = statistics.record(table, record)
    rows = rows[rows["case"].isin([BASELINE, *WEIGHTS])]
    weight = pd.Series(np.nan, index=rows.index)
    for method, column in WEIGHTS.items():
        if column in rows:
            weight = weight.where(rows["case"] != method, rows[column])
    counted = statistics.record(table, "operations").groupby("case")["operations"].median()
    updates = rows["t2"].fillna(np.inf)
    columns = {
        "task": task,
        "method": rows["case"],
        "weight": weight,
        "seed": rows["seed"],
        "updates": updates,
        "operations": updates * rows["case"].map(counted),
    }
    return pd.DataFrame(columns).reset_index(drop=True)


def summary(quotients: pd.DataFrame) -> pd.DataFrame:
    """Median, least and most of the quotients in each cell of `judged`, by ``unit``.

    With how many ``seeds`` are judged and have ``reached`` generalisation, and whether it is
    ``apart``: the smallest median of its task, with a range that meets no other's.
    """
    rows = []
    for (task, method), part in quotients[quotients["method"] != BASELINE].groupby(
        ["task", "method"]
    ):
        for unit in UNITS:
            values = part[f"{unit}_quotient"].dropna()
            ends = [values.median(), values.min(), values.max()] if len(values) else [np.nan] * 3
            reached = int(np.isfinite(part[unit]).sum())
            rows.append([task, method, part["weight"].iloc[0], unit, len(part), reached, *ends])
    columns = ["task", "method", "weight", "unit", "seeds", "reached", "median", "least", "most"]
    numbers = dict.fromkeys(("weight", "median", "least", "most"), float)  # also without a row
    made = pd.DataFrame(rows, columns=columns).astype(numbers).assign(apart=False)
    for _, part in made.groupby(["task", "unit"]):
        known = part.dropna(subset="median").sort_values("median")
        if len(known) > 1 and known["most"].iloc[0] < known["least"].iloc[1:].min():
            made.loc[known.index[0], "apart"] = True
    return made


def margins(made: pd.DataFrame, by: str) -> pd.DataFrame:
    """The mean of the logarithms of the medians of each ``task`` or ``method``, and their spread.

    Both are factors, the spread that of one standard deviation; ``left_out`` are cells without a
    median that is finite and above 0.
    """
    rows = []
    for (unit, name), part in made.groupby(["unit", by]):
        known = part["median"]
        logarithms = np.log(known[np.isfinite(known) & (known > 0)])
        mean = np.exp(logarithms.mean()) if len(logarithms) else np.nan
        spread = np.exp(logarithms.std(ddof=1)) if len(logarithms) > 1 else np.nan
        rows.append([unit, name, mean, spread, len(logarithms), len(part) - len(logarithms)])
    columns = ["unit", by, "mean", "spread", "counted", "left_out"]
    return pd.DataFrame(rows, columns=columns).astype({"mean": float, "spread": float})


def time_over_baseline(tables: Tables, task: str, method: str, unit: str) -> list[float]:
    """The quotient of a method's time and the baseline's for each judged seed, as in `judged`."""
    quotients = judged(tables)
    own = quotients[(quotients["task"] == task) & (quotients["method"] == method)].sort_values(
        "seed"
    )
    return [float(value) for value in own[f"{unit}_quotient"]]


def lead(tables: Tables, task: str, method: str, unit: str) -> list[float]:
    """The smallest time of all other methods over that of one, for each judged seed.

    The baseline is among the others. Infinite where the method alone generalises, 0 where it alone
    does not, and not a number where none does.
    """
    every = judged(tables)
    by = every[every["task"] == task].pivot_table(unit, "seed", "method", aggfunc="first")
    if method not in by:
        return [np.nan] * len(by)
    others = by.drop(columns=method).min(axis=1)
    return [float(value) for value in others / by[method]]


def largest_share_led(tables: Tables, unit: str) -> list[float]:
    """The largest share of its tasks on which a method has the smallest median, as one number.

    Tasks on which no method has a finite median quotient are left out.
    """
    made = summary(judged(tables))
    made = made[made["unit"] == unit]
    led = made.groupby("task")["median"].transform("min")
    known = made[np.isfinite(led)]
    if known.empty:
        return [np.nan]
    first = known["median"] == led[known.index]
    return [float(first.groupby(known["method"]).mean().max())]
