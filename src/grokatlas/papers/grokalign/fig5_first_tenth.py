"""Figure 5 in the first tenth of its updates: what one core can do of it."""

from grokatlas.claims.statistics import Tables
from grokatlas.papers.grokalign import _robustness
from grokatlas.plots.style import FigureAndData


def draw(tables: Tables) -> FigureAndData:
    """Rank of Jacobians, alignment of centroids, and accuracy on clean and attacked images."""
    name = "delayed_robustness_first_tenth"
    table, published = tables[name], tables[f"{name}_as_published"]
    return _robustness.under_attack(table, published, ("weight_decay", "grokalign"))
