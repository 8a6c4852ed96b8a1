"""Figure 9: the transformer with a fixed embedding, and with a fixed unembedding as well."""

from grokatlas.claims.statistics import Tables
from grokatlas.papers.grokalign import _jacobians
from grokatlas.plots.style import FigureAndData

ROWS = {
    "fixed embedding": "transformer_fixed_embedding",
    "both fixed": "transformer_both_fixed",
}


def draw(tables: Tables) -> FigureAndData:
    """As figure 8, the embedding alone fixed (above), the unembedding too (below)."""
    panels = ("accuracy", "alignment", "gini")
    return _jacobians.transformers(tables, ROWS, panels)
