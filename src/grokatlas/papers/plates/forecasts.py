"""Plate 3 on fifty runs: measures on the plateau beside the time of generalisation."""

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import ScalarFormatter

from grokatlas.claims.statistics import Tables
from grokatlas.papers.plates import _forecasts
from grokatlas.papers.plates._progress import MEASURES, OF_TEST_SET
from grokatlas.plots import panels, style
from grokatlas.plots.style import FigureAndData

AT = 1000  # update of the measures
STRIP = "#e8e8e8"
TEXTS = {"t2": "$t_2$ (updates)", "over_median": "$t_2$ / its median at this weight"}
BEYOND = style.MEMBERS[2]


def draw(tables: Tables) -> FigureAndData:
    """t2 against the weight (a), correlations (b), and the measure that tells most (c)."""
    made, grid = style.figure(3, height=3.0, width_ratios=[1, 1.25, 1])
    rows = _forecasts.plateau(tables, _update(tables))
    correlated = _forecasts.correlations(rows)
    colours = style.sequence(rows["weight"].unique())
    _against(grid[0, 0], rows, "weight", "t2", colours)
    _correlations(grid[0, 1], correlated, _forecasts.level(rows))
    own = correlated[~correlated["measure"].isin(["weight", *OF_TEST_SET])]
    own = own.dropna(subset=["within"]).sort_values("within", key=abs)
    if len(own):
        known = rows["t2"].where(np.isfinite(rows["t2"]))
        rows["over_median"] = known / known.groupby(rows["weight"]).transform("median")
        _against(grid[0, 2], rows, own["measure"].iloc[-1], "over_median", colours)
    for axes, letter in zip(grid.flat, "abc", strict=True):
        style.letter(axes, letter)
    drawn = [rows.assign(panel="a"), correlated.assign(panel="b")]
    return made, pd.concat(drawn, ignore_index=True)


def _update(tables: Tables) -> int:
    """`AT`; where it is not logged or a run generalises before it, half of the least t2 or less."""
    first = _forecasts.plateau(tables, 0)["t2"].min()
    steps = tables[_forecasts.TABLE]["step"].dropna()
    if first > AT and (steps == AT).any():
        return AT
    return int(steps[steps <= first / 2].max())


def _against(
    axes: Axes, rows: pd.DataFrame, column: str, time: str, colours: dict[float, Any]
) -> None:
    """A time of each run against its weight or a measure, a cross at its end where it has none."""
    rows = rows.dropna(subset=[column, time])
    never = np.isinf(rows[time])
    for part, height, mark in ((rows[~never], time, "o"), (rows[never], "end", "x")):
        shades = [colours[weight] for weight in part["weight"]]
        axes.scatter(part[column], part[height], s=9, c=shades, marker=mark)
    if time == "t2":
        panels.logarithmic(axes, rows["t2"].where(~never, rows["end"]), "y")
        axes.yaxis.set_major_formatter(ScalarFormatter())
        axes.yaxis.set_minor_formatter(ScalarFormatter())
    if column == "weight":
        panels.logarithmic(axes, rows[column])
    name = MEASURES[column].name if column in MEASURES else "weight of the l2 norm"
    axes.set(xlabel=name, ylabel=TEXTS[time])


def _correlations(axes: Axes, rows: pd.DataFrame, level: float) -> None:
    """Over all runs (open) and within a weight (filled); chance is shaded."""
    names = {"weight": "weight"} | {key: measure.name for key, measure in MEASURES.items()}
    rows = rows.assign(place=range(len(rows)))
    axes.axvspan(-level, level, color=STRIP, lw=0, zorder=0)
    axes.axvline(0, color=style.MUTED, lw=0.5, zorder=1)
    axes.plot(rows["over_all"], rows["place"], "o", ms=4, mfc="white", color=style.GUIDE)
    for beyond, colour in ((True, BEYOND), (False, "black")):
        part = rows[rows["beyond"] == beyond]
        axes.plot(part["within"], part["place"], "o", ms=4, color=colour)
    axes.set(xlim=(-1.08, 1.08), xlabel="correlation with $t_2$")
    axes.set_yticks(rows["place"], rows["measure"].map(names))
    axes.set_ylim(len(rows) - 0.5, -0.5)
