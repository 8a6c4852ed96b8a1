"""Figure 8: how few frequencies the transformers use."""

from grokatlas.claims.statistics import Tables
from grokatlas.papers.grokalign import _jacobians
from grokatlas.papers.jacobian_alignment._cases import ROWS
from grokatlas.plots.style import FigureAndData


def draw(tables: Tables) -> FigureAndData:
    """Gini coefficients of embedding and logits, with and without GrokAlign."""
    return _jacobians.transformers(tables, ROWS, ("gini",))
