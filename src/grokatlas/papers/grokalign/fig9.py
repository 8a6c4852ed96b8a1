"""Figure 9: the transformer with a fixed embedding, and with a fixed unembedding as well."""

import pandas as pd
from matplotlib.figure import Figure

from grokatlas.papers.grokalign import _jacobians

ROWS = {"fixed embedding": "fixed", "both fixed": "both_fixed"}


def draw(tables: dict[str, pd.DataFrame]) -> tuple[Figure, pd.DataFrame]:
    """As figure 8, the embedding alone fixed (above), the unembedding too (below)."""
    panels = ("accuracy", "alignment", "gini")
    return _jacobians.transformers(tables["transformer"], ROWS, panels)
