"""Figure 4: accuracy under noise on XOR clusters."""

from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from grokatlas.papers.grokalign import _robustness


def draw(
    tables: dict[str, pd.DataFrame], digitised_points: list[dict[str, Any]]
) -> tuple[Figure, pd.DataFrame]:
    """Alignment of a centroid and accuracies, with weight decay (above) and GrokAlign (below)."""
    return _robustness.under_noise(tables["xor"], ("weight_decay", "grokalign"), digitised_points)
