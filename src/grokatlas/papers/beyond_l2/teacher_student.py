"""A ReLU student of a ReLU teacher under l1 regularisation."""

from grokatlas.claims.statistics import Points, Tables
from grokatlas.papers.beyond_l2 import _students
from grokatlas.plots.style import FigureAndData


def draw(tables: Tables, digitised_points: Points) -> FigureAndData:
    """Train and test loss for all step sizes and weights of the l1 norm."""
    return _students.draw(tables["teacher_student"], "penalties.0.weight", digitised_points)
