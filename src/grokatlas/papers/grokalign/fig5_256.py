"""Figure 5 with 256 images: robustness that comes after generalisation, on one core."""

import pandas as pd
from matplotlib.figure import Figure

from grokatlas.papers.grokalign import _robustness


def draw(tables: dict[str, pd.DataFrame]) -> tuple[Figure, pd.DataFrame]:
    """Rank of Jacobians, alignment of centroids, and accuracy on clean and attacked images."""
    table, published = (tables[f"delayed_robustness_256{end}"] for end in ("", "_as_published"))
    return _robustness.under_attack(table, published, ("weight_decay", "grokalign"))
