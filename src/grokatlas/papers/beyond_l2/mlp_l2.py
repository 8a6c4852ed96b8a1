"""Modular addition under l2 regularisation, for all step sizes and weights."""

from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from grokatlas.papers.beyond_l2 import _addition


def draw(
    tables: dict[str, pd.DataFrame], digitised_points: list[dict[str, Any]]
) -> tuple[Figure, pd.DataFrame]:
    """A panel for each step size: accuracies for all weights."""
    table = tables["regularised_addition"]
    return _addition.draw(table[table["case"] == "l2"], digitised_points)
