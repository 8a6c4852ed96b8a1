"""Figure 8: how few frequencies the transformers use."""

import pandas as pd
from matplotlib.figure import Figure

from grokatlas.papers.grokalign import _jacobians
from grokatlas.papers.jacobian_alignment._cases import ROWS


def draw(tables: dict[str, pd.DataFrame]) -> tuple[Figure, pd.DataFrame]:
    """Gini coefficients of embedding and logits, with and without GrokAlign."""
    return _jacobians.transformers(tables["transformer"], ROWS, ("gini",))
