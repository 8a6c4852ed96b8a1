"""Plate 9: jumps of the training loss, forced and suppressed."""

import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes

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
    """Curves of both interventions (a to d), accuracy around a jump (e), times (f)."""
    made, grid = style.figure(2, 3, height=1.95)
    rows = _jumps.histories(tables)
    rows = rows[rows["step"] >= rows["t1"]]
    drawn = []
    for row, (column, text) in enumerate(COLUMNS.items()):
        for place, cases in enumerate((FORCED, SUPPRESSED)):
            drawn.append(_curves(grid[row, place], rows, cases, column))
            grid[row, place].set(xlabel="update", ylabel=text if place == 0 else "")
    grid[0, 0].sharey(grid[0, 1])
    grid[1, 0].sharey(grid[1, 1])
    drawn.append(_around(grid[2, 0], rows, tables))
    drawn.append(_times(grid[2, 1], _jumps.times(tables)))
    for axes, letter in zip(grid.flat, "abcdef", strict=True):
        style.letter(axes, letter)
    panels.above(made, grid[1, 0], grid[1, 1], ncols=3)
    return made, pd.concat(drawn, ignore_index=True)


def _curves(
    axes: Axes, rows: pd.DataFrame, cases: dict[str, tuple[str, str]], column: str
) -> pd.DataFrame:
    """A column of each case: a line for each seed."""
    shown = rows[rows["case"].isin(cases)]
    for case, (text, colour) in cases.items():
        name: str | None = text
        for _, part in shown[shown["case"] == case].groupby("seed"):
            part = part.sort_values("step")
            axes.plot(part["step"], part[column].abs(), color=colour, lw=0.7, label=name)
            name = None
    if column == "train_loss":
        axes.set_yscale("log")
    panels.limits(axes, "x", 0)
    return shown[["case", "seed", "step", column]].assign(panel=column)


def _around(axes: Axes, rows: pd.DataFrame, tables: Tables) -> pd.DataFrame:
    """The gain of test accuracy around the first jump, or at the update of a forced one."""
    start = float(tables[_jumps.JUMPS]["optimizer.switch"].dropna().min())
    parts = []
    for case in ("baseline_float64", "emptied", "forced", "baseline_float32"):
        own = rows[rows["case"] == case]
        since = _jumps.jumps(own).drop_duplicates("seed")
        if since.empty:
            since = own[["seed"]].drop_duplicates().assign(step=start)
        part = _jumps.around(own, since)
        part = part[part["after"].between(*WINDOW)]
        for _, line in part.groupby("seed"):
            axes.plot(line["after"], line["gain"], color=CASES[case][1], lw=0.9)
        parts.append(part[["case", "seed", "step", "after", "gain"]])
    axes.axvline(0, color=style.GUIDE, lw=0.6, ls=":", zorder=1)
    axes.set(xlabel="updates since the jump", ylabel="test accuracy\ngained")
    return pd.concat(parts).assign(panel="around")


def _times(axes: Axes, times: pd.DataFrame) -> pd.DataFrame:
    """The update t2 of each case and seed; a case that never generalises has no mark."""
    shown = [case for case in CASES if (times["case"] == case).any()]
    reached = times[times["t2"] < float("inf")]
    palette = {case: CASES[case][1] for case in CASES}
    order = style.Look(x="t2", y="case", order=shown, hue="case", palette=palette)
    sns.stripplot(reached, ax=axes, jitter=False, size=4, legend=False, **order)
    axes.set(xlabel="update $t_2$", ylabel="", ylim=(len(shown) - 0.5, -0.5))
    axes.set_yticks(range(len(shown)), [CASES[case][0] for case in shown], fontsize=6)
    panels.limits(axes, "x", 0)
    return times.assign(panel="times")
