"""Plate 6: what three precisions make of the same training."""

import numpy as np
import pandas as pd

from grokatlas.claims import statistics
from grokatlas.claims.statistics import Tables

PRECISIONS = ("float64", "float32", "float64_loss")  # the last: float32 but for outputs and loss
TABLES = {  # table -> the task of its cases, by what their names begin with
    "precision_images": {"baseline": "baseline", "grokalign": "grokalign"},
    "precision_addition": {"l2": "addition_l2", "none": "addition_none"},
    "precision_transformer": {"": "transformer"},
}
BETA2 = "optimizer.beta2"
KEYS = ["task", "beta2", "precision", "seed"]


def told_apart(tables: Tables, record: str) -> pd.DataFrame:
    """The rows of a record in all tables, with ``task``, ``beta2`` and one of `PRECISIONS`."""
    parts_of_tables = []
    for name, tasks in TABLES.items():
        if name not in tables:
            continue
        rows = statistics.record(tables[name], record)
        parts = rows["case"].str.extract(rf"^(?:(.*)_)?({'|'.join(PRECISIONS)})$")
        task = parts[0].fillna("").map(tasks)
        parts_of_tables.append(rows.assign(task=task, precision=parts[1], beta2=rows[BETA2]))
    return pd.concat(parts_of_tables, ignore_index=True)


def times(tables: Tables) -> pd.DataFrame:
    """The times t1 and t2 of each member, infinite for never, and its ``test_accuracy`` at the end.

    Members that diverged have none.
    """
    rows = told_apart(tables, "grokking_times")
    rows = rows[rows["test_accuracy"].notna()]
    return rows[[*KEYS, "t1", "t2", "test_accuracy"]].fillna({"t1": np.inf, "t2": np.inf})


def silence(tables: Tables) -> pd.DataFrame:
    """From memorisation on, the share of logged updates ``below_eps``, and that ``collapsed``.

    The former have no entry of the data's gradient above Adam's eps; the latter is that of points.
    """
    known = times(tables)[[*KEYS, "t1"]].rename(columns={"t1": "since"})
    rows = told_apart(tables, "history").merge(known, on=KEYS)
    late = rows[(rows["step"] >= rows["since"]) & rows["largest_gradient"].notna()]
    late = late.assign(below=late["largest_gradient"] < late["optimizer.eps"])
    groups = late.groupby(KEYS)
    shares = groups.agg(below_eps=("below", "mean"), collapsed=("collapsed_points", "mean"))
    return shares.reset_index()


def quotients(reached: pd.DataFrame) -> pd.DataFrame:
    """t2 in each precision over that in float64 on the same seed.

    Infinite where the first never comes, 0 where the second does not, not a number where neither.
    """
    same = ["task", "beta2", "seed"]
    double = reached.loc[reached["precision"] == "float64", [*same, "t2"]]
    both = reached.merge(double.rename(columns={"t2": "other"}), on=same)
    return both.assign(quotient=both["t2"] / both["other"])[[*KEYS, "quotient"]]


def factors_beside(reached: pd.DataFrame) -> pd.DataFrame:
    """The ``factor`` t2 of the baseline over t2 of GrokAlign on MNIST, not a number for never.

    With its ``difference`` from that in float64 on the same seed.
    """
    by = reached.pivot_table("t2", ["precision", "seed"], "task", aggfunc="first")
    by = by.reindex(columns=["baseline", "grokalign"]).replace(np.inf, np.nan)
    factor = (by["baseline"] / by["grokalign"]).rename("factor").reset_index()
    double = factor[factor["precision"] == "float64"].set_index("seed")["factor"]
    return factor.assign(difference=factor["factor"] - factor["seed"].map(double))


def time_beside(tables: Tables, task: str, precision: str, beta2: float) -> list[float]:
    """t2 in a precision over that in float64 on the same seed, as in `quotients`, for each seed."""
    return [
        float(each) for each in _of(quotients(times(tables)), task, precision, beta2)["quotient"]
    ]


def factor_beside(tables: Tables, precision: str) -> list[float]:
    """The updates that GrokAlign saves, as a factor, less that in float64, for each seed."""
    factors = factors_beside(times(tables))
    own = factors[factors["precision"] == precision].sort_values("seed")
    return [float(value) for value in own["difference"]]


def most_collapsed(tables: Tables, task: str, precision: str, beta2: float) -> list[float]:
    """The largest share of collapsed points at any logged update, for each seed.

    Arguments are those of `time_beside`.
    """
    rows = _of(told_apart(tables, "history"), task, precision, beta2)
    return [float(share) for share in rows.groupby("seed")["collapsed_points"].max()]


def last_accuracy(tables: Tables, task: str, precision: str, beta2: float) -> list[float]:
    """The test accuracy at the end, for each seed; arguments are those of `time_beside`."""
    return [float(end) for end in _of(times(tables), task, precision, beta2)["test_accuracy"]]


def accuracy_beside(
    tables: Tables, task: str, precision: str, other: str, beta2: float
) -> list[float]:
    """The test accuracy at the end in one precision less that in another, for each seed."""
    first, second = (
        _of(times(tables), task, each, beta2)["test_accuracy"] for each in (precision, other)
    )
    return [float(value) for value in first - second]


def _of(rows: pd.DataFrame, task: str, precision: str, beta2: float) -> pd.DataFrame:
    """The rows of a task in a precision, by seed."""
    own = rows[(rows["task"] == task) & (rows["precision"] == precision)]
    return own[own["beta2"] == beta2].set_index("seed").sort_index()
