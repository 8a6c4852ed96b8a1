"""Figure 8: the transformer with a learned embedding."""

import pandas as pd
from matplotlib.figure import Figure

from grokatlas.papers.grokalign import _jacobians

ROWS = {"learned embedding": "learned"}


def draw(tables: dict[str, pd.DataFrame]) -> tuple[Figure, pd.DataFrame]:
    """Accuracies, alignment of centroids, and how sparse embedding and logits are in frequency."""
    panels = ("accuracy", "alignment", "gini")
    return _jacobians.transformers(tables["transformer"], ROWS, panels)
