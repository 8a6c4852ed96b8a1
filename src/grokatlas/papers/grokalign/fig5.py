"""Figure 5: robustness that comes after generalisation."""

from grokatlas.claims.statistics import Tables
from grokatlas.papers.grokalign import _robustness
from grokatlas.plots.style import FigureAndData


def draw(tables: Tables) -> FigureAndData:
    """Rank of Jacobians, alignment of centroids, and accuracy on clean and attacked images."""
    table, published = (tables[f"delayed_robustness{end}"] for end in ("", "_as_published"))
    return _robustness.under_attack(table, published, ("weight_decay", "grokalign"))
