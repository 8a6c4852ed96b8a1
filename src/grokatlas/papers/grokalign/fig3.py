"""Figure 3: the tangent kernel and the alignment of centroids."""

from grokatlas.claims.statistics import Points, Tables
from grokatlas.papers.grokalign import _jacobians
from grokatlas.plots.style import FigureAndData


def draw(tables: Tables, digitised_points: Points) -> FigureAndData:
    """Mean of the tangent kernel, inner product and alignment of the first training point."""
    return _jacobians.kernel(tables["kernel"], digitised_points)
