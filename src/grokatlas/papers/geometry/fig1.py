"""Figure 1: a linear model of two weights, three weight decays."""

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from grokatlas.claims.statistics import Tables
from grokatlas.plots import style
from grokatlas.plots.style import FigureAndData

DECAY = "penalties.0.weight"
WEIGHTS = ["parameters.weight.0", "parameters.weight.1"]


def draw(tables: Tables) -> FigureAndData:
    """Trajectories in the weight plane (whole, and near the solution), train and test loss."""
    rows = tables["two_weights"].query("record == 'history'").sort_values([DECAY, "step"])
    colours = style.weights(rows[DECAY].unique().tolist())
    made, grid = style.figure(2, 2, height=2.6)
    _plane(grid[0, 0], rows, colours)
    style.letter(grid[0, 0], "a  trajectories in the weight plane")
    grid[0, 0].set(xlim=(-1.5, 2.5), ylim=(-0.5, 2.5))
    _plane(grid[0, 1], rows, colours)
    style.letter(grid[0, 1], "b  near the solution of least norm")
    grid[0, 1].set(xlim=(0.78, 1.12), ylim=(0.86, 1.12))
    for axes, column, title in (
        (grid[1, 0], "train_loss", "c  training loss"),
        (grid[1, 1], "test_loss", "d  test loss"),
    ):
        for decay, part in rows.query("step > 0").groupby(DECAY):
            axes.loglog(part["step"], part[column], color=colours[decay], label=_label(decay))
        axes.set(xlabel="step", ylabel="mean squared error")
        style.letter(axes, title)
    grid[0, 0].legend(loc="lower left", title="weight decay", title_fontsize=7)
    return made, rows[[DECAY, "step", *WEIGHTS, "train_loss", "test_loss"]]


def _plane(axes: Axes, rows: pd.DataFrame, colours: dict[float, Any]) -> None:
    line = np.array([-3.0, 5.0])
    axes.plot(line, 2 - line, color=style.COLOURS["zero_loss"], lw=0.8, ls="--", zorder=1)
    for decay, part in rows.groupby(DECAY):
        x, y = (part[weight] for weight in WEIGHTS)
        axes.plot(x, y, color=colours[decay], marker=".", ms=2.5, lw=1, label=_label(decay))
        axes.plot(x.iloc[-1:], y.iloc[-1:], "o", color=colours[decay], ms=5, mec="white", zorder=4)
    axes.plot([-1], [1], "k^", ms=5, zorder=4)
    axes.plot([1], [1], "k*", ms=7, mec="white", mew=0.4, zorder=6)
    axes.set(xlabel="$w_1$", ylabel="$w_2$", aspect="equal", adjustable="box")


def _label(decay: float) -> str:
    return f"$\\lambda$ = {decay:g}"
