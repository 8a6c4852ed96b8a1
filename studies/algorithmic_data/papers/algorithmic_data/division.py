"""Accuracies on division without and with weight decay."""

import pandas as pd
from matplotlib.figure import Figure

from grokatlas.claims import statistics
from grokatlas.plots import marks, panels, style

CASES = {"no_decay": "a  no weight decay", "decay": "b  weight decay 1"}
PARTS = {"train": "training", "test": "test"}


def draw(tables: dict[str, pd.DataFrame]) -> tuple[Figure, pd.DataFrame]:
    """Training and test accuracy against updates, a panel for each case."""
    made, grid = style.figure(2, 1, height=2.5, sharex=True, sharey=True)
    drawn = []
    for axes, (case, title) in zip(grid[0], CASES.items(), strict=True):
        rows = statistics.history(tables["division"], case=case)
        for part, label in PARTS.items():
            look = style.Look(color=style.COLOURS[part], label=label)
            drawn.append(marks.spread(axes, rows, f"{part}_accuracy", **look).assign(panel=case))
        axes.set(xscale="symlog", xlabel="update")
        panels.limits(axes, "x", low=0)
        panels.limits(axes, "y", low=-0.03, high=1.03)
        style.letter(axes, title)
    grid[0, 0].set_ylabel("accuracy")
    panels.above(made, grid[0, 0])
    return made, pd.concat(drawn, ignore_index=True)
