"""Figure 6: centroids as images."""

import pandas as pd
from matplotlib.figure import Figure

from grokatlas.plots import robustness


def draw(tables: dict[str, pd.DataFrame]) -> tuple[Figure, pd.DataFrame]:
    """Training images and their centroids, with weight decay and with GrokAlign."""
    return robustness.centroid_images(tables["delayed_robustness"], ("weight_decay", "grokalign"))
