"""Panels of modular addition that several figures share: a line for each weight."""

from collections.abc import Iterable, Mapping

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.figure import Figure

from grokatlas.claims.statistics import Points
from grokatlas.papers.beyond_l2 import _addition_numbers, _panels, _quantities
from grokatlas.papers.beyond_l2._addition_numbers import RATE, WEIGHT
from grokatlas.plots import marks, panels, style
from grokatlas.plots.style import FigureAndData

KEYS = ["case", RATE, WEIGHT]
ACCURACIES = {"train_accuracy": "-", "test_accuracy": "--"}


def draw(
    table: pd.DataFrame,
    digitised_points: Points,
    shown: Mapping[float, int] | None = None,
) -> FigureAndData:
    """Accuracies under one regulariser, a panel for every step size and a colour for every weight.

    Of each step size the steps up to `shown` are drawn, or all; as open marks
    `digitised_points`, where published test accuracies pass one half. The data are medians and
    ranges, then ``t1`` and ``t2``.
    """
    rows, times = _panels.of(table, "history"), table[table["record"] == "grokking_times"]
    rates = sorted(rows[RATE].unique())
    made, grid = style.figure(len(rates), 1, height=2.3, sharey=True)
    colours = style.logarithmic(sorted(rows[WEIGHT].unique()))
    drawn = []
    for axes, rate, letter in zip(grid[0], rates, "abcdefghijkl", strict=False):
        part = rows[rows[RATE] == rate]
        last = min(part["step"].max(), (shown or {}).get(rate, np.inf))
        part = part[part["step"] <= last]
        drawn += lines(axes, part, ACCURACIES, colours)
        arrivals(axes, times[times[RATE] == rate], colours, last)
        drawn += halves_read_off(axes, digitised_points, rate, colours, part[WEIGHT].unique())
        axes.set(ylim=(0, 1.04), xlabel="step")
        panels.limits(axes, "x", 0, last)
        style.letter(axes, f"{letter}  $\\alpha$ = {rate:g}")
    grid[0, 0].set_ylabel("accuracy")
    bar(made, grid[0], rows[WEIGHT].unique(), colours)
    parts_named(made, grid[0, 0], published=bool(digitised_points))
    return made, pd.concat([*drawn, reached(times)], ignore_index=True)


def halves_read_off(
    axes: Axes,
    digitised_points: Points,
    rate: float,
    colours: ScalarMappable,
    weights: Iterable[float],
) -> list[pd.DataFrame]:
    """Open marks in the weights' colours where the published test accuracies pass one half."""
    panel, drawn = _quantities.rate_panel(rate), []
    for weight in weights:
        curve = _addition_numbers.half_curve(weight)
        seen = marks.published(
            axes, digitised_points, panel, curve, colours.to_rgba(np.asarray(weight))
        )
        drawn.append(seen.assign(**{RATE: rate, WEIGHT: weight}))
    return drawn


def lines(
    axes: Axes, rows: pd.DataFrame, columns: dict[str, str], colours: ScalarMappable
) -> list[pd.DataFrame]:
    """Some columns (and their dashes) over seeds, for each weight of a run."""
    drawn = []
    for key, part in rows.groupby(KEYS):
        for column, dashes in columns.items():
            shade = style.Look(color=colours.to_rgba(key[-1]), ls=dashes, lw=1.1)
            seen = marks.spread(axes, part, column, **shade)
            drawn.append(seen.assign(**dict(zip(KEYS, key, strict=True))))
    axes.locator_params(axis="x", nbins=5)
    return drawn


def arrivals(axes: Axes, times: pd.DataFrame, colours: ScalarMappable, last: float) -> None:
    """A point on the axis at t2 of each weight, the median or each seed, where it is by `last`."""
    for weight, part in times.groupby(WEIGHT):
        reached = part["t2"].fillna(np.inf)
        at = reached if marks.few(part) else pd.Series([reached.median()])
        shade = style.Look(color=colours.to_rgba(weight), mec="white", mew=0.4, ms=4)
        for step in at[at <= last]:
            axes.plot(step, 0, "o", zorder=5, clip_on=False, **shade)


def bar(made: Figure, grid: Iterable[Axes], weights: list[float], colours: ScalarMappable) -> None:
    """A colour bar of the weights beside some panels."""
    beside = style.bar(made, list(grid), weights, colours)
    beside.ax.set_yticklabels([f"${_panels.at(weight)}$" for weight in beside.get_ticks()])
    beside.ax.tick_params(which="both", labelsize=6)
    beside.ax.set_title("$\\beta$", fontsize=8)


def parts_named(made: Figure, axes: Axes, *, published: bool = False) -> None:
    """One legend, above all panels: what is solid, dashed, a point, and an open circle."""
    grey = style.Look(color=style.GUIDE)
    for column, dashes in ACCURACIES.items():
        axes.plot([], [], ls=dashes, label=column.removesuffix("_accuracy"), **grey)
    axes.plot([], [], "o", ms=4, ls="", label="$t_2$", **grey)
    if published:
        marks.published_key(axes)
    panels.above(made, axes, ncols=4)


def reached(times: pd.DataFrame) -> pd.DataFrame:
    """t1 and t2 of every seed, one below the other."""
    keys = [*KEYS, "seed"]
    long = times[[*keys, "t1", "t2"]].melt(keys, var_name="series", value_name="step")
    return long.sort_values([*keys, "series"])
