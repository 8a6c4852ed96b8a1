"""Figure 3: modular addition under three regularisers."""

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable

from grokatlas.claims.statistics import Points, Tables
from grokatlas.papers.beyond_l2 import _addition, _addition_numbers, _panels
from grokatlas.papers.beyond_l2._addition_numbers import RATE, WEIGHT
from grokatlas.plots import marks, panels, style
from grokatlas.plots.style import FigureAndData

CASES = {"l1": "$\\ell_1$", "l2": "$\\ell_2$", "nuclear": "nuclear"}  # not the blog's
NORMS = {"l1": "$\\ell_1$", "l2": "$\\ell_2$", "nuclear": "nuclear"}
SHOWN = {"l1": 6000, "l2": 4100, "nuclear": 4100}  # steps, as published


def draw(tables: Tables, digitised_points: Points) -> FigureAndData:
    """Accuracies under each regulariser, and three norms along the l1-regularised runs."""
    table = tables[_addition_numbers.FIGURE_3]
    table = table[(table[RATE] == _addition_numbers.FIGURE_3_RATE) & table["case"].isin(CASES)]
    history, times = _panels.of(table, "history"), table[table["record"] == "grokking_times"]
    history = history[history["step"] <= history["case"].map(SHOWN)]
    thousands = {f"{norm}_norm_thousands": history[f"{norm}_norm"] / 1000 for norm in NORMS}
    history = history.assign(**thousands)
    rows = {case: history[history["case"] == case] for case in CASES}
    colours = {case: style.logarithmic(part[WEIGHT].unique()) for case, part in rows.items()}
    made, grid = style.figure(3, 2, height=2.0)
    drawn = []
    for axes, (case, text), letter in zip(grid[0], CASES.items(), "abc", strict=True):
        drawn += _addition.lines(axes, rows[case], _addition.ACCURACIES, colours[case])
        _addition.arrivals(axes, times[times["case"] == case], colours[case], SHOWN[case])
        drawn.append(_times_read_off(axes, digitised_points, case, colours[case], rows[case]))
        axes.set(ylim=(0, 1.04))
        style.letter(axes, f"{letter}  penalty: {text}")
    for axes, (norm, text), letter in zip(grid[1], NORMS.items(), "def", strict=True):
        column = {f"{norm}_norm_thousands": "-"}
        drawn += _addition.lines(axes, rows["l1"], column, colours["l1"])
        axes.set(xlabel="step", ylim=(0, None))
        style.letter(axes, f"{letter}  {text} norm in a")
    drawn.append(_peak_read_off(grid[1, 1], digitised_points, colours["l1"], rows["l1"]))
    for axes, case in zip(grid.ravel(), [*CASES, "l1", "l1", "l1"], strict=True):
        panels.limits(axes, "x", 0, rows[case]["step"].max())
        _addition.bar(made, [axes], rows[case][WEIGHT].unique(), colours[case])
    grid[0, 0].set_ylabel("accuracy")
    grid[1, 0].set_ylabel("norm / 1,000")
    _addition.parts_named(made, grid[0, 0], published=bool(digitised_points))
    return made, pd.concat([*drawn, _addition.reached(times)], ignore_index=True)


def _times_read_off(
    axes: Axes,
    digitised_points: Points,
    case: str,
    colours: ScalarMappable,
    rows: pd.DataFrame,
) -> pd.DataFrame:
    """The published test curves' arrivals, at the top: open marks in their weights' colours."""
    panel = _addition_numbers.times_panel(case)
    drawn = []
    for weight in sorted(rows[WEIGHT].unique()):
        curve = _addition_numbers.time_curve(weight)
        seen = marks.published(axes, digitised_points, panel, curve, colours.to_rgba(weight))
        drawn.append(seen.assign(**{"case": case, WEIGHT: weight}))
    return pd.concat(drawn)


def _peak_read_off(
    axes: Axes, digitised_points: Points, colours: ScalarMappable, rows: pd.DataFrame
) -> pd.DataFrame:
    """The published peak of the l2 norm, that of the least weight of l1 regularisation."""
    panel, weight = _addition_numbers.PEAK_PANEL, rows[WEIGHT].min()
    curve = _addition_numbers.peak_curve(weight)
    seen = marks.published(axes, digitised_points, panel, curve, colours.to_rgba(weight))
    return seen.assign(**{"case": "l1", WEIGHT: weight})
