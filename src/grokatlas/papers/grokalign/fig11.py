"""Figure 11: linear regions at the end of training, in the planes of other training points."""

from grokatlas.claims.statistics import Tables
from grokatlas.papers.grokalign import _regions
from grokatlas.plots.style import FigureAndData


def draw(tables: Tables) -> FigureAndData:
    """Regions of six planes, with inputs and centroids."""
    return _regions.planes(tables["regions"], "end", list(range(1, 7)))
