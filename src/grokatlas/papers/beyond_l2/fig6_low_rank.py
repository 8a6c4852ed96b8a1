"""Figure 6 for matrices: completion, time and error against step size times weight."""

from grokatlas.claims.statistics import Tables
from grokatlas.papers.beyond_l2 import _quantities, _scaling
from grokatlas.plots.style import FigureAndData

WEIGHT = "dynamics.weight"
DISTANCE = "$\\|\\hat{A} - A^*\\|_{2 \\rightarrow 2}$"
ERROR = "$\\frac{1}{\\sqrt{n}}\\|A(t_2) - A^*\\|_*$"


def draw(tables: Tables) -> FigureAndData:
    """t2, and the nuclear distance there, with their predicted lines."""
    table = tables["matrix_scaling"]
    recoveries = _quantities.scaling(table, WEIGHT, "nuclear_distance")
    recoveries["error"] /= table["task.rows"].iloc[0] ** 0.5
    return _scaling.draw(recoveries, WEIGHT, ERROR, DISTANCE), recoveries
