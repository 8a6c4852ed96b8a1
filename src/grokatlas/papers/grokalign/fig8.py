"""Figure 8: the transformer with a learned embedding."""

from grokatlas.claims.statistics import Tables
from grokatlas.papers.grokalign import _jacobians
from grokatlas.plots.style import FigureAndData

ROWS = {"learned embedding": "transformer"}


def draw(tables: Tables) -> FigureAndData:
    """Accuracies, alignment of centroids, and how sparse embedding and logits are in frequency."""
    panels = ("accuracy", "alignment", "gini")
    return _jacobians.transformers(tables, ROWS, panels)
