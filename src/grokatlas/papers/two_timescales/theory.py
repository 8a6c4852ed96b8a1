"""The paper's propositions, and runs without weight decay, as numbers against lambda and time."""

from typing import Literal

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from grokatlas.claims.statistics import Tables
from grokatlas.papers.two_timescales import _quantities, _theory
from grokatlas.plots import marks, panels, style
from grokatlas.plots.style import FigureAndData

PROBLEMS = {
    "matrix_completion": ("matrix completion", "o", style.MEMBERS[0]),
    "two_layer_relu": ("two-layer ReLU", "s", style.MEMBERS[1]),
    "diagonal_network": ("diagonal network", "^", style.MEMBERS[2]),
}
SEEDS = "DvP*X"  # marks of panel f, other than those of problems


def draw(tables: Tables) -> FigureAndData:
    """Three propositions on three problems; controls; small initialisation."""
    made, grid = style.figure(3, 2, height=2.3)
    above, below = grid
    drawn = []
    for problem in PROBLEMS:
        table = tables[f"theory_{problem}"]
        history = table[table["record"] == "history"]
        departures = _theory.departures(history, _theory.HORIZONS[problem])
        junctions = _theory.junctions(history)
        residuals = _theory.residuals(table)
        _points(above[0], departures, "departure", problem)
        _points(above[1], junctions, "junction", problem)
        _residuals(above[2], residuals, problem)
        drawn += [
            part.assign(panel=letter, problem=problem)
            for letter, part in zip("abc", (departures, junctions, residuals), strict=True)
        ]
    _propositions(above, drawn)
    for axes, letter, name, title in (
        (below[0], "d", "control_two_layer_relu", "d  control: two-layer ReLU"),
        (below[1], "e", "control_diagonal_network", "e  control: diagonal network"),
    ):
        drawn.append(_control(axes, tables[name]).assign(panel=letter))
        style.letter(axes, title)
    drawn.append(_initialisations(below[2], tables["small_initialisation"]).assign(panel="f"))
    return made, pd.concat(drawn, ignore_index=True)


def _points(axes: Axes, points: pd.DataFrame, column: str, problem: str) -> None:
    """A mark for each lambda and seed, a thin line for each seed."""
    label, mark, colour = PROBLEMS[problem]
    for index, (_, rows) in enumerate(points.sort_values("lambda").groupby("seed")):
        ink = style.Look(marker=mark, ms=3.5, color=colour, lw=0.7)
        axes.plot(rows["lambda"], rows[column], label=None if index else label, **ink)


def _residuals(axes: Axes, residuals: pd.DataFrame, problem: str) -> None:
    """Lines of other dashes for each lambda: the median over seeds, or each seed."""
    label, mark, colour = PROBLEMS[problem]
    decays = sorted(residuals["lambda"].unique(), reverse=True)
    for index, decay in enumerate(decays):
        parts = marks.lines(residuals[residuals["lambda"] == decay], ["tangential_share"], "tau")
        ink = style.Look(marker=mark, color=colour, ls=("-", "--", ":", "-.")[index % 4], lw=0.9)
        ink |= {"ms": 3.5 if len(parts) == 1 else 2.5, "label": None if index else label}
        marks.draw_lines(axes, parts, "tangential_share", "tau", **ink)


def _propositions(row: list[Axes], drawn: list[pd.DataFrame]) -> None:
    """Scales, guides and titles of the upper row."""
    points = pd.concat(drawn, ignore_index=True)
    for axes in row[:2]:
        axes.set(xlabel="$\\lambda$")
        panels.logarithmic(axes, points.loc[points["panel"] != "c", "lambda"])
    row[0].set(ylabel="$\\sup_t\\, |w_\\lambda - w_{GF}| / |w_0|$")
    row[1].set(ylim=(0, None), ylabel="time nearest to the limit")
    row[2].set(xlabel="slow time $\\tau$", ylabel="$|P_T w| / |w|$")
    scales: tuple[tuple[Axes, str, Literal["x", "y"]], ...] = (
        (row[0], "departure", "y"),
        (row[2], "tau", "x"),
        (row[2], "tangential_share", "y"),
    )
    for axes, column, which in scales:
        panels.logarithmic(axes, points.loc[points[column] > 0, column], which)
    first = points[(points["panel"] == "a") & (points["departure"] > 0)]
    if len(first):
        level = first.loc[first["lambda"] == first["lambda"].min(), "departure"].min() / 3
        marks.proportional(row[0], first["lambda"], level, "$\\propto \\lambda$")
        panels.limits(row[0], "y", high=1e3 * first["departure"].max())  # room for the legend
        row[0].legend(loc="upper left", fontsize=6)
    titles = ("a  from the flow without decay", "b  junction", "c  stationarity")
    for axes, title in zip(row, titles, strict=True):
        style.letter(axes, title)


def _control(axes: Axes, table: pd.DataFrame) -> pd.DataFrame:
    """The test loss with weight decay and without: median and range of all seeds."""
    rows = _theory.control(table)
    frames = []
    for regularised, colour, label in (
        (True, style.COLOURS["l2"], "with weight decay"),
        (False, style.ZERO, "without"),
    ):
        part = rows[rows["regularised"] == regularised]
        if len(part):
            if regularised:
                label += f", $\\lambda$ = {2 * part[_quantities.DECAY].max():g}"
            line = {"against": "time", "color": colour, "label": label}
            shown = marks.spread(axes, part, "test_loss", **line)
            frames.append(shown.assign(regularised=regularised))
    axes.set(xscale="log", yscale="log", xlabel="time t", ylabel="test loss")
    panels.limits(axes, "x", rows["time"].min(), rows["time"].max())
    if frames:
        low, high = axes.get_ylim()
        panels.limits(axes, "y", low * (low / high) ** 0.25)  # room for the legend
        axes.legend(loc="lower left", fontsize=6)
    return pd.concat(frames, ignore_index=True) if frames else rows[["time"]]


def _initialisations(axes: Axes, table: pd.DataFrame) -> pd.DataFrame:
    """Test loss at the end and time of the fit against the variance of the initialisation."""
    ends = _theory.initialisations(table)
    right = axes.twinx()
    right.spines["right"].set_visible(True)
    for place, (_, rows) in enumerate(ends.groupby("seed")):
        ink = style.Look(ms=3.5, lw=0.7, marker=SEEDS[place % len(SEEDS)])
        axes.plot(rows["variance"], rows["test_loss"], "-", color=style.COLOURS["test"], **ink)
        times = rows["fitted"].where(np.isfinite(rows["fitted"]))
        right.plot(rows["variance"], times, ":", color=style.COLOURS["train"], **ink)
    axes.set(yscale="log", xlabel="variance of the initial weights")
    axes.set_ylabel("test loss at the end", color=style.COLOURS["test"])
    right.set_ylabel("time of the fit", color=style.COLOURS["train"])
    panels.logarithmic(axes, ends["variance"])
    right.set_ylim(0, None)
    style.letter(axes, "f  diagonal, no weight decay")
    return ends
