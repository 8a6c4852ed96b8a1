"""Plate 9: jumps of the training loss, forced and suppressed."""

import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.ticker import MultipleLocator

from grokatlas.claims.statistics import Tables
from grokatlas.papers.plates import _jumps
from grokatlas.plots import panels, style
from grokatlas.plots.style import FigureAndData

# case -> its text and colour; what each pair of panels shows
FORCED = {
    "baseline_float64": ("float64", style.MEMBERS[5]),
    "emptied": ("float64, denominator emptied", style.MEMBERS[2]),
    "forced": ("float64, a jump forced", style.MEMBERS[3]),
}
SUPPRESSED = {
    "baseline_float32": ("float32", style.MEMBERS[1]),
    "large_eps_float64": ("float64, large eps", style.MEMBERS[0]),
    "large_eps_float32": ("float32, large eps", style.MEMBERS[4]),
}
CASES = FORCED | SUPPRESSED
WINDOW = (-2000, 6000)  # updates around a jump
COLUMNS = {"train_loss": "training loss", "test_accuracy": "test accuracy"}


def draw(tables: Tables) -> FigureAndData:
    """Curves of both interventions (a to d), accuracy around a jump (e) and after it (f)."""
    made, grid = style.figure(2, 3, height=1.95)
    rows = _jumps.histories(tables)
    rows = rows[(rows["step"] >= rows["t1"]) & rows["case"].isin(CASES)]
    drawn = []
    for row, (column, text) in enumerate(COLUMNS.items()):
        values = rows[column].abs()
        values = values[np.isfinite(values)]
        for place, cases in enumerate((FORCED, SUPPRESSED)):
            axes = grid[row, place]
            drawn.append(_curves(axes, rows[rows["case"].isin(cases)], column))
            if column == "train_loss":
                axes.set_yscale("log")
                values = values[values > 0]
            panels.limits(axes, "y", 0.95 * values.min(), 1.05 * values.max())
            panels.limits(axes, "x", 0)
            axes.set(xlabel="update", ylabel=text if place == 0 else "")
    start = float(tables[_jumps.JUMPS]["optimizer.switch"].dropna().min())
    drawn.append(_around(grid[2, 0], rows, start))
    drawn.append(_later(grid[2, 1], rows, start + WINDOW[1]))
    for axes, letter in zip(grid.flat, "abcdef", strict=True):
        style.letter(axes, letter)
    panels.above(made, grid[1, 0], grid[1, 1], ncols=3)
    return made, pd.concat(drawn, ignore_index=True)


def _curves(axes: Axes, rows: pd.DataFrame, column: str) -> pd.DataFrame:
    """A column of each case: a line for each seed."""
    for case, (text, colour) in CASES.items():
        name: str | None = text
        for _, part in rows[rows["case"] == case].groupby("seed"):
            part = part.sort_values("step")
            axes.plot(part["step"], part[column].abs(), color=colour, lw=0.7, label=name)
            name = None
    return rows[["case", "seed", "step", column]].assign(panel=column)


def _around(axes: Axes, rows: pd.DataFrame, start: float) -> pd.DataFrame:
    """The gain of test accuracy from the first jump on, or from the update of the interventions."""
    parts = []
    for case in (*FORCED, "baseline_float32"):
        own = rows[rows["case"] == case]
        since = _jumps.jumps(own).drop_duplicates("seed")
        if since.empty:
            since = own[["seed"]].drop_duplicates().assign(step=start)
        part = _jumps.around(own, since)
        part = part[part["after"].between(*WINDOW)]
        for _, line in part.groupby("seed"):
            axes.plot(line["after"], line["gain"], color=CASES[case][1], lw=0.9)
        parts.append(part[["case", "seed", "step", "after", "gain"]])
    axes.xaxis.set_major_locator(MultipleLocator(2000))
    axes.axvline(0, color=style.GUIDE, lw=0.6, ls=":", zorder=1)
    axes.set(xlabel="updates since the jump", ylabel="test accuracy\ngained")
    return pd.concat(parts).assign(panel="around")


def _later(axes: Axes, rows: pd.DataFrame, update: float) -> pd.DataFrame:
    """The test accuracy of each case at an update: a mark for each seed."""
    last = rows[rows["step"] <= update].sort_values("step")
    last = last.drop_duplicates(_jumps.KEYS, keep="last")
    palette = {case: colour for case, (_, colour) in CASES.items()}
    order = style.Look(x="case", y="test_accuracy", order=[*CASES], hue="case", palette=palette)
    sns.stripplot(last, ax=axes, jitter=False, size=4, legend=False, **order)
    axes.set(xlabel="", ylabel=f"test accuracy\nat update {update:,.0f}", xticks=[])
    return last[["case", "seed", "step", "test_accuracy"]].assign(panel="later")
