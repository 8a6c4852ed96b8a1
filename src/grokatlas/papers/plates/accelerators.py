"""Plate 7: every accelerator on every task."""

import pandas as pd
from matplotlib.figure import Figure

from grokatlas.papers.plates import _accelerators
from grokatlas.plots import style


def draw(tables: dict[str, pd.DataFrame]) -> tuple[Figure, pd.DataFrame]:
    """The matrix of methods on tasks."""
    made = _accelerators.summary(_accelerators.judged(tables))
    return Figure(figsize=(style.TEXT_WIDTH, 5.0)), made
