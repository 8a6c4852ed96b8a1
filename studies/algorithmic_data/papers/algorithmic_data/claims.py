"""Numbers of the claims, one for each seed."""

from collections.abc import Mapping

import pandas as pd

from grokatlas.claims import statistics

Tables = Mapping[str, pd.DataFrame]
FRACTION, OPERATION = "task.train_fraction", "task.operation"
GENERAL = 0.99  # the accuracy at which a network counts as general


def memorised(tables: Tables, case: str) -> list[float]:
    """The first update with a training accuracy of `GENERAL`."""
    rows = statistics.history(tables["division"], case=case)
    return statistics.first(rows, "train_accuracy", GENERAL)


def delay(tables: Tables, case: str, column: str) -> list[float]:
    """The update at which a column reaches `GENERAL`, over that of the training accuracy."""
    rows = statistics.history(tables["division"], case=case)
    late = statistics.first(rows, column, GENERAL)
    return [one / two for one, two in zip(late, memorised(tables, case), strict=True)]


def gain(tables: Tables, case: str) -> list[float]:
    """The update without weight decay at a test accuracy of `GENERAL`, over that of a case.

    By seed: of those that both cases have.
    """
    found = []
    for name in ("no_decay", case):
        rows = statistics.history(tables["division"], case=name)
        steps = statistics.first(rows, "test_accuracy", GENERAL)
        found.append(statistics.by_seed(rows, steps))
    return list((found[0] / found[1]).dropna())


def untrained(tables: Tables) -> Tables:
    """The first logged step of every run, at which nothing is learnt."""
    return {name: table[table["step"] == table["step"].min()] for name, table in tables.items()}


def _general(tables: Tables, operation: str, fraction: float) -> list[float]:
    """The first update with a test accuracy of `GENERAL`, of one share of the data."""
    rows = statistics.history(tables["fractions"], task__operation=operation)
    return statistics.first(rows[rows[FRACTION] == fraction], "test_accuracy", GENERAL)


def slower(tables: Tables, operation: str, more: float, less: float) -> list[float]:
    """The update at a test accuracy of `GENERAL` from less data, over that from more."""
    pairs = (_general(tables, operation, fraction) for fraction in (less, more))
    return [one / two for one, two in zip(*pairs, strict=True)]


def rise(tables: Tables, operation: str, more: float, less: float) -> list[float]:
    """The relative rise of that update for each percent of all pairs less."""
    points = 100 * (more - less)
    return [ratio ** (1 / points) - 1 for ratio in slower(tables, operation, more, less)]


def _best(tables: Tables, operation: str) -> pd.Series:
    """The best test accuracy by seed and share of the data."""
    rows = statistics.history(tables["fractions"], task__operation=operation)
    return rows.groupby(["seed", FRACTION])["test_accuracy"].max()


def more_data(tables: Tables, operation: str, other: str) -> list[float]:
    """The least share that generalises, over that of another operation; infinite for none."""

    def least(name: str) -> pd.Series:
        best = _best(tables, name).reset_index()
        shares = best[FRACTION].where(best["test_accuracy"] >= GENERAL, float("inf"))
        return shares.groupby(best["seed"]).min()

    return list(least(operation) / least(other))


def best_accuracy(tables: Tables, operation: str) -> list[float]:
    """The best test accuracy from any share of the data."""
    return list(_best(tables, operation).groupby("seed").max())
