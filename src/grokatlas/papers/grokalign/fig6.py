"""Figure 6: centroids as images."""

from grokatlas.claims.statistics import Tables
from grokatlas.papers.grokalign import _robustness
from grokatlas.plots.style import FigureAndData


def draw(tables: Tables) -> FigureAndData:
    """Training images and their centroids, with weight decay and with GrokAlign."""
    return _robustness.centroid_images(tables["delayed_robustness"], ("weight_decay", "grokalign"))
