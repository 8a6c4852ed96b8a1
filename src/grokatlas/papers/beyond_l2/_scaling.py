"""Scatter of recovery times and final errors against step size times weight."""

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from grokatlas.papers.beyond_l2 import _panels, _quantities
from grokatlas.plots import panels, style


def draw(recoveries: pd.DataFrame, weight: str, error_label: str, distance: str) -> Figure:
    """Times (left) and errors (right) of the published instance, and of others in grey."""
    colours = style.weights(recoveries[weight].unique())
    made, grid = style.figure(2, height=2.9)
    main = recoveries[recoveries["case"] == "published"]
    size = main["least_squares_distance"].head(1).max()
    known = recoveries.loc[recoveries["product"] > 0, "product"]
    line = np.array([known.min() / 2, known.max() * 2])
    left, right = grid[0]
    for axes, column in ((left, "t2"), (right, "error")):
        _scatter(axes, recoveries[recoveries["case"] != "published"], column, None)
        for value, rows in main.groupby(weight):
            _scatter(axes, rows, column, colours[value])
        axes.set(yscale="log", xlabel="$\\alpha\\beta$")
        panels.logarithmic(axes, recoveries["product"])
    black = {"color": "#333333", "lw": 0.9, "zorder": 1}
    left.plot(line, size / line, ls="--", label=f"{distance} $/\\,\\alpha\\beta$", **black)
    handles = right.plot(line, line, ls="--", label="$\\alpha\\beta$", **black)
    left.set_ylabel("$t_2$, in steps")
    right.set_ylabel(error_label)
    low, high = np.log10(right.get_ylim())
    right.set_ylim(top=10 ** (high + 0.5 * (high - low)))  # room for the weights' key
    left.plot([], [], "o", ms=3.5, color="#777777", label="published grid")
    if not main["complete"].all():
        hollow = {"mfc": "none", "color": "#777777", "label": "the same, cut by its last step"}
        left.plot([], [], "o", ms=3.5, **hollow)
    left.plot([], [], "+", ms=4, color=style.MUTED, label="other instances")
    left.legend(loc="lower left")
    _panels.keyed(right, colours, "$\\beta$", loc="upper left", ncols=2)
    for axes, column, letter in ((left, "t2", "a"), (right, "error", "b")):
        slope = _quantities.scaling_slope(main, weight, column)
        text = "no slope" if np.isnan(slope) else f"slope ${slope:.2f}$"
        style.letter(axes, f"{letter}  {text}, $\\beta \\leq 10^{{-2}}$")
    right.add_artist(right.get_legend())
    right.legend(handles=handles, loc="lower right")
    return made


def _scatter(axes: Axes, rows: pd.DataFrame, column: str, colour: Any) -> None:
    if colour is None:
        other = style.Look(color=style.MUTED, ms=3.5, mew=0.7, zorder=2)
        axes.plot(rows["product"], rows[column], "+", **other)
        return
    for complete, part in rows.groupby("complete"):
        fill = colour if complete else "none"
        mark = {"color": colour, "mfc": fill, "ms": 4, "zorder": 3}
        axes.plot(part["product"], part[column], "o", **mark)
