"""Figure 2: Jacobians become rank one."""

import pandas as pd
from matplotlib.figure import Figure

from grokatlas.papers.grokalign import _jacobians

CASES = {
    "cross-entropy": {"weight_decay": "ce_baseline", "grokalign": "ce_grokalign"},
    "squared error": {"weight_decay": "mse_baseline", "grokalign": "mse_grokalign"},
}


def draw(tables: dict[str, pd.DataFrame]) -> tuple[Figure, pd.DataFrame]:
    """The share of the first principal component, with weight decay alone and with GrokAlign.

    Above with table 2's initial weights, below with unscaled ones.
    """
    return _jacobians.rank_one([tables["common_budget"], tables["unit_scale"]], CASES)
