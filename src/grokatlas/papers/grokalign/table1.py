"""Table 1: how much each method accelerates grokking."""

import pandas as pd

from grokatlas.claims.statistics import Tables
from grokatlas.papers.grokalign import _methods


def tabulate(tables: Tables, published: dict[str, str]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Steps and time to the higher test accuracy, and time from the lower to it."""
    return _methods.acceleration(tables["acceleration"], tables["update_time"], published)
