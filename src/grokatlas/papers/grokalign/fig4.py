"""Figure 4: accuracy under noise on XOR clusters."""

from grokatlas.claims.statistics import Points, Tables
from grokatlas.papers.grokalign import _robustness
from grokatlas.plots.style import FigureAndData


def draw(tables: Tables, digitised_points: Points) -> FigureAndData:
    """Alignment of a centroid and accuracies, with weight decay (above) and GrokAlign (below)."""
    return _robustness.under_noise(tables["xor"], ("weight_decay", "grokalign"), digitised_points)
