"""Figure 10: the scale of weights or outputs."""

from grokatlas.claims.statistics import Tables
from grokatlas.papers.grokalign import _jacobians
from grokatlas.plots.style import FigureAndData

CASES = {"weights": "model.init_scale", "outputs": "model.output_scale"}


def draw(tables: Tables) -> FigureAndData:
    """First rates of the inner product, and extreme alignments of centroids."""
    return _jacobians.scales(tables["scales"], CASES)
