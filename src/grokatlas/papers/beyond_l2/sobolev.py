"""A ReLU student that is trained on its teacher's Jacobian as well."""

from grokatlas.claims.statistics import Points, Tables
from grokatlas.papers.beyond_l2 import _students
from grokatlas.plots.style import FigureAndData


def draw(tables: Tables, digitised_points: Points) -> FigureAndData:
    """Train and test loss for all step sizes and weights of the mismatch of Jacobians."""
    return _students.draw(tables["sobolev"], "loss.weight", digitised_points)
