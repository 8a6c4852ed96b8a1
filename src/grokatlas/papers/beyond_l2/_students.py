"""Losses of students for all step sizes and weights."""

import pandas as pd
from matplotlib.axes import Axes

from grokatlas.claims.statistics import Points
from grokatlas.papers.beyond_l2 import _panels, _quantities, _student_numbers
from grokatlas.plots import marks, panels, style
from grokatlas.plots.style import FigureAndData

RATE = "optimizer.lr"
LINES = {"train_error_half": "-", "test_error_half": "--"}


def draw(table: pd.DataFrame, weight: str, digitised_points: Points) -> FigureAndData:
    """A column for each step size: half of both losses, on a linear and a logarithmic axis.

    Open marks on the linear axes are `digitised_points`; `weight` is the column of the
    regulariser's weight.
    """
    history = _panels.of(table, "history")
    history = history[history["step"] > 0].sort_values("step")
    for name in ("train", "test"):
        history[f"{name}_error_half"] = history[f"{name}_squared_error"] / 2
    colours = style.weights(history[weight].unique())
    rates = sorted(history[RATE].unique())
    made, grid = style.figure(len(rates), 2, height=2.1, sharey="row")
    late = history["step"] > 0.01 * history["step"].max()  # the first errors are far larger
    top = 1.25 * history.loc[late, "test_error_half"].max()
    drawn = []
    for column, rate in enumerate(rates):
        rows = history[history[RATE] == rate]
        for axes, scale, part in zip(grid[:, column], ("linear", "log"), PARTS, strict=True):
            drawn.append(part(axes, rows, weight, colours).assign(**{RATE: rate}))
            axes.set(xscale="log", yscale=scale, xlabel="step")
        panel = _quantities.rate_panel(rate)
        curves = {_student_numbers.fall_curve(value): shade for value, shade in colours.items()}
        for curve, shade in {_student_numbers.PLATEAU: style.GUIDE, **curves}.items():
            seen = marks.published(grid[0, column], digitised_points, panel, curve, shade)
            drawn.append(seen.assign(**{RATE: rate}))
        panels.limits(grid[0, column], "y", 0, top)
        style.letter(grid[0, column], f"{'abcdef'[column]}  $\\alpha$ = {rate:g}")
        style.letter(grid[1, column], "abcdefghij"[len(rates) + column])
    for axes in grid[:, 0]:
        axes.set_ylabel("half the mean squared error")
    for value, colour in colours.items():
        grid[0, 0].plot([], [], color=colour, label=f"$\\beta = {_panels.at(value)}$")
    for text, dashes in (("train", "-"), ("test", "--")):
        grid[0, 0].plot([], [], color=style.GUIDE, ls=dashes, label=text)
    if digitised_points:
        marks.published_key(grid[0, 0])
    columns = len(colours) + 2 + bool(digitised_points)
    panels.legend(made, loc="outside upper right", ncols=columns, columnspacing=0.9)
    return made, pd.concat(drawn, ignore_index=True) if drawn else pd.DataFrame()


def _networks(
    axes: Axes, rows: pd.DataFrame, weight: str, colours: dict[float, str]
) -> pd.DataFrame:
    """Both losses of every network, for each weight: as published, where there is one."""
    drawn = []
    for (value, seed), part in rows.groupby([weight, "seed"]):
        for column, dashes in LINES.items():
            line = style.Look(color=colours[value], lw=0.8, ls=dashes)
            axes.plot(part["step"], part[column], **line)
            seen = part[["step", column]].rename(columns={column: "value"})
            drawn.append(seen.assign(**{"series": column, weight: value, "seed": seed}))
    return pd.concat(drawn)


def _medians(
    axes: Axes, rows: pd.DataFrame, weight: str, colours: dict[float, str]
) -> pd.DataFrame:
    """Median and range over networks of both losses, for each weight."""
    drawn = []
    for value, part in rows.groupby(weight):
        for column, dashes in LINES.items():
            line = style.Look(color=colours[value], lw=1, ls=dashes)
            drawn.append(marks.spread(axes, part, column, **line).assign(**{weight: value}))
    return pd.concat(drawn)


PARTS = (_networks, _medians)  # of the rows of panels
