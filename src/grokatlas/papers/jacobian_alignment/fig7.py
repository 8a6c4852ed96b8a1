"""Figure 7: transformers with learned and with fixed embedding."""

import pandas as pd
from matplotlib.figure import Figure

from grokatlas.papers.grokalign import _jacobians
from grokatlas.papers.jacobian_alignment._cases import ROWS


def draw(tables: dict[str, pd.DataFrame]) -> tuple[Figure, pd.DataFrame]:
    """Accuracies and alignment of centroids."""
    return _jacobians.transformers(tables["transformer"], ROWS, ("accuracy", "alignment"))
