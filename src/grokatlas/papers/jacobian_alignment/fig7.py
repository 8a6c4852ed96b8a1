"""Figure 7: transformers with learned and with fixed embedding."""

import pandas as pd
from matplotlib.figure import Figure

from grokatlas.papers.jacobian_alignment._cases import ROWS
from grokatlas.plots import jacobians


def draw(tables: dict[str, pd.DataFrame]) -> tuple[Figure, pd.DataFrame]:
    """Accuracies and alignment of centroids."""
    return jacobians.transformers(tables["transformer"], ROWS, ("accuracy", "alignment"))
