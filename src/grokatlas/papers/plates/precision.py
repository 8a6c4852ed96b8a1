"""Plate 6: how much of the delay is arithmetic."""

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullFormatter

from grokatlas.papers.plates import _precision
from grokatlas.plots import panels, style

LOOKS: dict[str, dict[str, Any]] = {
    "float64": {"color": style.MEMBERS[5], "lw": 2.4},
    "float32": {"color": style.MEMBERS[1], "lw": 0.9},
    "float64_loss": {"color": "black", "lw": 0.7, "ls": (0, (4, 2))},
}
NAMES = {"float64": "float64", "float32": "float32", "float64_loss": "float32, loss in float64"}
LEVELS = {"baseline": 0.85, "grokalign": 0.85, "transformer": 0.99}  # others 0.999
HALF = 2.0**-24  # a residual below it is 0 in float32
LOWEST = 1e-17  # where a loss or a residual of 0 is drawn
ROWS = {"a": "test accuracy", "b": "1 - p, loss", "c": "share of points collapsed"}


def draw(tables: dict[str, pd.DataFrame]) -> tuple[Figure, pd.DataFrame]:
    """Curves of each task (a to c), what the data say after memorisation (d), and times (e)."""
    history, times = _precision.told_apart(tables, "history"), _precision.times(tables)
    columns = _columns(history)
    made = Figure(figsize=(style.TEXT_WIDTH, 6.6))
    grid = made.add_gridspec(4, max(len(columns), 2), height_ratios=[1, 1, 1, 1.15])
    drawn = []
    for place, (keys, title) in enumerate(columns.items()):
        own = history[(history["task"] == keys[0]) & (history["beta2"] == keys[1])]
        panes = [made.add_subplot(grid[row, place]) for row in range(3)]
        drawn.append(_curves(panes, own, LEVELS.get(keys[0], 0.999)))
        panes[0].set_title(title, fontsize=7)
        for axes, (letter, text) in zip(panes, ROWS.items(), strict=True):
            if place == 0:
                axes.set_ylabel(f"{letter}  {text}")
            else:
                axes.set_yticklabels([])
    half = grid.ncols // 2
    left, right = made.add_subplot(grid[3, :half]), made.add_subplot(grid[3, half:])
    silent = _precision.silence(tables).reset_index()
    drawn += [_shares(left, silent, columns), _times(right, times, columns, history)]
    _key(made, left)
    return made, pd.concat(drawn, ignore_index=True)


def _columns(history: pd.DataFrame) -> dict[tuple[str, float], str]:
    """The title of each column, by task and beta2."""
    names = {
        "baseline": f"{_images(history)}\nweight decay",
        "grokalign": f"{_images(history)}\nGrokAlign",
        "addition_l2": "addition mod {}\nl2, $\\beta_2$ = {:g}",
        "addition_none": "addition mod {}\nno regulariser",
        "transformer": "transformer mod {}\nweight decay",
    }
    found = {}
    for task, name in names.items():
        own = history[history["task"] == task]
        for beta2, part in own.groupby("beta2"):
            modulus = int(part["task.modulus"].max()) if "{" in name else 0
            found[task, beta2] = name.format(modulus, beta2)
    return found


def _images(history: pd.DataFrame) -> str:
    names = history.loc[history["task"] == "baseline", "task.name"]
    return "MNIST" if (names == "mnist").any() else "digits"


def _curves(panes: list[Axes], rows: pd.DataFrame, level: float) -> pd.DataFrame:
    """Test accuracy, residuals and collapsed points of a task: a line for each seed."""
    rows = rows[rows["step"] > 0].sort_values("step")
    above, middle, below = panes
    columns = ["test_accuracy", "largest_residual", "train_loss", "collapsed_points"]
    for precision, look in LOOKS.items():
        for _, part in rows[rows["precision"] == precision].groupby("seed"):
            step = part["step"]
            above.plot(step, part["test_accuracy"], **look)
            middle.plot(step, part["train_loss"].clip(lower=LOWEST), **look | {"alpha": 0.3})
            middle.plot(step, part["largest_residual"].clip(lower=LOWEST), **look)
            below.plot(step, part["collapsed_points"], **look)
    above.axhline(level, color=style.GUIDE, lw=0.6, ls=":", zorder=1)
    middle.axhline(HALF, color=style.GUIDE, lw=0.6, ls="--", zorder=1)
    for axes in panes:
        axes.set_xscale("log")
        panels.limits(axes, "x", rows["step"].min(), rows["step"].max() * 1.3)
        axes.xaxis.set_minor_formatter(NullFormatter())
    above.set_xticklabels([])
    middle.set_xticklabels([])
    above.set_ylim(-0.03, 1.03)
    middle.set(yscale="log", ylim=(LOWEST / 3, 30))
    middle.yaxis.set_major_locator(LogLocator(numticks=6))
    below.set(xlabel="update", ylim=(-0.03, 1.03))
    kept = ["task", "beta2", "precision", "seed", "step", *columns]
    return rows[kept].assign(panel="a to c")


def _places(axes: Axes, columns: dict[tuple[str, float], str]) -> None:
    """A place on the abscissa for each column of the panels above."""
    axes.set_xticks(range(len(columns)), columns.values(), rotation=30, ha="right", fontsize=6)
    axes.set_xlim(-0.5, len(columns) - 0.5)
    for place in range(1, len(columns)):
        axes.axvline(place - 0.5, color=style.MUTED, lw=0.3, zorder=0)


def _ranges(
    axes: Axes, rows: pd.DataFrame, column: str, columns: dict[tuple[str, float], str], full: bool
) -> pd.DataFrame:
    """Median and range over seeds of a number at each place, a mark for each precision."""
    groups = rows.groupby(["task", "beta2", "precision"])[column]
    seen = groups.agg(["median", "min", "max", "count"]).reset_index()
    for shift, (precision, look) in enumerate(LOOKS.items()):
        for place, (task, beta2) in enumerate(columns):
            there = (seen["task"] == task) & (seen["beta2"] == beta2)
            for one in seen[there & (seen["precision"] == precision)].itertuples():
                at = place + 0.22 * (shift - 1) + (0.0 if full else 0.07)
                spread = [[one.median - one.min], [one.max - one.median]]
                mark = {"marker": "o", "ms": 4, "elinewidth": 0.8, "color": look["color"]}
                mark |= {} if full else {"mfc": "white"}
                axes.errorbar([at], [one.median], yerr=spread, **mark)
    return seen.assign(series=column)


def _shares(
    axes: Axes, silent: pd.DataFrame, columns: dict[tuple[str, float], str]
) -> pd.DataFrame:
    """Panel d: updates with a gradient below eps, and points that have collapsed."""
    drawn = [
        _ranges(axes, silent, "below_eps", columns, full=True),
        _ranges(axes, silent, "collapsed", columns, full=False),
    ]
    axes.set_ylim(-0.04, 1.04)
    axes.set_ylabel("share after memorisation")
    style.letter(axes, "d  gradient below eps (filled), collapsed (open)")
    _places(axes, columns)
    return pd.concat(drawn, ignore_index=True).assign(panel="d")


def _times(
    axes: Axes,
    times: pd.DataFrame,
    columns: dict[tuple[str, float], str],
    history: pd.DataFrame,
) -> pd.DataFrame:
    """Panel e: when networks memorise and generalise; crosses for never."""
    lengths = history.groupby("task")["step"].max()
    there = times.replace(np.inf, np.nan)
    drawn = [
        _ranges(axes, there.dropna(subset=[time]), time, columns, full=time == "t2")
        for time in ("t1", "t2")
    ]
    never = times[np.isinf(times["t2"])]
    for shift, (precision, look) in enumerate(LOOKS.items()):
        for place, (task, beta2) in enumerate(columns):
            lost = never[(never["task"] == task) & (never["beta2"] == beta2)]
            if (lost["precision"] == precision).any():
                at = place + 0.22 * (shift - 1)
                axes.plot([at], [lengths[task]], "x", ms=4.5, color=look["color"])
    axes.set_yscale("log")
    axes.set_ylabel("update")
    style.letter(axes, "e  $t_1$ (open), $t_2$ (filled)")
    _places(axes, columns)
    return pd.concat(drawn, ignore_index=True).assign(panel="e")


def _key(made: Figure, axes: Axes) -> None:
    """Colours, above all panels."""
    entries = [axes.plot([], [], label=NAMES[name], **look)[0] for name, look in LOOKS.items()]
    made.legend(handles=entries, loc="outside upper center", ncols=3)
