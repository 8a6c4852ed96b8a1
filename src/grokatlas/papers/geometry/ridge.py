"""Beyond the paper's figures: where the zero-loss approximation of equation 21 bites."""

import pandas as pd
from matplotlib.axes import Axes

from grokatlas.claims.statistics import Tables
from grokatlas.papers.geometry._slow_times import RIDGE, TRAINING, ZERO_LOSS, reached, timed
from grokatlas.plots import marks, panels, style
from grokatlas.plots.style import FigureAndData

LEVEL = 0.9
COLUMNS = ["case", "weight_decay", "seed", "step", "slow_time", "train_loss", "test_accuracy"]


def draw(tables: Tables) -> FigureAndData:
    """Test accuracy against slow time of equations and training, and the time to 0.9."""
    rows = timed(tables["ridge"])
    colours = style.weights(rows.loc[rows["case"] != ZERO_LOSS, "weight_decay"].unique().tolist())
    trained = set(rows.loc[rows["case"] == TRAINING, "weight_decay"])
    made, grid = style.figure(3, height=2.7)
    equations, training, times = grid[0]
    for axes in (equations, training):
        _limit(axes, rows)
    _curves(equations, rows[rows["case"] == RIDGE], colours, "-")
    same = rows[(rows["case"] == RIDGE) & rows["weight_decay"].isin(trained)]
    _curves(training, same, colours, "--")
    _curves(training, rows[rows["case"] == TRAINING], colours, "-")
    end = rows.loc[rows["case"] == ZERO_LOSS, "slow_time"].max()
    for axes in (equations, training):
        axes.set(xlabel="slow time", ylabel="test accuracy", ylim=(-0.02, 1.04))
        if end > 0:
            axes.set_xlim(0, end)
    _times(times, reached(tables["ridge"], LEVEL))
    handles, labels = equations.get_legend_handles_labels()
    named = [label if "eq" in label else f"$\\lambda$ = {label}" for label in labels]
    panels.legend(made, handles, named, loc="outside upper center", ncols=7)
    for axes, title in zip(
        grid[0], ("a  equations", "b  training", "c  time to generalise"), strict=True
    ):
        style.letter(axes, title)
    return made, rows[COLUMNS].reset_index(drop=True)


def _limit(axes: Axes, rows: pd.DataFrame) -> None:
    line = {"color": "black", "lw": 1.1, "label": "eq. 21", "zorder": 4}
    marks.spread(axes, rows[rows["case"] == ZERO_LOSS], "test_accuracy", "slow_time", **line)


def _curves(axes: Axes, rows: pd.DataFrame, colours: dict[float, object], dashes: str) -> None:
    for decay, part in rows.groupby("weight_decay"):
        line = {"color": colours[decay], "ls": dashes, "lw": 1.1, "label": f"{decay:g}"}
        marks.spread(axes, part, "test_accuracy", "slow_time", **line)


def _times(axes: Axes, reached: pd.DataFrame) -> None:
    names = {RIDGE: ("equations 16 to 18", "#0072B2"), TRAINING: ("training", "#D55E00")}
    known = reached[reached["case"].isin(names) & reached["ratio"].notna()]
    seen = known[known["ratio"] < float("inf")]
    top = 1.1 * max(1.0, seen["ratio"].max() if len(seen) else 1.0)
    for case, (name, colour) in names.items():
        part = seen[seen["case"] == case]
        never = known[(known["case"] == case) & (known["ratio"] == float("inf"))]
        place = top if case == RIDGE else 0.98 * top
        if len(never):
            entry: style.Look = {"label": name} if part.empty else {}
            axes.plot(never["weight_decay"], [place] * len(never), "x", ms=4, color=colour, **entry)
        if part.empty:
            continue
        line = {"color": colour, "marker": "o", "ms": 3, "lw": 1.1, "label": name}
        marks.spread(axes, part, "ratio", "weight_decay", **line)
    axes.axhline(1, color="black", lw=0.8, ls=":")
    axes.set(xscale="log", xlabel="weight decay $\\lambda$")
    panels.limits(axes, "y", 0.9 * min(1.0, seen["ratio"].min()) if len(seen) else None, 1.04 * top)
    axes.set_ylabel("slow time over that of eq. 21")
    if axes.get_legend_handles_labels()[0]:
        axes.legend(loc="best")
