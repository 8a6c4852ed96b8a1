"""Figure 7: generalisation inhibited by holding the Jacobian's norm."""

from grokatlas.claims.statistics import Tables
from grokatlas.papers.grokalign import _jacobians
from grokatlas.plots.style import FigureAndData

CASES = {"baseline": "weight_decay", "minimised": "grokalign", "constrained": "constrained"}


def draw(tables: Tables) -> FigureAndData:
    """Accuracies, norms and alignments of centroids, with three treatments of the norm."""
    return _jacobians.inhibited(tables["inhibited"], CASES)
