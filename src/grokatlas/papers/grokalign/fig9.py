"""Figure 9: the transformer with a fixed embedding and unembedding."""

import pandas as pd
from matplotlib.figure import Figure

from grokatlas.plots import jacobians

ROWS = {"both fixed": "both_fixed", "fixed embedding": "fixed"}


def draw(tables: dict[str, pd.DataFrame]) -> tuple[Figure, pd.DataFrame]:
    """As figure 8, embedding and unembedding fixed (above), the embedding alone (below)."""
    panels = ("accuracy", "alignment", "gini")
    return jacobians.transformers(tables["transformer"], ROWS, panels)
