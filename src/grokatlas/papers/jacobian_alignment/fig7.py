"""Figure 7: transformers with learned and with fixed embedding."""

from grokatlas.claims.statistics import Tables
from grokatlas.papers.grokalign import _jacobians
from grokatlas.papers.jacobian_alignment._cases import ROWS
from grokatlas.plots.style import FigureAndData


def draw(tables: Tables) -> FigureAndData:
    """Accuracies and alignment of centroids."""
    return _jacobians.transformers(tables, ROWS, ("accuracy", "alignment"))
