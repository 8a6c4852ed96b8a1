"""Figure 10: the scale of weights or outputs."""

import pandas as pd
from matplotlib.figure import Figure

from grokatlas.papers.grokalign import _jacobians

CASES = {"weights": "model.init_scale", "outputs": "model.output_scale"}


def draw(tables: dict[str, pd.DataFrame]) -> tuple[Figure, pd.DataFrame]:
    """First rates of the inner product, and extreme alignments of centroids."""
    return _jacobians.scales(tables["scales"], CASES)
