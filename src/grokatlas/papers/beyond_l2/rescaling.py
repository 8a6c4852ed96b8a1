"""Rescaled starts of a product of two factors: when weight decay moves on to the sparse fit."""

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from grokatlas.claims.statistics import Tables
from grokatlas.papers.beyond_l2 import _rescaling
from grokatlas.plots import panels, style
from grokatlas.plots.style import FigureAndData

SHOWN = 0  # the seed of panels a and b
TITLES = {"scaled": "a  $u_0 = \\gamma$, $v_0 = 0$", "orbit": "b  the same $u_0 \\circ v_0$"}
MARKS = {
    "scaled": ("o", style.COLOURS["l2"], "starts of a"),
    "orbit": ("^", style.COLOURS["l1"], "starts of b"),
    "weight": ("s", style.MUTED, "of a, smaller $\\beta$"),
}


def draw(tables: Tables) -> FigureAndData:
    """Distance to the least l1 norm over time from both kinds of start, and the times t2."""
    table = tables["rescaled_factors"]
    rows, transitions = _rescaling.path(table), _rescaling.transitions(table)
    made, grid = style.figure(3, height=2.6)
    colours = style.sequence(rows["gamma"].unique())
    drawn = [
        _distances(axes, rows[(rows["kind"] == kind) & (rows["seed"] == SHOWN)], title, colours)
        for axes, (kind, title) in zip(grid[0], TITLES.items(), strict=False)
    ]
    _times(grid[0, 2], transitions)
    return made, pd.concat([*drawn, transitions], ignore_index=True)


def _distances(
    axes: Axes, rows: pd.DataFrame, title: str, colours: dict[float, Any]
) -> pd.DataFrame:
    """Trained (lines) and predicted (dotted), a colour for each start."""
    for gamma, part in rows.groupby("gamma"):
        axes.plot(part["slow_time"], part["distance_l1"], color=colours[gamma], label=f"{gamma:g}")
        axes.plot(part["slow_time"], part["predicted_l1"], ":", color="#000000", lw=1.0)
        axes.axvline(np.log(gamma), color=colours[gamma], lw=0.6, ls="--", zorder=1)
    if len(rows):
        axes.axhline(rows["between"].iloc[0], color=style.GUIDE, lw=0.8, zorder=1)
        axes.legend(title="$\\gamma$", loc="upper right", fontsize=6, title_fontsize=7)
    axes.set(xlabel="$\\beta t$", ylabel="$|a - a_1|\\, /\\, |a_1|$", ylim=(0, None))
    style.letter(axes, title)
    return rows[
        ["kind", "gamma", "beta", "seed", "slow_time", "distance_l1", "predicted_l1", "between"]
    ]


def _times(axes: Axes, transitions: pd.DataFrame) -> None:
    """``beta t2`` of every seed against gamma, with a guide of slope 1."""
    for kind, (mark, colour, label) in MARKS.items():
        for index, (_, part) in enumerate(transitions[transitions["kind"] == kind].groupby("seed")):
            line = style.Look(color=colour, ms=3.5, label=None if index else label)
            line |= {"ls": "none", "mfc": "none"} if kind == "weight" else {"lw": 0.7}
            axes.plot(part["gamma"], part["time"], marker=mark, **line)
    ends = np.array([transitions["gamma"].min(), transitions["gamma"].max()])
    if len(transitions) and ends[0] > 0:
        guide = style.Look(color=style.GUIDE, ls="--", lw=0.9, label="$\\log\\gamma$")
        axes.plot(ends, np.log(ends), **guide)
        panels.logarithmic(axes, transitions["gamma"])
        axes.legend(loc="lower right", fontsize=6)
        panels.limits(axes, "y", -0.35 * transitions["time"].max())  # room for the legend
    axes.set(xlabel="$\\gamma$", ylabel="$\\beta t_2$")
    style.letter(axes, "c  time of the change")
