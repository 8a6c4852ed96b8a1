"""Figure 4: accuracy under noise on XOR clusters."""

import pandas as pd
from matplotlib.figure import Figure

from grokatlas.papers.grokalign import _robustness


def draw(tables: dict[str, pd.DataFrame]) -> tuple[Figure, pd.DataFrame]:
    """Alignment of a centroid and accuracies, with weight decay (above) and GrokAlign (below)."""
    return _robustness.under_noise(tables["xor"], ("weight_decay", "grokalign"))
