"""Plate 3: which measure moves first, and which tells more than the clock."""

from typing import Any

import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import NullFormatter

from grokatlas.claims.statistics import Tables
from grokatlas.papers.plates import _progress
from grokatlas.papers.plates._progress import CLOCK, GENERALISATION, MEASURES, SHARES
from grokatlas.plots import panels, style
from grokatlas.plots.style import FigureAndData

LEADS, LAGS, DIFFER = style.MEMBERS[0], style.MEMBERS[1], style.MEMBERS[3]
BEYOND = style.MEMBERS[2]  # of panel b
SIZES = dict(zip(SHARES, (7, 15, 27), strict=True))  # of marks, in points squared
APART = dict(zip(SHARES, (0.25, 0.0, -0.25), strict=True))  # upwards from the middle of a row
MARKERS = {False: "o", True: "D"}  # whether a measure turns back
STRIP = "#e8e8e8"
NAMES = {GENERALISATION: "test accuracy"} | {key: measure.name for key, measure in MEASURES.items()}
ROWS = {"a": list(NAMES), "b": [*MEASURES, CLOCK]}
LEGEND = {0.1: "10 %", 0.5: "50 %", 0.9: "90 % of its way"}


def draw(tables: Tables) -> FigureAndData:
    """Times of each measure (a) and its correlations over the plateau (b), a column a run."""
    seen = _progress.windows(tables)
    passages, ordered = _progress.moves(seen), _progress.orders(seen)
    made = Figure(figsize=(style.TEXT_WIDTH, 6.6))
    grid = made.subplots(2, len(_progress.RUNS), squeeze=False)
    titles = _titles(tables)
    for column, (run, title) in enumerate(titles.items()):
        above, below = grid[:, column]
        own, window = passages[passages["run"] == run], seen[seen["run"] == run]
        _times(above, own, window)
        _correlations(below, ordered[ordered["run"] == run])
        above.set_title(f"{column + 1}: {title}", fontsize=7)
        for name, axes in (("a", above), ("b", below)):
            _frame(axes, name, first=column == 0)
    _axis(grid)
    _key(made, grid[0, 0])
    return made, pd.concat(
        [passages.assign(panel="a"), ordered.assign(panel="b")], ignore_index=True
    )


def _titles(tables: Tables) -> dict[str, str]:
    """The title of each run, with the size that its table has."""
    images = tables["progress_images"]["task.name"]
    images = "MNIST" if (images == "mnist").any() else "digits"
    moduli = {
        run: f"{tables[f'progress_{run}']['task.modulus'].max():.0f}"
        for run in ("addition", "transformer")
    }
    return {
        "addition": f"addition mod {moduli['addition']},\nl2 norm",
        "transformer": f"transformer,\nmod {moduli['transformer']}",
        "weight_decay": f"{images},\nweight decay",
        "grokalign": f"{images},\nGrokAlign",
        "sparse": "sparse recovery,\nl1 norm",
    }


def _frame(axes: Axes, name: str, first: bool) -> None:
    """A row for each measure, the first at the top."""
    rows = ROWS[name]
    axes.set_ylim(len(rows) - 0.5, -0.5)
    texts = [NAMES.get(row, "number of update") for row in rows] if first else []
    axes.set_yticks(range(len(rows)), texts or [""] * len(rows))
    axes.tick_params(axis="y", length=0, labelsize=6.5)
    for place in range(1, len(rows)):
        axes.axhline(place - 0.5, color=style.MUTED, lw=0.3, alpha=0.5, zorder=0)
    if first:
        axes.text(-1.3, 1.02, name, transform=axes.transAxes, fontsize=8.5)


def _times(axes: Axes, passages: pd.DataFrame, window: pd.DataFrame) -> None:
    """When each measure has gone its shares, over t2, on each seed."""
    axes.set_xscale("log")
    seeds = window.groupby("seed")[["t1", "t2"]].first()
    panels.limits(axes, "x", 0.7 * (seeds["t1"] / seeds["t2"]).min(), 1.5 * _progress.END)
    middle = (passages["begins"] / passages["t2"]).median()
    if np.isfinite(middle):
        axes.axvline(middle, color=style.GUIDE, lw=0.8, ls="--", zorder=1)
    axes.axvline(1, color=style.GUIDE, lw=0.5, ls=":", zorder=1)
    parts = [
        part.assign(colour=_colour(part), back=part["astray"].mean() > 0.5)
        for _, part in passages.groupby(["measure", "share"])
    ]
    if parts:
        rows = pd.concat(parts)
        look = style.Look(size="share", sizes=SIZES, style="back", markers=MARKERS)
        _marks(axes, rows.assign(at=rows["step"] / rows["t2"]), "a", "at", **look)


def _marks(axes: Axes, rows: pd.DataFrame, name: str, column: str, **look: Any) -> None:
    """A mark for each row of a table, in its colour, in the row of its measure."""
    apart = rows["share"].map(APART) if "share" in rows else 0.0
    rows = rows.assign(place=rows["measure"].map(ROWS[name].index) - apart)
    colours = {colour: colour for colour in rows["colour"]}
    shown = style.Look(x=column, y="place", hue="colour", palette=colours, legend=False, lw=0)
    sns.scatterplot(rows.dropna(subset=[column]), ax=axes, zorder=3, **shown, **look)
    axes.set(xlabel="", ylabel="")


def _colour(part: pd.DataFrame) -> str:
    """Of a measure that leads test accuracy on all seeds, lags on all, or neither."""
    if (part["measure"] == GENERALISATION).all():
        return style.GUIDE
    known = part.dropna(subset=["step", "begins"])
    leads = known["step"] < known["begins"]
    return LEADS if leads.all() else DIFFER if leads.any() else LAGS


def _correlations(axes: Axes, ordered: pd.DataFrame) -> None:
    """Signed correlations of each seed and their median; the strip is the clock's size."""
    clock = abs(ordered.loc[ordered["measure"] == CLOCK, "correlation"].median())
    if np.isfinite(clock):
        axes.axvspan(-clock, clock, color=STRIP, lw=0, zorder=0)
    axes.axvline(0, color=style.MUTED, lw=0.5, zorder=1)
    if len(ordered):
        middle = ordered.groupby("measure", as_index=False)["correlation"].median()
        beyond = middle["correlation"].abs() > clock + _progress.MARGIN
        colours = np.where(
            middle["measure"] == CLOCK, style.GUIDE, np.where(beyond, BEYOND, "black")
        )
        _marks(axes, ordered.assign(colour=style.MUTED), "b", "correlation", s=3)
        _marks(axes, middle.assign(colour=colours), "b", "correlation", s=18)
    if clock + _progress.MARGIN >= 1:
        words = style.Look(transform=axes.transAxes, ha="center", va="bottom", color=style.GUIDE)
        axes.text(0.5, 1.0, "nothing can exceed it", fontsize=6, **words)
    axes.set_xlim(-1.1, 1.1)
    axes.set_xticks([-1, 0, 1])


def _axis(grid: np.ndarray) -> None:
    for axes in grid[0]:
        axes.xaxis.set_minor_formatter(NullFormatter())
    grid[0, len(grid[0]) // 2].set_xlabel("update over $t_2$ of the same seed")
    grid[1, len(grid[1]) // 2].set_xlabel(
        "correlation with test accuracy on the plateau (strip: that of the number of the update)"
    )


def _key(made: Figure, axes: Axes) -> None:
    """Colours and sizes, above all panels."""
    ink = style.Look(marker="o", ls="none")
    entries = [
        axes.plot([], [], ms=SIZES[share] ** 0.5, color=style.GUIDE, label=text, **ink)[0]
        for share, text in LEGEND.items()
    ]
    for colour, text in (
        (LEADS, "before test accuracy's 10 % (dashed)"),
        (LAGS, "after it"),
        (DIFFER, "seeds differ"),
    ):
        entries += axes.plot([], [], ms=4, color=colour, label=text, **ink)
    entries += axes.plot([], [], "D", ms=4, color=style.GUIDE, label="turns back")
    entries += axes.plot([], [], ms=4, color=BEYOND, label="b: exceeds the strip", **ink)
    panels.legend(
        made,
        handles=entries,
        loc="outside upper center",
        ncols=4,
        columnspacing=1.2,
        handletextpad=0.2,
    )
