"""Modular addition under l1 regularisation, for all step sizes and weights."""

from grokatlas.claims.statistics import Points, Tables
from grokatlas.papers.beyond_l2 import _addition
from grokatlas.plots.style import FigureAndData


def draw(tables: Tables, digitised_points: Points) -> FigureAndData:
    """A panel for each step size: accuracies for all weights."""
    table = tables["regularised_addition"]
    return _addition.draw(table[table["case"] == "l1"], digitised_points)
