"""Figure 6 with 256 images: centroids of training images, as far as one core comes."""

from grokatlas.claims.statistics import Tables
from grokatlas.papers.grokalign import _robustness
from grokatlas.plots.style import FigureAndData


def draw(tables: Tables) -> FigureAndData:
    """Training images and their centroids, with weight decay and with GrokAlign."""
    table = tables["delayed_robustness_256"]
    return _robustness.centroid_images(table, ("weight_decay", "grokalign"))
