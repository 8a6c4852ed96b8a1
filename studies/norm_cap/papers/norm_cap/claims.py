"""Numbers of the claims, one for each seed."""

from collections.abc import Mapping

import pandas as pd

from grokatlas.claims import statistics

Tables = Mapping[str, pd.DataFrame]


def final_accuracy(tables: Tables, cap: str) -> list[float]:
    """The last test accuracy at a ceiling."""
    return statistics.last(statistics.history(tables["s5"], cap=cap), "test_accuracy")


def acceleration(tables: Tables, cap: str) -> list[float]:
    """The steps to generalisation without a ceiling over those with one."""
    times = statistics.record(tables["s5"], "grokking_times").set_index(["cap", "seed"])["t2"]
    return [float(value) for value in times["none"] / times[cap]]


def untrained(tables: Tables) -> Tables:
    """The first logged step of every run, at which nothing is learnt."""
    return {name: table[table["step"] == table["step"].min()] for name, table in tables.items()}
