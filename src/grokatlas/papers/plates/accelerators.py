"""Plate 7: every accelerator on every task."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import LinearSegmentedColormap, LogNorm
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.ticker import FixedLocator, NullFormatter

from grokatlas.papers.plates import _accelerators
from grokatlas.papers.plates._accelerators import BASELINE, TASKS, UNITS, WEIGHTS
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
SOONER, LATER = style.MEMBERS[0], style.MEMBERS[1]
COLOURS = LinearSegmentedColormap.from_list("sooner", [SOONER, "white", LATER])
LEAST, MOST = 2.0, 30.0  # of the factor at both ends of the colours
NEVER: dict[str, Any] = {"facecolor": "white", "edgecolor": style.MUTED, "hatch": "/////", "lw": 0}
DARK = 0.75  # of the way to an end of the colours: from there on letters are white
GAP = 0.15  # between cells and margins, in cells
TICKS = (1 / 30, 1 / 10, 1 / 3, 1.0, 3.0, 10.0, 30.0)


def draw(tables: dict[str, pd.DataFrame]) -> tuple[Figure, pd.DataFrame]:
    """The matrix: a row for each task, a column for each method, and the margins of both."""
    found = _accelerators.judged(tables)
    made = _accelerators.summary(found)
    rows, columns = _accelerators.margins(made, "task"), _accelerators.margins(made, "method")
    end = _end(made["median"])
    figure = Figure(figsize=(style.TEXT_WIDTH, 6.4))
    axes = figure.add_subplot()
    _frame(axes, _names(tables, found))
    for cell in made.itertuples(index=False):
        _cell(axes, *_half(_column(cell.method), TASKS.index(cell.task), cell.unit), cell, end)
    for margin in rows.itertuples(index=False):
        _margin(axes, *_half(len(WEIGHTS) + GAP, TASKS.index(margin.task), margin.unit), margin)
    for margin in columns.itertuples(index=False):
        _margin(axes, *_half(_column(margin.method), len(TASKS) + GAP, margin.unit), margin)
    _bar(figure, axes, end)
    panels = {"cells": made, "tasks": rows, "methods": columns}
    drawn = [rows.assign(panel=name) for name, rows in panels.items()]
    return figure, pd.concat(drawn, ignore_index=True)


def _end(medians: pd.Series) -> float:
    """The factor at the upper end of the colours, which go as far to the other side of 1."""
    known = medians[np.isfinite(medians) & (medians > 0)]
    furthest = np.exp(np.log(known).abs().max()) if len(known) else LEAST
    return float(np.clip(furthest, LEAST, MOST))


def _column(method: str) -> int:
    return list(WEIGHTS).index(method)


def _half(column: float, row: float, unit: str) -> tuple[float, float]:
    """The left and upper ends of a half cell."""
    return column, row + 0.5 * UNITS.index(unit)


def _names(tables: dict[str, pd.DataFrame], found: pd.DataFrame) -> list[str]:
    """What each row is: its task, the baseline's regulariser, and the baseline's time."""
    images = tables["accelerators_ce"]["task.name"]
    images = "MNIST" if (images == "mnist").any() else "digits"
    moduli = [tables[f"accelerators_{task}"]["task.modulus"].max() for task in TASKS[:2]]
    names = {
        "addition": f"addition mod {moduli[0]:.0f}\nMLP, l2 norm",
        "transformer": f"addition mod {moduli[1]:.0f}\ntransformer, weight decay",
        "ce": f"{images}, cross-entropy\nweight decay",
        "mse": f"{images}, squared error\nweight decay",
        "xor": "XOR clusters\nweight decay",
        "sparse": "sparse recovery\nl1 norm",
        "completion": "matrix completion\nnuclear norm",
    }
    base = found[found["method"] == BASELINE].groupby("task")["updates"].median()
    times = base.reindex(TASKS)
    texts = [f"{time:,.0f} updates" if np.isfinite(time) else "never" for time in times]
    return [f"{names[task]}\n{text}" for task, text in zip(TASKS, texts, strict=True)]


def _frame(axes: Axes, names: Sequence[str]) -> None:
    """Names of rows and columns, without axes."""
    axes.set_xlim(0, len(WEIGHTS) + GAP + 1)
    axes.set_ylim(len(TASKS) + GAP + 1, 0)
    axes.set_xticks(
        [*np.arange(len(WEIGHTS)) + 0.5, len(WEIGHTS) + GAP + 0.5],
        [*(METHODS[method] for method in WEIGHTS), "mean of\nthe row"],
    )
    axes.xaxis.tick_top()
    axes.set_yticks(
        [*np.arange(len(TASKS)) + 0.5, len(TASKS) + GAP + 0.5],
        [*names, "mean of\nthe column"],
        fontsize=6.5,
    )
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    for row in range(len(TASKS) + 1):
        axes.plot([0, len(WEIGHTS)], [row, row], color=style.MUTED, lw=0.4, zorder=3)
    for column in range(len(WEIGHTS) + 1):
        axes.plot([column, column], [0, len(TASKS)], color=style.MUTED, lw=0.4, zorder=3)


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
    ends = f"{_number(cell.least)} to {_number(cell.most)}"
    _text(axes, x, y + 0.37, ends, 4.8, color=ink)
    if cell.apart:
        axes.add_patch(Rectangle((x + 0.02, y + 0.02), 0.96, 0.46, fill=False, lw=1.3, zorder=4))


def _margin(axes: Axes, x: float, y: float, margin: Any) -> None:
    """The mean and its spread, as factors; in brackets how many cells are left out."""
    if not np.isfinite(margin.mean):
        return
    _text(axes, x, y + 0.17, _number(margin.mean), 7)
    spread = f"*/ {_number(margin.spread)}" if np.isfinite(margin.spread) else ""
    left_out = f" (-{margin.left_out})" if margin.left_out else ""
    _text(axes, x, y + 0.37, f"{spread}{left_out}", 5.2, color=style.GUIDE)


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
