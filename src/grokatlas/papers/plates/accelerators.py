"""Plate 7: every accelerator on every task."""

from typing import Any

import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap, LogNorm
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.ticker import NullFormatter

from grokatlas.claims.statistics import Tables
from grokatlas.papers.plates import _accelerators
from grokatlas.papers.plates._accelerators import BASELINE, UNITS
from grokatlas.plots import style
from grokatlas.plots.style import FigureAndData

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
TICKS = (1 / 30, 1 / 10, 1 / 3, 1.0, 3.0, 10.0, 30.0)
MEAN = "mean"  # the last row and the last column


def draw(tables: Tables) -> FigureAndData:
    """Two matrices: a row for each task with a table, a column for each method, and their means."""
    judged = _accelerators.judged(tables)
    cells = _accelerators.summary(judged)
    means = {by: _accelerators.margins(cells, by) for by in ("task", "method")}
    known = {case for table in tables.values() for case in table["case"].unique()}
    names = _names(tables, judged) | {MEAN: "mean of the column"}
    methods = {name: text for name, text in METHODS.items() if name in known}
    methods[MEAN] = "mean of\nthe row"
    made = Figure(figsize=(style.TEXT_WIDTH, 1.5 + 0.68 * len(names)))
    shown = _shown(cells, means)
    end = _end(cells["median"])
    for axes, unit, letter in zip(made.subplots(len(UNITS)), UNITS, "ab", strict=True):
        _matrix(axes, shown[shown["unit"] == unit], names, methods, end)
        style.letter(axes, f"{letter}  in {unit}")
    _bar(made, end)
    parts = {"cells": cells, "tasks": means["task"], "methods": means["method"]}
    drawn = [rows.assign(panel=name) for name, rows in parts.items()]
    return made, pd.concat(drawn, ignore_index=True)


def _end(medians: pd.Series) -> float:
    """The factor at the upper end of the colours, which go as far to the other side of 1."""
    known = medians[np.isfinite(medians) & (medians > 0)]
    furthest = np.exp(np.log(known).abs().max()) if len(known) else LEAST
    return float(np.clip(furthest, LEAST, MOST))


def _names(tables: Tables, judged: pd.DataFrame) -> dict[str, str]:
    """The name of each row: the task, the baseline's regulariser, and the baseline's time."""
    base = judged[judged["method"] == BASELINE].groupby("task")["updates"].median()
    names = {}
    for task in _accelerators.tasks(tables):
        table, time = tables[f"accelerators_{task}"], base.get(task, np.nan)
        modulus = f"{table['task.modulus'].max():.0f}" if "task.modulus" in table else ""
        images = "MNIST" if (table["task.name"] == "mnist").any() else "digits"
        when = f"{time:,.0f} updates" if np.isfinite(time) else "never"
        names[task] = f"{NAMES[task].format(modulus=modulus, images=images)}: {when}"
    return names


def _shown(cells: pd.DataFrame, means: Tables) -> pd.DataFrame:
    """``task``, ``method``, ``unit``, ``factor`` and ``text`` of all cells, means among them."""
    rows = [cells.assign(factor=cells["median"], text=[_cell(c) for c in cells.itertuples()])]
    for by, other in (("task", "method"), ("method", "task")):
        part = means[by].dropna(subset="mean")
        texts = [_mean(mean) for mean in part.itertuples()]
        rows.append(part.assign(factor=part["mean"], text=texts, **{other: MEAN}))
    return pd.concat(rows, ignore_index=True)


def _matrix(
    axes: Axes, cells: pd.DataFrame, tasks: dict[str, str], methods: dict[str, str], end: float
) -> None:
    """Factors in colours with their texts; hatched for never, a frame for the best of a row."""
    order = {"index": [*tasks], "columns": [*methods]}
    factors, texts, apart = (
        cells.pivot(index="task", columns="method", values=column).reindex(**order)
        for column in ("factor", "text", "apart")
    )
    never = factors.isna() & texts.notna() | np.isinf(factors.astype(float))
    shades = factors.astype(float).mask(never, 1.0).clip(1 / end, end)
    frame = style.Look(linewidths=0.3, linecolor=style.MUTED, annot_kws={"fontsize": 6})
    ends = style.Look(norm=LogNorm(1 / end, end), vmin=1 / end, vmax=end)
    look = style.Look(cmap=COLOURS, cbar=False, **ends, **frame)
    sns.heatmap(shades, annot=texts.astype(object).fillna(""), fmt="", ax=axes, **look)
    hatched = np.ma.masked_where(~never.to_numpy(), never.to_numpy(float))
    axes.pcolor(hatched, hatch="////", facecolor="none", edgecolor="#cccccc", lw=0)
    for row, column in np.argwhere(apart.eq(True).to_numpy()):
        place = Rectangle((column + 0.02, row + 0.03), 0.96, 0.94, fill=False, lw=1.3, zorder=4)
        axes.add_patch(place)
    axes.axhline(len(tasks) - 1, color="white", lw=4)
    axes.axvline(len(methods) - 1, color="white", lw=4)
    axes.set(xlabel="", ylabel="")
    axes.xaxis.tick_top()
    axes.set_xticklabels(methods.values(), rotation=0)
    axes.set_yticklabels(tasks.values(), rotation=0, fontsize=6.5)
    axes.tick_params(length=0)


def _cell(cell: Any) -> str:
    """The median and the range; that nothing is reached."""
    if not np.isfinite(cell.median):
        return "never" if not cell.reached else f"on {cell.reached} of {cell.seeds}"
    if cell.median == 0:
        return "baseline\nnever"
    return f"{_number(cell.median)}\n{_number(cell.least)}-{_number(cell.most)}"


def _mean(mean: Any) -> str:
    """The mean and its spread, as factors; in brackets how many cells are left out."""
    spread = f"*/ {_number(mean.spread)}" if np.isfinite(mean.spread) else ""
    left_out = f" (-{mean.left_out})" if mean.left_out else ""
    return f"{_number(mean.mean)}\n{spread}{left_out}"


def _number(value: float) -> str:
    """Two digits; ``never`` where a range has no end."""
    if not np.isfinite(value):
        return "never"
    return f"{value:.2g}" if value < 100 else f"{value:.0f}"


def _bar(made: Figure, end: float) -> None:
    """The colours, below the matrices."""
    shades = made.axes[-1].collections[0]
    ticks = [tick for tick in TICKS if 1 / end <= tick * 1.001 and tick <= end * 1.001]
    place = style.Look(location="bottom", aspect=50, pad=0.02, shrink=0.6)
    beside = made.colorbar(shades, ax=made.axes, ticks=ticks, **place)
    beside.ax.set_xticklabels([_number(tick) for tick in ticks])
    beside.ax.xaxis.set_minor_formatter(NullFormatter())
    beside.set_label("time to generalise over the baseline's")
