"""Plate 3: which measure moves first, and which tells more than the clock."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import NullFormatter

from grokatlas.papers.plates import _progress
from grokatlas.papers.plates._progress import CLOCK, GENERALISATION, MEASURES, SHARES
from grokatlas.plots import panels, style

LEADS, LAGS, DIFFER = style.MEMBERS[0], style.MEMBERS[1], style.MEMBERS[3]
BEYOND = style.MEMBERS[2]  # of panel b
SIZES = dict(zip(SHARES, (2.6, 3.8, 5.2), strict=True))
APART = dict(zip(SHARES, (0.25, 0.0, -0.25), strict=True))  # upwards from the middle of a row
STRIP = "#e8e8e8"
ROOM = 0.8  # of a row
NEAR, CLOSER, FINE = (0.5, 2.0), 5, (0.82, 1.18)  # of t2; rows that a finer axis is for; its ends
WIDE = (0.3, 0.66)  # of a panel: the finer axis, where there is room for it
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
    axes.set_ylim(_lowest(rows), -0.5)
    texts = [NAMES.get(row, "number of update") for row in rows] if first else []
    axes.set_yticks(range(len(rows)), texts or [""] * len(rows))
    axes.tick_params(axis="y", length=0, labelsize=6.5)
    for place in range(1, len(rows)):
        axes.axhline(place - 0.5, color=style.MUTED, lw=0.3, alpha=0.5, zorder=0)
    if first:
        axes.text(-1.3, 1.02, name, transform=axes.transAxes, fontsize=8.5)


def _lowest(rows: list[str]) -> float:
    """The lower end of a panel; below the last row of panel a are the numbers of the finer axis."""
    return len(rows) - 0.5 + (ROOM if rows == ROWS["a"] else 0)


def _times(axes: Axes, found: pd.DataFrame, window: pd.DataFrame) -> None:
    """When each measure has gone its shares, over t2: medians and range of seeds."""
    axes.set_xscale("log")
    seeds = window.groupby("seed")[["t1", "t2"]].first()
    panels.limits(axes, "x", 0.7 * (seeds["t1"] / seeds["t2"]).min(), 1.5 * _progress.END)
    middle = (found["begins"] / found["t2"]).median()
    if np.isfinite(middle):
        axes.axvline(middle, color=style.GUIDE, lw=0.8, ls="--", zorder=1)
    axes.axvline(1, color=style.GUIDE, lw=0.5, ls=":", zorder=1)
    _marked(axes, found)
    _closer(axes, found, middle)


def _marked(axes: Axes, found: pd.DataFrame) -> None:
    for (measure, share), part in found.groupby(["measure", "share"]):
        at = (part["step"] / part["t2"]).dropna()
        if at.empty:
            continue
        colour = style.GUIDE if measure == GENERALISATION else _colour(part)
        spread = [[at.median() - at.min()], [at.max() - at.median()]]
        look = style.Look(ms=SIZES[share], elinewidth=0.7, mew=0.8, marker="o")
        look["mfc"] = "white" if part["astray"].mean() > 0.5 else colour
        place = ROWS["a"].index(measure) - APART[share]
        axes.errorbar([at.median()], [place], xerr=spread, color=colour, **look)


def _closer(axes: Axes, found: pd.DataFrame, middle: float) -> None:
    """The last rows once more on a finer axis, where all of them are near t2 and none is early."""
    times = (
        found.assign(at=found["step"] / found["t2"]).groupby(["measure", "share"])["at"].median()
    )
    near = times.between(*NEAR).groupby("measure").all()
    rows = ROWS["a"]
    late = [row for row in rows if near.get(row, default=True)]
    tail = next((k for k in range(len(rows)) if rows[k:] == late[-(len(rows) - k) :]), len(rows))
    shown = [row for row in rows[tail:] if row in near]
    held = found[found["measure"].isin(shown)]
    low, high = axes.get_xlim()
    least = (held["step"] / held["t2"]).min()
    edge = np.log(least / low) / np.log(high / low) - 0.04 if least > 0 else 0.0
    if len(shown) < CLOSER or edge < WIDE[0]:
        return
    height = (_lowest(rows) - tail + 0.5) / (_lowest(rows) + 0.5)
    inset = axes.inset_axes((0.02, 0.0, min(WIDE[1], edge - 0.02), height), zorder=3)
    inset.set(xlim=FINE, ylim=(_lowest(rows), tail - 0.5), yticks=[], xticks=[0.9, 1.0, 1.1])
    inset.tick_params(labelsize=5, length=2, direction="in", pad=-8)
    inset.spines[:].set(visible=True, color=style.MUTED, linewidth=0.5)
    if np.isfinite(middle):
        inset.axvline(middle, color=style.GUIDE, lw=0.8, ls="--", zorder=1)
    inset.axvline(1, color=style.GUIDE, lw=0.5, ls=":", zorder=1)
    _marked(inset, held)


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
        colour = style.GUIDE if measure == CLOCK else BEYOND if beyond else "black"
        axes.plot(part["correlation"], [place] * len(part), "o", ms=1.6, color=style.MUTED, mew=0)
        axes.plot([middle], [place], "o", ms=4, color=colour, mew=0)
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
    entries += axes.plot([], [], ms=4, color=BEYOND, label="b: exceeds the strip", **ink)
    panels.legend(
        made,
        handles=entries,
        loc="outside upper center",
        ncols=4,
        columnspacing=1.2,
        handletextpad=0.2,
    )
