"""Figure 3: two-layer ReLU regression."""

import pandas as pd
from matplotlib.figure import Figure

from grokatlas.papers.two_timescales import _panels
from grokatlas.plots import style


def draw(tables: dict[str, pd.DataFrame]) -> tuple[Figure, pd.DataFrame]:
    """Losses with the squared norm, and the student at three times; seed 0 and all seeds."""
    table = tables["two_layer_relu"]
    rows = _panels.over_time(table.query("record == 'history'"))
    curves = table.query("record == 'predictor_curve'")
    made = Figure(figsize=(style.TEXT_WIDTH, 4.7))
    grid = made.add_gridspec(2, 3, height_ratios=[1.1, 1])
    losses = made.add_subplot(grid[0, :])
    drawn = _panels.losses(losses, rows)
    losses.set_ylim(0, 2)
    times = curves["step"].drop_duplicates().sort_values() * float(rows["optimizer.lr"].iloc[0])
    _panels.mark_times(losses, times.tolist())
    style.letter(losses, f"a  losses and norm, seed 0 and range of {rows['seed'].nunique()} seeds")
    panels = [made.add_subplot(grid[1, place]) for place in range(3)]
    shown = _panels.predictors(panels, curves, others=True)
    panels[2].legend(loc="lower left")
    return made, pd.concat([drawn.assign(panel="a"), shown.assign(panel="bcd")], ignore_index=True)
