"""Figure 2: Jacobians become rank one."""

from grokatlas.claims.statistics import Tables
from grokatlas.papers.grokalign import _jacobians
from grokatlas.plots.style import FigureAndData

CASES = {
    "cross-entropy": {"weight_decay": "ce_baseline", "grokalign": "ce_grokalign"},
    "squared error": {"weight_decay": "mse_baseline", "grokalign": "mse_grokalign"},
}


def draw(tables: Tables) -> FigureAndData:
    """The share of the first principal component, with weight decay alone and with GrokAlign.

    Above with table 2's initial weights, below with unscaled ones.
    """
    return _jacobians.rank_one([tables["common_budget"], tables["unit_scale"]], CASES)
