"""Numbers of the claims, one for each seed."""

from collections.abc import Mapping

import pandas as pd

from grokatlas.claims import statistics

Tables = Mapping[str, pd.DataFrame]
GENERAL = 0.95  # the accuracy at which the tables of the source count updates


def gain(tables: Tables, experiment: str, case: str, other: str) -> list[float]:
    """The update of another case at a test accuracy of `GENERAL`, over that of a case."""
    found = [
        statistics.first(
            statistics.history(tables[experiment], case=name), "test_accuracy", GENERAL
        )
        for name in (other, case)
    ]
    return [one / two for one, two in zip(*found, strict=True)]


def delay(tables: Tables, experiment: str, case: str) -> list[float]:
    """The update at a test accuracy of `GENERAL`, over that at a training accuracy of it."""
    rows = statistics.history(tables[experiment], case=case)
    test, train = (
        statistics.first(rows, f"{part}_accuracy", GENERAL) for part in ("test", "train")
    )
    return [one / two for one, two in zip(test, train, strict=True)]


def untrained(tables: Tables) -> Tables:
    """The first logged step of every run, at which nothing is learnt."""
    return {name: table[table["step"] == table["step"].min()] for name, table in tables.items()}
