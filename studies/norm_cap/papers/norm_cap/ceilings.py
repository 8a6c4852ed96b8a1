"""Test accuracy and hidden norm against steps, for each ceiling."""

import pandas as pd

from grokatlas.claims import statistics
from grokatlas.plots import marks, style
from grokatlas.plots.style import FigureAndData

PANELS = {"test_accuracy": "a  test accuracy", "hidden_norm": "b  norm of hidden matrices"}


def draw(tables: dict[str, pd.DataFrame]) -> FigureAndData:
    """Medians over seeds with their range, one colour for each ceiling."""
    history = statistics.history(tables["s5"])
    history = history[history["step"] > 0]
    made, grid = style.figure(2, 1, height=2.6, sharex=True)
    caps = sorted(history["cap"].unique())  # "none" comes last
    colours = style.sequence(range(len(caps)))
    drawn = []
    for axes, (column, title) in zip(grid[0], PANELS.items(), strict=True):
        for place, cap in enumerate(caps):
            rows = history[history["cap"] == cap]
            curve = marks.spread(axes, rows, column, color=colours[place], label=cap)
            drawn.append(curve.assign(cap=cap))
        axes.set(xscale="log", xlabel="step")
        style.letter(axes, title)
    grid[0, 1].set_yscale("log")
    grid[0, 0].legend(title="ceiling k", title_fontsize=7)
    return made, pd.concat(drawn, ignore_index=True)
