"""Modular addition under l2 regularisation in two readings, for all step sizes and weights."""

import pandas as pd
from matplotlib.figure import Figure

from grokatlas.papers.beyond_l2 import _addition

CASES = {"l2_squared": "squared, ", "l2": "not squared, "}


def draw(tables: dict[str, pd.DataFrame]) -> tuple[Figure, pd.DataFrame]:
    """A panel for each step size, the squared norm above, the norm below."""
    return _addition.draw(
        tables["regularised_addition"], {"l2_squared": "squared: ", "l2": "not squared: "}
    )
