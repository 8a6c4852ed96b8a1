"""Figure 3: modular addition under three regularisers."""

import pandas as pd
from matplotlib.figure import Figure

from grokatlas.papers.beyond_l2 import _addition, _panels
from grokatlas.plots import panels, style

RATE = 1e-2
CASES = {"l1": "$\\ell_1$", "l2": "$\\ell_2$", "nuclear": "nuclear"}  # not the blog's
NORMS = {"l1": "$\\ell_1$", "l2": "$\\ell_2$", "nuclear": "nuclear"}
SHOWN = {"l1": 6000, "l2": 4100, "nuclear": 4100}  # steps, as published


def draw(tables: dict[str, pd.DataFrame]) -> tuple[Figure, pd.DataFrame]:
    """Accuracies under each regulariser, and three norms along the l1-regularised runs."""
    table = tables["addition_at_one_rate"]
    table = table[(table[_addition.RATE] == RATE) & table["case"].isin(CASES)]
    history, times = _panels.of(table, "history"), table[table["record"] == "grokking_times"]
    history = history[history["step"] <= history["case"].map(SHOWN)]
    thousands = {f"{norm}_norm_thousands": history[f"{norm}_norm"] / 1000 for norm in NORMS}
    history = history.assign(**thousands)
    rows = {case: history[history["case"] == case] for case in CASES}
    colours = {
        case: style.logarithmic(part[_addition.WEIGHT].unique()) for case, part in rows.items()
    }
    made, grid = style.figure(3, 2, height=2.0)
    drawn = []
    for axes, (case, text), letter in zip(grid[0], CASES.items(), "abc", strict=True):
        drawn += _addition.lines(axes, rows[case], _addition.ACCURACIES, colours[case])
        _addition.arrivals(axes, times[times["case"] == case], colours[case], SHOWN[case])
        axes.set(ylim=(0, 1.04))
        style.letter(axes, f"{letter}  penalty: {text}")
    for axes, (norm, text), letter in zip(grid[1], NORMS.items(), "def", strict=True):
        column = {f"{norm}_norm_thousands": "-"}
        drawn += _addition.lines(axes, rows["l1"], column, colours["l1"])
        axes.set(xlabel="step", ylim=(0, None))
        style.letter(axes, f"{letter}  {text} norm in a")
    for axes, case in zip(grid.ravel(), [*CASES, "l1", "l1", "l1"], strict=True):
        panels.limits(axes, "x", 0, rows[case]["step"].max())
        _addition.bar(made, [axes], rows[case][_addition.WEIGHT].unique(), colours[case])
    grid[0, 0].set_ylabel("accuracy")
    grid[1, 0].set_ylabel("norm / 1,000")
    _addition.parts_named(made, grid[0, 0])
    return made, pd.concat([*drawn, _addition.reached(times)], ignore_index=True)
