"""Figure 6: centroids as images."""

import pandas as pd
from matplotlib.figure import Figure

from grokatlas.papers.grokalign import _robustness


def draw(tables: dict[str, pd.DataFrame]) -> tuple[Figure, pd.DataFrame]:
    """Training images and their centroids, with weight decay and with GrokAlign."""
    return _robustness.centroid_images(tables["delayed_robustness"], ("weight_decay", "grokalign"))
