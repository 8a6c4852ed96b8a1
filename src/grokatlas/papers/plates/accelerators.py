"""Plate 7: every accelerator on every task."""

from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import LinearSegmentedColormap, LogNorm
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.ticker import FixedLocator, NullFormatter

from grokatlas.papers.plates import _accelerators
from grokatlas.papers.plates._accelerators import BASELINE, UNITS, WEIGHTS
from grokatlas.plots import style

METHODS = {
    "weight_decay": "weight\ndecay",
    "l2": "l2\nnorm",
    "l1": "l1\nnorm",
    "nuclear": "nuclear\nnorm",
    "grokfast_ema": "Grokfast\nEMA",
    "grokfast_ma": "Grokfast\nMA",
    "grokalign": "GrokAlign",
    "noise": "noise on\ninputs",
}
NAMES = {  # of rows: the task and the regulariser of its baseline
    "addition": "addition mod {modulus}\nMLP, l2 norm",
    "transformer": "addition mod {modulus}\ntransformer, weight decay",
    "ce": "{images}, cross-entropy\nweight decay",
    "mse": "{images}, squared error\nweight decay",
    "xor": "XOR clusters\nweight decay",
    "sparse": "sparse recovery\nl1 norm",
    "completion": "matrix completion\nnuclear norm",
}
SOONER, LATER = style.MEMBERS[0], style.MEMBERS[1]
COLOURS = LinearSegmentedColormap.from_list("sooner", [SOONER, "white", LATER])
LEAST, MOST = 2.0, 30.0  # of the factor at both ends of the colours
NEVER = style.Look(facecolor="white", edgecolor=style.MUTED, hatch="/////", lw=0)
DARK = 0.75  # of the way to an end of the colours: from there on letters are white
GAP = 0.15  # between cells and margins, in cells
TICKS = (1 / 30, 1 / 10, 1 / 3, 1.0, 3.0, 10.0, 30.0)


class Grid(NamedTuple):
    """The rows and columns of the matrix."""

    tasks: list[str]
    methods: list[str]

    def half(self, task: str | None, method: str | None, unit: str) -> tuple[float, float]:
        """The left and upper ends of a half cell; without a task or a method, of the margin."""
        row = self.tasks.index(task) if task else len(self.tasks) + GAP
        column = self.methods.index(method) if method else len(self.methods) + GAP
        return column, row + 0.5 * UNITS.index(unit)


def draw(tables: dict[str, pd.DataFrame]) -> tuple[Figure, pd.DataFrame]:
    """The matrix: a row for each task, a column for each method, and the margins of both.

    Tasks whose table is not among those of the figure have no row, methods that no table has no
    column.
    """
    found = _accelerators.judged(tables)
    made = _accelerators.summary(found)
    rows, columns = _accelerators.margins(made, "task"), _accelerators.margins(made, "method")
    end = _end(made["median"])
    known = {case for table in tables.values() for case in table["case"].unique()}
    grid = Grid(_accelerators.tasks(tables), [name for name in WEIGHTS if name in known])
    figure = Figure(figsize=(style.TEXT_WIDTH, 1.6 + 0.6 * (len(grid.tasks) + 1)))
    axes = figure.add_subplot()
    _frame(axes, grid, _names(tables, found))
    for cell in made.itertuples(index=False):
        _cell(axes, *grid.half(cell.task, cell.method, cell.unit), cell, end)
    for margin in rows.itertuples(index=False):
        _margin(axes, *grid.half(margin.task, None, margin.unit), margin)
    for margin in columns.itertuples(index=False):
        _margin(axes, *grid.half(None, margin.method, margin.unit), margin)
    _bar(figure, axes, end)
    panels = {"cells": made, "tasks": rows, "methods": columns}
    drawn = [rows.assign(panel=name) for name, rows in panels.items()]
    return figure, pd.concat(drawn, ignore_index=True)


def _end(medians: pd.Series) -> float:
    """The factor at the upper end of the colours, which go as far to the other side of 1."""
    known = medians[np.isfinite(medians) & (medians > 0)]
    furthest = np.exp(np.log(known).abs().max()) if len(known) else LEAST
    return float(np.clip(furthest, LEAST, MOST))


def _names(tables: dict[str, pd.DataFrame], found: pd.DataFrame) -> dict[str, str]:
    """What each task's row is: the task, the baseline's regulariser, and the baseline's time."""
    base = found[found["method"] == BASELINE].groupby("task")["updates"].median()
    names = {}
    for task in _accelerators.tasks(tables):
        table, time = tables[f"accelerators_{task}"], base.get(task, np.nan)
        modulus = f"{table['task.modulus'].max():.0f}" if "task.modulus" in table else ""
        images = "MNIST" if (table["task.name"] == "mnist").any() else "digits"
        when = f"{time:,.0f} updates" if np.isfinite(time) else "never"
        names[task] = f"{NAMES[task].format(modulus=modulus, images=images)}: {when}"
    return names


def _frame(axes: Axes, grid: Grid, names: dict[str, str]) -> None:
    """Names of rows and columns, without axes."""
    rows, columns = len(grid.tasks), len(grid.methods)
    axes.set_xlim(0, columns + GAP + 1)
    axes.set_ylim(rows + GAP + 1, 0)
    axes.set_xticks(
        [*np.arange(columns) + 0.5, columns + GAP + 0.5],
        [*(METHODS[method] for method in grid.methods), "mean of\nthe row"],
    )
    axes.xaxis.tick_top()
    axes.set_yticks(
        [*np.arange(rows) + 0.5, rows + GAP + 0.5],
        [*(names[task] for task in grid.tasks), "mean of\nthe column"],
        fontsize=6.5,
    )
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    for row in range(rows + 1):
        axes.plot([0, columns], [row, row], color=style.MUTED, lw=0.4, zorder=3)
    for column in range(columns + 1):
        axes.plot([column, column], [0, rows], color=style.MUTED, lw=0.4, zorder=3)


def _cell(axes: Axes, x: float, y: float, cell: Any, end: float) -> None:
    """A half cell: its colour, the median and the range."""
    median = cell.median
    if not np.isfinite(median):
        axes.add_patch(Rectangle((x, y), 1, 0.5, zorder=1, **NEVER))
        text = "never" if not cell.reached else f"on {cell.reached} of {cell.seeds}"
        box = {"facecolor": "white", "edgecolor": "none", "pad": 1.0}
        _text(axes, x, y + 0.25, text, 5.5, bbox=box)
        return
    share = 0.5 + 0.5 * np.log(np.clip(median, 1 / end, end)) / np.log(end)
    axes.add_patch(Rectangle((x, y), 1, 0.5, facecolor=COLOURS(share), lw=0, zorder=1))
    ink = "white" if abs(2 * share - 1) > DARK else "black"
    if median == 0:
        _text(axes, x, y + 0.25, "baseline\nnever", 5.5, color=ink)
        return
    _text(axes, x, y + 0.17, _number(median), 7, color=ink)
    ends = f"{_number(cell.least)}-{_number(cell.most)}"
    _text(axes, x, y + 0.37, ends, 5.8, color=ink)
    if cell.apart:
        axes.add_patch(Rectangle((x + 0.02, y + 0.02), 0.96, 0.46, fill=False, lw=1.3, zorder=4))


def _margin(axes: Axes, x: float, y: float, margin: Any) -> None:
    """The mean and its spread, as factors; in brackets how many cells are left out."""
    if not np.isfinite(margin.mean):
        return
    _text(axes, x, y + 0.17, _number(margin.mean), 7)
    spread = f"*/ {_number(margin.spread)}" if np.isfinite(margin.spread) else ""
    left_out = f" (-{margin.left_out})" if margin.left_out else ""
    _text(axes, x, y + 0.37, f"{spread}{left_out}", 5.8, color=style.GUIDE)


def _text(axes: Axes, x: float, y: float, text: str, size: float, **look: Any) -> None:
    axes.text(x + 0.5, y, text, ha="center", va="center", fontsize=size, zorder=5, **look)


def _number(value: float) -> str:
    """Two digits; ``never`` and ``0`` where a range has no end."""
    if not np.isfinite(value):
        return "never"
    return f"{value:.2g}" if value < 100 else f"{value:.0f}"


def _bar(figure: Figure, axes: Axes, end: float) -> None:
    """The colours, below the matrix."""
    colours = ScalarMappable(LogNorm(1 / end, end), COLOURS)
    beside = figure.colorbar(colours, ax=axes, location="bottom", aspect=50, pad=0.02, shrink=0.6)
    ticks = [tick for tick in TICKS if 1 / end <= tick * 1.001 and tick <= end * 1.001]
    beside.ax.xaxis.set_major_locator(FixedLocator(ticks))
    beside.ax.set_xticklabels([_number(tick) for tick in ticks])
    beside.ax.xaxis.set_minor_formatter(NullFormatter())
    beside.set_label(
        "time to generalise over the baseline's, in updates (upper half) and operations (lower)"
    )
