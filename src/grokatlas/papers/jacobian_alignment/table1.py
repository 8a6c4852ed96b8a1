"""Table 1: how much each method accelerates grokking."""

import pandas as pd

from grokatlas.plots import methods


def tabulate(tables: dict[str, pd.DataFrame]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Steps and time to the higher test accuracy, and time from the lower to it."""
    return methods.acceleration(tables["acceleration"], tables["update_time"])
