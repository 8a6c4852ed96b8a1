"""Plate 6: what three precisions make of the same training."""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from grokatlas.claims import statistics

PRECISIONS = ("float64", "float32", "float64_loss")  # the last: float32 but for outputs and loss
TABLES = {  # table -> the task of its cases, by what their names begin with
    "precision_images": {"baseline": "baseline", "grokalign": "grokalign"},
    "precision_addition": {"l2": "addition_l2", "none": "addition_none"},
    "precision_transformer": {"": "transformer"},
}
BETA2 = "optimizer.beta2"
KEYS = ["task", "beta2", "precision", "seed"]

Tables = Mapping[str, pd.DataFrame]


def told_apart(tables: Tables, record: str) -> pd.DataFrame:
    """The rows of a measure, or of the history, of all tables that are given.

    Returns:
        these rows with ``task``, ``beta2`` and ``precision``, one of `PRECISIONS`.
    """
    found = []
    for name, tasks in TABLES.items():
        if name not in tables:
            continue
        rows = statistics.record(tables[name], record)
        parts = rows["case"].str.extract(rf"^(?:(.*)_)?({'|'.join(PRECISIONS)})$")
        task = parts[0].fillna("").map(tasks)
        found.append(rows.assign(task=task, precision=parts[1], beta2=rows[BETA2]))
    return pd.concat(found, ignore_index=True)


def times(tables: Tables) -> pd.DataFrame:
    """When each member memorises and generalises.

    Returns:
        `KEYS`, ``t1`` and ``t2`` in updates, infinite for never, and the ``test_accuracy`` at the
        end. Members that diverged have none.
    """
    rows = told_apart(tables, "grokking_times")
    rows = rows[rows["test_accuracy"].notna()]
    return rows[[*KEYS, "t1", "t2", "test_accuracy"]].fillna({"t1": np.inf, "t2": np.inf})


def silence(tables: Tables) -> pd.DataFrame:
    """How much of the data is silent between memorisation and the end of a run.

    Returns:
        `KEYS`, the share of logged updates from t1 on at which every entry of the data's gradient
        is ``below_eps``, that of Adam, and the mean share of ``collapsed`` points at them.
    """
    known = times(tables)[[*KEYS, "t1"]].rename(columns={"t1": "since"})
    rows = told_apart(tables, "history").merge(known, on=KEYS)
    late = rows[(rows["step"] >= rows["since"]) & rows["largest_gradient"].notna()]
    late = late.assign(below=late["largest_gradient"] < late["optimizer.eps"])
    groups = late.groupby(KEYS)
    found = groups.agg(below_eps=("below", "mean"), collapsed=("collapsed_points", "mean"))
    return found.reset_index()


def quotients(found: pd.DataFrame) -> pd.DataFrame:
    """t2 in each precision over that in float64 on the same seed.

    Args:
        found: from `times`.

    Returns:
        `KEYS` and ``quotient``: infinite where the first never comes, 0 where the second does not,
        and not a number where neither does.
    """
    same = ["task", "beta2", "seed"]
    double = found.loc[found["precision"] == "float64", [*same, "t2"]]
    both = found.merge(double.rename(columns={"t2": "other"}), on=same)
    return both.assign(quotient=both["t2"] / both["other"])[[*KEYS, "quotient"]]


def factors_beside(found: pd.DataFrame) -> pd.DataFrame:
    """The updates to 85 percent that GrokAlign saves on MNIST, beside those in float64.

    Args:
        found: from `times`.

    Returns:
        ``precision``, ``seed``, the ``factor`` t2 of the baseline over t2 of GrokAlign, which is
        not a number where a time never comes, and its ``difference`` from that in float64 on the
        same seed.
    """
    by = found.pivot_table("t2", ["precision", "seed"], "task", aggfunc="first")
    by = by.reindex(columns=["baseline", "grokalign"]).replace(np.inf, np.nan)
    factor = (by["baseline"] / by["grokalign"]).rename("factor").reset_index()
    double = factor[factor["precision"] == "float64"].set_index("seed")["factor"]
    return factor.assign(difference=factor["factor"] - factor["seed"].map(double))


def time_beside(tables: Tables, task: str, precision: str, beta2: float) -> list[float]:
    """t2 in a precision over that in float64 on the same seed, for each seed.

    Args:
        tables: of plate 6.
        task: such as ``addition_l2``.
        precision: of `PRECISIONS`.
        beta2: of Adam.

    Returns:
        the quotients, infinite where t2 never comes in this precision, 0 where not in float64, not
        a number where in neither.
    """
    return [
        float(each) for each in _of(quotients(times(tables)), task, precision, beta2)["quotient"]
    ]


def factor_beside(tables: Tables, precision: str) -> list[float]:
    """The updates that GrokAlign saves, as a factor, less that in float64, for each seed.

    Args:
        tables: of plate 6.
        precision: of `PRECISIONS`.
    """
    found = factors_beside(times(tables))
    own = found[found["precision"] == precision].sort_values("seed")
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
