"""Plate 5 with smooth units: the flow beside training, and units at their kinks."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from grokatlas.claims.statistics import Tables
from grokatlas.papers.plates import _smooth_units, _theories
from grokatlas.papers.plates._smooth_units import AT_KINKS, RELU
from grokatlas.plots import marks, panels, style
from grokatlas.plots.style import FigureAndData

KINKED = style.MEMBERS[1]
NEAR = (0.97, 1.03)  # shaded


def draw(tables: Tables) -> FigureAndData:
    """Predicted over measured times against lambda (a), and units at kinks in slow time (b)."""
    made, grid = style.figure(2, height=2.6)
    quotients, history = _smooth_units.compared(tables), _smooth_units.at_kinks(tables)
    tried = quotients["sharpness"].unique()
    colours = style.sequence(value for value in tried if value < RELU) | {RELU: KINKED}
    drawn = [
        _quotients(grid[0, 0], quotients, colours).assign(panel="a"),
        _at_kinks(grid[0, 1], history, colours).assign(panel="b"),
    ]
    for axes, letter in zip(grid.flat, "ab", strict=True):
        style.letter(axes, letter)
    panels.above(made, *grid.flat, ncols=6)
    return made, pd.concat(drawn, ignore_index=True)


def _name(sharpness: float) -> str:
    return "ReLU" if sharpness == RELU else f"softplus, sharpness {sharpness:g}"


def _quotients(axes: Axes, rows: pd.DataFrame, colours: dict[float, object]) -> pd.DataFrame:
    """Marks are seeds, lines go through their medians."""
    axes.axhspan(*NEAR, color=style.MUTED, alpha=0.25, lw=0, zorder=0)
    axes.axhline(1, color="black", lw=0.7, zorder=1)
    tried = rows.loc[rows["sharpness"] < RELU, "weight_decay"].unique()
    rows = rows[rows["weight_decay"].isin(tried)]
    known = rows[np.isfinite(rows["quotient"]) & (rows["quotient"] > 0)]
    for sharpness in sorted(colours, reverse=True):
        part = known[known["sharpness"] == sharpness]
        middle = part.groupby("weight_decay")["quotient"].median()
        look = style.Look(color=colours[sharpness])
        axes.plot(part["weight_decay"], part["quotient"], "o", ms=3, lw=0, alpha=0.7, **look)
        axes.plot(middle.index, middle, lw=1, label=_name(sharpness), **look)
    panels.logarithmic(axes, known["weight_decay"])
    axes.set(xlabel="$\\lambda$", ylabel="$t_2$, predicted / measured")
    return rows


def _at_kinks(axes: Axes, rows: pd.DataFrame, colours: dict[float, object]) -> pd.DataFrame:
    """Training (full lines) and the flow (dotted), the median of seeds with their range."""
    weight = rows.loc[rows["case"] == "relu", _theories.DECAY]
    trained = rows["case"].str.startswith("equal") & rows[_theories.DECAY].isin(weight)
    flow = rows["case"].isin(["joint", "relu_joint"])
    drawn = []
    for sharpness in sorted(colours, reverse=True):
        own = rows[rows["sharpness"] == sharpness]
        for chosen, dashes in ((trained | (rows["case"] == "relu"), "-"), (flow, ":")):
            part = own[chosen.loc[own.index]]
            if len(part):
                look = style.Look(color=colours[sharpness], ls=dashes, lw=1.1)
                seen = marks.spread(axes, part, AT_KINKS, "slow_time", **look)
                drawn.append(seen.assign(sharpness=sharpness, flow=dashes == ":"))
    axes.set(xlabel="slow time", ylabel="share of preactivations\nat a kink", yscale="log")
    panels.limits(axes, "x", 0, rows.loc[flow, "slow_time"].max())
    return pd.concat(drawn, ignore_index=True) if drawn else pd.DataFrame()
