"""Table 2 against the budget: accuracy, alignment of Jacobian rows, and rank of Jacobians."""

from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from grokatlas.claims.statistics import Tables
from grokatlas.papers.grokalign import _budget_statistics
from grokatlas.papers.grokalign._jacobians import data_named
from grokatlas.plots import marks, panels, style
from grokatlas.plots.style import FigureAndData

COLOURS = {"baseline": "weight_decay", "grokalign": "grokalign", "adversarial": "adversarial"}
NAMES = {"baseline": "baseline", "grokalign": "GrokAlign", "adversarial": "adversarial training"}
LOSSES = {"ce": "cross-entropy", "mse": "squared error"}
PUBLISHED = {"mfc": "none", "mew": 1, "ms": 4.5, "zorder": 6, "clip_on": False}


def draw(tables: Tables, published: dict[str, Any]) -> FigureAndData:
    """A column for each loss, a colour for each method; the published rows as open marks."""
    table = tables["common_budget"]
    made = Figure(figsize=(style.TEXT_WIDTH, 6.4))
    grid = made.subplots(4, 2, sharey="row", height_ratios=[1, 1, 1, 0.42])
    nearest = _budget_statistics.passages(table, published)
    drawn = []
    for column, (loss, title), letters in zip(grid.T, LOSSES.items(), ("ace", "bdf"), strict=True):
        for method in COLOURS:
            rows = table[(table["case"] == f"{loss}_{method}") & (table["step"] > 0)]
            drawn += _lines(column, rows, method)
            drawn.append(_published(column, f"{loss}_{method}", nearest, published))
        for axes, letter in zip(column, letters, strict=False):
            style.letter(axes, letter)
            if axes is not column[0]:
                axes.sharex(column[0])
        column[0].set_xscale("log")
        named = f"{title} ({data_named(table)}, {style.seeds(table)})"
        style.letter(column[0], f"{letters[0]}  {named}")
        column[2].set_xlabel("step")
        _told(column[3], loss, nearest)
    for axes, text in zip(grid[:, 0], ("test accuracy", "cosine of row and input"), strict=False):
        axes.set_ylabel(text)
    grid[2, 0].set(ylabel=r"PC1, $\sigma_1^2 / \sum_i \sigma_i^2$", ylim=(0, 1.02))
    grid[0, 0].set_ylim(0, 1.02)
    _legend(made, grid[0, 0])
    return made, pd.concat([*drawn, nearest.assign(series="passage")], ignore_index=True)


def _lines(column: Any, rows: pd.DataFrame, method: str) -> list[pd.DataFrame]:
    """Accuracy and PC1 as they were logged, least and largest alignment at the snapshots."""
    line = {"color": style.COLOURS[COLOURS[method]]}
    history = rows[rows["record"] == "history"]
    snapshots = rows[rows["record"] == "jacobian_rows"]
    parts = [marks.spread(column[0], history, "test_accuracy", **line)]
    for end, mark in (("min", "v"), ("max", "^")):
        keywords: style.Look = line | {"marker": mark, "ms": 2.5}
        parts.append(marks.spread(column[1], snapshots, f"row_alignment_{end}", **keywords))
    parts.append(marks.spread(column[2], history, "jacobian_pc1", **line))
    return [part.assign(method=method) for part in parts]


def _published(
    column: Any, case: str, nearest: pd.DataFrame, published: dict[str, Any]
) -> pd.DataFrame:
    """The paper's numbers as dotted lines, with an open mark where ours are nearest to the row."""
    row = _budget_statistics.row(published, case)
    colour = style.COLOURS[COLOURS[case.partition("_")[2]]]
    step = nearest.loc[nearest["case"] == case, "step"].median()
    for name, value in row.items():
        axes = column[0 if name == "test_accuracy" else 1]
        axes.axhline(value, color=colour, ls=":", lw=0.8, zorder=1)
        if pd.notna(step):
            axes.plot([step], [value], "o", mec=colour, **PUBLISHED)
    columns = {"series": [f"published {name}" for name in row], "median": list(row.values())}
    return pd.DataFrame(columns).assign(case=case, step=step)


def _told(axes: Axes, loss: str, nearest: pd.DataFrame) -> None:
    """At which budget each published row is passed, as text."""
    axes.set_axis_off()
    axes.text(0, 0.95, "published row is nearest at step (off, in tolerances):", fontsize=6.5)
    for place, (method, key) in enumerate(COLOURS.items()):
        rows = nearest[nearest["case"] == f"{loss}_{method}"]
        text = "not run"
        if len(rows):
            text = f"{rows['step'].median():,.0f} ({rows['distance'].median():.2g})"
        colour = style.COLOURS[key]
        keywords = style.Look(color=colour, fontsize=7, transform=axes.transAxes)
        axes.text(0, 0.62 - 0.3 * place, f"{NAMES[method]}: {text}", **keywords)


def _legend(made: Figure, axes: Axes) -> None:
    handles = [axes.plot([], [], color=style.COLOURS[key])[0] for key in COLOURS.values()]
    handles.append(
        axes.plot([], [], "o", mec=style.GUIDE, ls=":", color=style.GUIDE, mfc="none")[0]
    )
    labels = [*NAMES.values(), "published"]
    panels.legend(made, handles, labels, loc="outside upper right", ncols=len(labels))
