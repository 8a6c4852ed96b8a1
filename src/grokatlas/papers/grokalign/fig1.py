"""Figure 1: linear regions at memorisation, at generalisation and at the end."""

import pandas as pd
from matplotlib.figure import Figure

from grokatlas.papers.grokalign import _regions


def draw(tables: dict[str, pd.DataFrame]) -> tuple[Figure, pd.DataFrame]:
    """The three images, and the regions of their plane at three moments, with centroids."""
    return _regions.moments(tables["regions"], plane=0)
