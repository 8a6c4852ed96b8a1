"""Linear regression: the closed form of both phases beside a simulation (appendix C)."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from grokatlas.claims.statistics import Tables
from grokatlas.papers.two_timescales import _panels, _quantities
from grokatlas.plots import panels, style
from grokatlas.plots.style import FigureAndData

QUANTITIES = {"train_loss": "train", "test_loss": "test", "squared_norm": "l2"}


def draw(tables: Tables) -> FigureAndData:
    """Losses and norm by closed form and simulation, the slow rate, and their difference."""
    rows = _quantities.regression(tables["linear_regression"])
    made = Figure(figsize=(style.TEXT_WIDTH, 4.9))
    grid = made.add_gridspec(2, 2, height_ratios=[1.15, 1])
    _losses(made.add_subplot(grid[0, :]), rows[rows["seed"] == _panels.SHOWN])
    excess = _excess(made.add_subplot(grid[1, 0]), rows[rows["case"] == "flow"])
    difference = _difference(made.add_subplot(grid[1, 1]), rows)
    return made, pd.concat([rows, excess, difference], ignore_index=True)


def _losses(axes: Axes, rows: pd.DataFrame) -> None:
    right = _panels.twin(axes)
    flow, simulation = (rows[rows["case"] == case] for case in ("flow", "simulation"))
    some = simulation.iloc[:: max(1, len(simulation) // 30)]
    for column, key in QUANTITIES.items():
        shown = right if key == "l2" else axes
        label = "squared norm (right)" if key == "l2" else key
        shown.plot(flow["time"], flow[column], color=style.COLOURS[key])
        shown.plot(some["time"], some[column], "o", color=style.COLOURS[key], ms=2.5)
        axes.plot([], [], color=style.COLOURS[key], label=label)
    axes.plot([], [], "o", color=style.GUIDE, ms=2.5, label="simulated")
    axes.set(xscale="log", yscale="log", xlabel="time t", ylabel="mean squared error")
    panels.limits(axes, "x", simulation["time"].min(), simulation["time"].max())
    right.set_ylim(0, None)
    _panels.legend(axes, 4)
    style.letter(axes, "a  the flow in closed form (lines)")


def _excess(axes: Axes, rows: pd.DataFrame) -> pd.DataFrame:
    """The squared norm above its last value; the dashed line has the rate 2 lambda."""
    drawn = []
    for index, (seed, part) in enumerate(rows.groupby("seed")):
        over = _quantities.norm_excess(part)
        colour = style.MEMBERS[index % len(style.MEMBERS)]
        axes.plot(over["time"], over["norm_excess"], color=colour, label=str(seed))
        drawn.append(over)
    axes.set(yscale="log", xlabel="time t", ylabel="squared norm above its end")
    style.letter(axes, "b  slow phase: rate 2λ of the null space")
    if not drawn or drawn[0].empty:
        return rows.assign(case="excess").head(0)
    decay, end = float(rows["decay"].iloc[0]), 0.75 * rows["time"].max()
    times = np.linspace(0, end, 2)
    reference = drawn[0]
    middle = (reference["time"] - 0.2 * end).abs().idxmin()
    start = reference.loc[middle, "norm_excess"] * np.exp(2 * decay * reference.loc[middle, "time"])
    slope = style.Look(color=style.GUIDE, ls="--", lw=0.9, label="$e^{-2 \\lambda t}$")
    line = start * np.exp(-2 * decay * times)
    axes.plot(times, 3 * line, **slope)
    panels.limits(axes, "x", 0, end)
    panels.limits(axes, "y", line.min() / 10)
    axes.legend(title="seed", title_fontsize=7, ncols=2)
    return pd.concat(drawn).assign(case="excess")


def _difference(axes: Axes, rows: pd.DataFrame) -> pd.DataFrame:
    """|simulation / closed form - 1| of test loss and norm, at the same steps."""
    differences = _quantities.difference(rows)
    for column in ("test_loss", "squared_norm"):
        colour = style.COLOURS[QUANTITIES[column]]
        name = "squared norm" if column == "squared_norm" else "test loss"
        for index, (_, part) in enumerate(differences.groupby("seed")):
            shown = part[part[f"{column}_difference"] > 0]
            line = style.Look(color=colour, lw=0.7, label=name if index == 0 else None)
            axes.plot(shown["time"], shown[f"{column}_difference"], **line)
    axes.set(xscale="log", yscale="log", xlabel="time t", ylabel="relative difference")
    if axes.lines:
        axes.legend()
    style.letter(axes, "c  simulation and closed form of descent")
    return differences.reset_index().assign(case="difference")
