"""Modular addition under nuclear regularisation, for all step sizes and weights."""

from grokatlas.claims.statistics import Points, Tables
from grokatlas.papers.beyond_l2 import _addition
from grokatlas.papers.beyond_l2._addition_numbers import RATE
from grokatlas.plots.style import FigureAndData

CASES = {1e-3: "nuclear_batches"}  # by step size; of the others: nuclear
SHOWN = {1e-3: 20000, 1e-2: 4100, 1e-1: 2200}  # steps by step size, as published


def draw(tables: Tables, digitised_points: Points) -> FigureAndData:
    """A panel for each step size: accuracies for all weights.

    Batches are those that the published panels show: the code's at the smallest step size.
    """
    table = tables["regularised_addition"]
    cases = table[RATE].map(CASES).fillna("nuclear")
    return _addition.draw(table[table["case"] == cases], digitised_points, SHOWN)
