"""Accuracies with and without a filter that amplifies slow gradients."""

import pandas as pd
from matplotlib.figure import Figure

from grokatlas.claims import statistics
from grokatlas.plots import marks, panels, style

PANELS = {"multiplication": "a  multiplication", "mnist": "b  images"}
CASES = {
    "baseline": (style.GUIDE, "baseline"),
    "decay": (style.COLOURS["weight_decay"], "weight decay alone"),
    "ema": (style.COLOURS["grokfast"], "moving average"),
    "ma": (style.MEMBERS[4], "mean of a window"),
}
PARTS = {"train": ":", "test": "-"}


def draw(tables: dict[str, pd.DataFrame]) -> tuple[Figure, pd.DataFrame]:
    """A panel for each task, a colour for each case."""
    made, grid = style.figure(2, 1, height=2.7, sharey=True)
    drawn = []
    for axes, (experiment, title) in zip(grid[0], PANELS.items(), strict=True):
        history = statistics.history(tables[experiment])
        for case, (colour, label) in CASES.items():
            rows = history[history["case"] == case]
            for part, dashes in PARTS.items() if len(rows) else ():
                shown = label if part == "test" else None
                look = style.Look(color=colour, linestyle=dashes, label=shown)
                curve = marks.spread(axes, rows, f"{part}_accuracy", **look)
                drawn.append(curve.assign(panel=experiment, case=case, part=part))
        axes.set(xscale="symlog", xlabel="update")
        panels.limits(axes, "x", low=0)
        panels.limits(axes, "y", low=-0.03, high=1.03)
        style.letter(axes, title)
    grid[0, 0].set_ylabel("accuracy")
    panels.above(made, grid[0, 0])
    return made, pd.concat(drawn, ignore_index=True)
