"""Figure 6: sparse recovery, time and error against step size times weight."""

from grokatlas.claims.statistics import Tables
from grokatlas.papers.beyond_l2 import _quantities, _scaling
from grokatlas.plots.style import FigureAndData

WEIGHT = "dynamics.l1"
DISTANCE = "$\\|\\hat{a} - a^*\\|_\\infty$"
ERROR = "$\\frac{1}{n}\\|a(t_2) - a^*\\|_1$"


def draw(tables: Tables) -> FigureAndData:
    """t2, and the mean absolute error there, with their predicted lines."""
    recoveries = _quantities.scaling(tables["sparse_scaling"], WEIGHT, "test_deviation")
    return _scaling.draw(recoveries, WEIGHT, ERROR, DISTANCE), recoveries
