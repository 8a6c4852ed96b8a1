"""Numbers of the claims, one for each seed."""

from collections.abc import Mapping

import pandas as pd

from grokatlas.claims import statistics

Tables = Mapping[str, pd.DataFrame]
NORM = "dynamics.relative_norm"


def delay(tables: Tables, case: str, learnt: float, generalised: float) -> list[float]:
    """The update with a test accuracy of `generalised`, over that with a training one of `learnt`.

    A training that never generalises has an infinite delay.
    """
    rows = statistics.history(tables["training"], case=case)
    first = statistics.first(rows, "test_accuracy", generalised)
    second = statistics.first(rows, "train_accuracy", learnt)
    return [one / two for one, two in zip(first, second, strict=True)]


def best_accuracy(tables: Tables, case: str) -> list[float]:
    """The largest test accuracy."""
    rows = statistics.history(tables["training"], case=case)
    return list(rows.groupby("seed")["test_accuracy"].max())


def untrained(tables: Tables) -> Tables:
    """The first logged step of every run, at which nothing is learnt."""
    return {name: table[table["step"] == table["step"].min()] for name, table in tables.items()}


def rise(tables: Tables, part: str) -> list[float]:
    """The least loss at the largest norm over the least one of any norm."""
    rows = statistics.history(tables["landscape"])
    least = rows.groupby(["seed", NORM])[f"{part}_loss"].min().unstack()
    return list(least[least.columns.max()] / least.min(axis=1))


def ends(tables: Tables, part: str) -> list[float]:
    """The least loss at the largest norm over that at the smallest."""
    rows = statistics.history(tables["landscape"])
    least = rows.groupby(["seed", NORM])[f"{part}_loss"].min().unstack()
    return list(least[least.columns.max()] / least[least.columns.min()])
