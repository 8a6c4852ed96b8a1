"""Figure 4: a diagonal linear network."""

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from grokatlas.papers.two_timescales import _panels


def draw(tables: dict[str, pd.DataFrame]) -> tuple[Figure, pd.DataFrame]:
    """Losses with the squared norm, and the predictor of seed 0 at three times."""
    table = tables["diagonal_network"]
    made, losses, panels, drawn = _panels.losses_above_predictors(table, others=False, readings=[])
    losses.set(yscale="log")
    for axes in panels:
        axes.set_xticks([-np.pi, 0, np.pi], ["$-\\pi$", "0", "$\\pi$"])
    panels[0].legend(loc="lower center", ncols=3, fontsize=6, columnspacing=0.8)
    return made, drawn
