"""Figure 9: the transformer with a fixed embedding."""

import pandas as pd
from matplotlib.figure import Figure

from grokatlas.plots import jacobians

ROWS = {"fixed embedding": "fixed", "fixed unembedding too": "both_fixed"}


def draw(tables: dict[str, pd.DataFrame]) -> tuple[Figure, pd.DataFrame]:
    """As figure 8, the embedding fixed (above), and the unembedding as well (below)."""
    panels = ("accuracy", "alignment", "gini")
    return jacobians.transformers(tables["transformer"], ROWS, panels)
