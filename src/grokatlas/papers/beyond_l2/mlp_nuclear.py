"""Modular addition under nuclear regularisation, for all step sizes and weights."""

from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from grokatlas.papers.beyond_l2 import _addition

SHOWN = {1e-3: 20000, 1e-2: 4100, 1e-1: 2200}  # steps by step size, as published


def draw(
    tables: dict[str, pd.DataFrame], readings: list[dict[str, Any]]
) -> tuple[Figure, pd.DataFrame]:
    """A panel for each step size: accuracies for all weights."""
    return _addition.draw(tables["regularised_addition"], "nuclear", readings, SHOWN)
