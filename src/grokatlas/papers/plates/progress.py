"""Plate 3: which measure moves first, and which tells more than the clock."""

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import NullFormatter

from grokatlas.papers.plates import _progress
from grokatlas.papers.plates._progress import CLOCK, GENERALISATION, MEASURES, SHARES
from grokatlas.plots import panels, style

LEADS, LAGS, DIFFER = style.MEMBERS[0], style.MEMBERS[1], style.MEMBERS[3]
SIZES = dict(zip(SHARES, (2.6, 3.8, 5.2), strict=True))
APART = dict(zip(SHARES, (0.25, 0.0, -0.25), strict=True))  # upwards from the middle of a row
STRIP = "#e8e8e8"
NAMES = {GENERALISATION: "test accuracy"} | {key: each.name for key, each in MEASURES.items()}
ROWS = {"a": list(NAMES), "b": [*MEASURES, CLOCK]}
LEGEND = {0.1: "10 %", 0.5: "50 %", 0.9: "90 % of its way"}


def draw(tables: dict[str, pd.DataFrame]) -> tuple[Figure, pd.DataFrame]:
    """Times of each measure (a) and its correlations over the plateau (b), a column a run."""
    seen = _progress.windows(tables)
    found, ordered = _progress.moves(seen), _progress.orders(seen)
    made = Figure(figsize=(style.TEXT_WIDTH, 6.6))
    grid = made.subplots(2, len(_progress.RUNS), squeeze=False)
    titles = _titles(tables)
    for column, (run, title) in enumerate(titles.items()):
        above, below = grid[:, column]
        own, window = found[found["run"] == run], seen[seen["run"] == run]
        _times(above, own, window)
        _correlations(below, ordered[ordered["run"] == run])
        above.set_title(f"{column + 1}: {title}", fontsize=7)
        for name, axes in (("a", above), ("b", below)):
            _frame(axes, name, first=column == 0)
    _axis(grid)
    _key(made, grid[0, 0])
    return made, pd.concat([found.assign(panel="a"), ordered.assign(panel="b")], ignore_index=True)


def _titles(tables: dict[str, pd.DataFrame]) -> dict[str, str]:
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


def _times(axes: Axes, found: pd.DataFrame, window: pd.DataFrame) -> None:
    """When each measure has gone its shares, over t2: medians and range of seeds."""
    axes.set_xscale("log")
    seeds = window.groupby("seed")[["t1", "t2"]].first()
    panels.limits(axes, "x", 0.7 * (seeds["t1"] / seeds["t2"]).min(), 1.5 * _progress.END)
    middle = (found["begins"] / found["t2"]).median()
    if np.isfinite(middle):
        axes.axvline(middle, color=style.GUIDE, lw=0.8, ls="--", zorder=1)
    axes.axvline(1, color=style.GUIDE, lw=0.5, ls=":", zorder=1)
    for (measure, share), part in found.groupby(["measure", "share"]):
        at = (part["step"] / part["t2"]).dropna()
        if at.empty:
            continue
        colour = style.GUIDE if measure == GENERALISATION else _colour(part)
        spread = [[at.median() - at.min()], [at.max() - at.median()]]
        look: dict[str, Any] = {"ms": SIZES[share], "elinewidth": 0.7, "mew": 0.8, "marker": "o"}
        look["mfc"] = "white" if part["astray"].mean() > 0.5 else colour
        place = ROWS["a"].index(measure) - APART[share]
        axes.errorbar([at.median()], [place], xerr=spread, color=colour, **look)


def _colour(part: pd.DataFrame) -> str:
    """Of a measure that leads test accuracy on all seeds, lags on all, or neither."""
    known = part.dropna(subset=["step", "begins"])
    leads = known["step"] < known["begins"]
    return LEADS if leads.all() else DIFFER if leads.any() else LAGS


def _correlations(axes: Axes, ordered: pd.DataFrame) -> None:
    """Signed correlations of each seed and their median; the strip is the clock's size."""
    clock = abs(ordered.loc[ordered["measure"] == CLOCK, "correlation"].median())
    if np.isfinite(clock):
        axes.axvspan(-clock, clock, color=STRIP, lw=0, zorder=0)
    axes.axvline(0, color=style.MUTED, lw=0.5, zorder=1)
    for measure, part in ordered.groupby("measure"):
        place = ROWS["b"].index(measure)
        middle = part["correlation"].median()
        beyond = abs(middle) > clock + _progress.MARGIN
        colour = style.GUIDE if measure == CLOCK else LEADS if beyond else "black"
        axes.plot(part["correlation"], [place] * len(part), "o", ms=1.6, color=style.MUTED, mew=0)
        axes.plot([middle], [place], "o", ms=4, color=colour, mew=0)
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
    ink = {"marker": "o", "ls": "none"}
    entries = [
        axes.plot([], [], ms=SIZES[share], color=style.GUIDE, label=text, **ink)[0]
        for share, text in LEGEND.items()
    ]
    for colour, text in (
        (LEADS, "before test accuracy's 10 % (dashed)"),
        (LAGS, "after it"),
        (DIFFER, "seeds differ"),
    ):
        entries += axes.plot([], [], ms=4, color=colour, label=text, **ink)
    entries += axes.plot([], [], ms=4, color=style.GUIDE, mfc="white", label="turns back", **ink)
    panels.legend(
        made,
        handles=entries,
        loc="outside upper center",
        ncols=7,
        columnspacing=1.2,
        handletextpad=0.2,
    )
