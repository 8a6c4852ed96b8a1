"""Numbers of the claims, one for each seed."""

from collections.abc import Mapping

import pandas as pd

from grokatlas.claims import statistics


def final_accuracy(tables: Mapping[str, pd.DataFrame], cap: str) -> list[float]:
    """The last test accuracy at a ceiling."""
    return statistics.last(statistics.history(tables["s5"], cap=cap), "test_accuracy")


def acceleration(tables: Mapping[str, pd.DataFrame], cap: str) -> list[float]:
    """The steps to generalisation without a ceiling over those with one."""
    times = statistics.record(tables["s5"], "grokking_times").set_index(["cap", "seed"])["t2"]
    return [float(value) for value in times["none"] / times[cap]]
