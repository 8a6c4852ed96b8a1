"""Figure 6: the scale of weights or outputs."""

import pandas as pd
from matplotlib.figure import Figure

from grokatlas.papers.grokalign import _jacobians

CASES = {"weights": "model.init_scale", "outputs": "model.output_scale"}


def draw(tables: dict[str, pd.DataFrame]) -> tuple[Figure, pd.DataFrame]:
    """How fast the inner product changes at first, and how aligned centroids become."""
    return _jacobians.scales(tables["scales"], CASES)
