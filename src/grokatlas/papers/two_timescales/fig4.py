"""Figure 4: a diagonal linear network."""

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from grokatlas.papers.two_timescales import _panels
from grokatlas.plots import style


def draw(tables: dict[str, pd.DataFrame]) -> tuple[Figure, pd.DataFrame]:
    """Losses with the squared norm, and the predictor of seed 0 at three times."""
    table = tables["diagonal_network"]
    rows = _panels.over_time(table.query("record == 'history'"))
    curves = table.query("record == 'predictor_curve'")
    made = Figure(figsize=(style.TEXT_WIDTH, 4.7))
    grid = made.add_gridspec(2, 3, height_ratios=[1.1, 1])
    losses = made.add_subplot(grid[0, :])
    drawn = _panels.losses(losses, rows)
    losses.set(yscale="log")
    times = curves["step"].drop_duplicates().sort_values() * float(rows["optimizer.lr"].iloc[0])
    _panels.mark_times(losses, times.tolist())
    style.letter(losses, f"a  losses and norm, seed 0 and range of {rows['seed'].nunique()} seeds")
    panels = [made.add_subplot(grid[1, place]) for place in range(3)]
    shown = _panels.predictors(panels, curves, others=False)
    for axes in panels:
        axes.set_xticks([-np.pi, 0, np.pi], ["$-\\pi$", "0", "$\\pi$"])
    panels[0].legend(loc="lower center", ncols=3, fontsize=6, columnspacing=0.8)
    return made, pd.concat([drawn.assign(panel="a"), shown.assign(panel="bcd")], ignore_index=True)
