"""Losses of students for all step sizes and weights."""

import pandas as pd
from matplotlib.figure import Figure

from grokatlas.papers.beyond_l2 import _panels
from grokatlas.plots import panels, style

RATE = "optimizer.lr"


def draw(table: pd.DataFrame, weight: str) -> tuple[Figure, pd.DataFrame]:
    """A column for each step size: train and test loss, on a linear and a logarithmic axis."""
    history = _panels.of(table, "history")
    history = history[history["step"] > 0].sort_values("step")
    colours = style.weights(history[weight].unique())
    rates = sorted(history[RATE].unique())
    made, grid = style.figure(len(rates), 2, height=2.1, sharey="row")
    late = history["step"] > 0.01 * history["step"].max()  # the first errors are far larger
    top = 1.25 * history.loc[late, "test_squared_error"].max()
    for column, rate in enumerate(rates):
        rows = history[history[RATE] == rate]
        for axes, scale in zip(grid[:, column], ("linear", "log"), strict=True):
            for value, part in rows.groupby(weight):
                line = {"color": colours[value], "lw": 1}
                axes.plot(part["step"], part["train_squared_error"], ls="-", **line)
                axes.plot(part["step"], part["test_squared_error"], ls="--", **line)
            axes.set(xscale="log", yscale=scale, xlabel="step")
        panels.limits(grid[0, column], "y", 0, top)
        style.letter(grid[0, column], f"{'abcdef'[column]}  $\\alpha$ = {rate:g}")
    for axes in grid[:, 0]:
        axes.set_ylabel("mean squared error")
    for value, colour in colours.items():
        grid[0, 0].plot([], [], color=colour, label=f"$\\beta = {_panels.at(value)}$")
    grid[0, 0].plot([], [], color=style.GUIDE, ls="-", label="train")
    grid[0, 0].plot([], [], color=style.GUIDE, ls="--", label="test")
    made.legend(loc="outside upper right", ncols=len(colours) + 2, columnspacing=0.9)
    return made, history[
        [RATE, weight, "seed", "step", "train_squared_error", "test_squared_error"]
    ]
