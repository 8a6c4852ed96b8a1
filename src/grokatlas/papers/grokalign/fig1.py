"""Figure 1: linear regions at memorisation, at generalisation and at the end."""

from grokatlas.claims.statistics import Tables
from grokatlas.papers.grokalign import _regions
from grokatlas.plots.style import FigureAndData


def draw(tables: Tables) -> FigureAndData:
    """The three images, and the regions of their plane at three moments, with centroids."""
    return _regions.moments(tables["regions"], plane=0)
