"""Figure 11: linear regions at the end of training, in the planes of other training points."""

import pandas as pd
from matplotlib.figure import Figure

from grokatlas.papers.grokalign import _regions


def draw(tables: dict[str, pd.DataFrame]) -> tuple[Figure, pd.DataFrame]:
    """Regions of six planes, with inputs and centroids."""
    return _regions.planes(tables["regions"], "end", list(range(1, 7)))
