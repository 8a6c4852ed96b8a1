"""Numbers of the claims, one for each seed."""

import math
from collections.abc import Mapping

import pandas as pd

from grokatlas.claims import statistics

Tables = Mapping[str, pd.DataFrame]


def _rows(tables: Tables, case: str, column: str) -> pd.DataFrame:
    """The rows of a case that hold a column, of the measure or of the history."""
    measured = column in ("restricted_loss", "excluded_loss", "keys")
    record = "fourier_losses" if measured else "history"
    return statistics.record(tables["phases"], record, case=case)


def reached(tables: Tables, case: str, column: str, level: float) -> list[float]:
    """The first step at which a loss is at a level or below it."""
    return statistics.first(_rows(tables, case, column), column, level, below=True)


def lead(tables: Tables, case: str, column: str) -> list[float]:
    """The step at which a loss has halved from log p, over that at which the test loss has."""
    rows = _rows(tables, case, "test_loss")
    half = math.log(rows["task.modulus"].iloc[0]) / 2
    steps = [
        statistics.first(_rows(tables, case, name), name, half, below=True)
        for name in (column, "test_loss")
    ]
    return [first / second for first, second in zip(*steps, strict=True)]


def memorised(tables: Tables, case: str) -> list[float]:
    """The step at which the excluded loss is least: the end of memorisation."""
    rows = _rows(tables, case, "excluded_loss")
    return [
        float(part.loc[part["excluded_loss"].idxmin(), "step"]) for _, part in rows.groupby("seed")
    ]


def rise(tables: Tables, case: str) -> list[float]:
    """The last excluded loss less the least one."""
    rows = _rows(tables, case, "excluded_loss")
    least = rows.groupby("seed")["excluded_loss"].min()
    last = statistics.by_seed(rows, statistics.last(rows, "excluded_loss"))
    return list(last - least)


def nothing_excluded(tables: Tables) -> Tables:
    """The training loss in place of the excluded loss, as if no frequency were left out."""
    table, names = tables["phases"].copy(), ["case", "seed", "step"]
    losses = statistics.history(table).set_index(names)["train_loss"]
    measured = table["record"] == "fourier_losses"
    places = pd.MultiIndex.from_frame(table.loc[measured, names])
    table.loc[measured, "excluded_loss"] = losses.reindex(places).to_numpy()
    return {**tables, "phases": table}


def keys(tables: Tables, case: str) -> list[float]:
    """The number of key frequencies."""
    return statistics.last(_rows(tables, case, "keys"), "keys")


def best_accuracy(tables: Tables, case: str) -> list[float]:
    """The largest test accuracy."""
    rows = _rows(tables, case, "test_accuracy")
    return list(rows.groupby("seed")["test_accuracy"].max())


def shrinkage(tables: Tables, case: str) -> list[float]:
    """The sum of squared weights at the end over its largest value."""
    rows = _rows(tables, case, "l2_norm")
    last = statistics.by_seed(rows, statistics.last(rows, "l2_norm"))
    return list((last / rows.groupby("seed")["l2_norm"].max()) ** 2)
