"""Plate 4: kinds of truth by regularisers by numbers of samples."""

import numpy as np
import pandas as pd
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from grokatlas.claims.statistics import Tables
from grokatlas.papers.plates import _recovery
from grokatlas.plots import panels, style
from grokatlas.plots.style import FigureAndData

ROWS = {
    "sparse": "sparse",
    "low_rank": "low rank",
    "gaussian": "Gaussian",
    "block_constant": "blocks",
}
COLUMNS = {"l1": "l1", "nuclear": "nuclear", "l2": "squared l2", "none": "none"}
COLOURS = {name: style.COLOURS[name] for name in ("l1", "nuclear", "l2")}
COLOURS["none"] = style.MEMBERS[0]
MIRAGE, THEORY = "#a3a3a3", "#56B4E9"
MARKERS, LOST = "oD", "x+"  # of the small and the large start: something happened, nothing did
AREA = 42.0  # points squared of a mark that stands for all instances
FRAME = 1.6  # points: the width of a frame
MOST = 0.5  # of the instances: so many must have neither outcome to be marked
BEYOND = 30.0  # times below the least mark: a distance further down is not looked for
TIME = "$t \\times$ rate $\\times$ weight"


def draw(tables: Tables) -> FigureAndData:
    """A panel for each truth (row) and regulariser (column), with marks by N and by start."""
    outcomes = _recovery.outcomes(tables)
    marks, theory = _marks(outcomes), _theory(outcomes)
    made, grid = style.figure(4, 4, height=1.5, sharex=True)
    ends = _ends(marks, theory)
    for row, truth in enumerate(ROWS):
        for column, regulariser in enumerate(COLUMNS):
            axes = grid[row, column]
            here = {"truth": truth, "regulariser": regulariser}
            _panel(axes, _at(marks, here), _at(theory, here), ends, last=column == 3)
            if _recovery.DIAGONAL.get(truth) == regulariser:
                _framed(axes, COLOURS[regulariser])
    for axes, title in zip(grid[0], COLUMNS.values(), strict=True):
        axes.set_title(f"regulariser: {title}")
    for axes, text in zip(grid[:, 0], ROWS.values(), strict=True):
        axes.set_ylabel(f"truth: {text}\n{TIME}")
    for axes in grid[:, 1:].flat:
        axes.tick_params(labelleft=False)
    for axes in grid[-1]:
        axes.set_xlabel("measurements N")
        places = sorted(outcomes["samples"].unique())
        axes.set_xticks(places[1::2] or places)
    _key(made)
    return made, pd.concat([marks, theory], ignore_index=True)


def _marks(outcomes: pd.DataFrame) -> pd.DataFrame:
    """Share of instances and median time of each outcome, by truth, regulariser, start and N."""
    keys = ["truth", "regulariser", "start", "samples"]
    parts = []
    for outcome, time in (("recovered", "slow"), ("mirage", "fall")):
        groups = outcomes.assign(time=outcomes[time].where(outcomes[outcome])).groupby(keys)
        shares = groups.agg(
            share=(outcome, "mean"), time=("time", "median"), runs=(outcome, "size")
        )
        parts.append(shares.reset_index().assign(outcome=outcome))
    both = pd.concat(parts, ignore_index=True)
    none = both.groupby(keys).agg(share=("share", "sum"), runs=("runs", "first")).reset_index()
    none = none.assign(outcome="neither", share=1 - none["share"], time=np.nan)
    return pd.concat([both, none], ignore_index=True)


def _theory(outcomes: pd.DataFrame) -> pd.DataFrame:
    """Share of instances whose fit of least norm is the truth; the distance left, by start."""
    keys = ["truth", "regulariser", "samples"]
    shares = outcomes.groupby(keys)["convex"].mean().rename("share").reset_index()
    left = outcomes[outcomes["regulariser"].isin(["l1", "nuclear"])]
    left = left.groupby([*keys, "start"])["distance"].median().rename("time").reset_index()
    parts = [shares.assign(outcome="minimiser"), left.assign(outcome="distance")]
    return pd.concat(parts, ignore_index=True)


def _ends(marks: pd.DataFrame, theory: pd.DataFrame) -> tuple[float, float]:
    """The least and the largest time that is drawn.

    Where the data determine every unknown, the distance left is of rounding: it leaves the panel.
    """
    times = marks.loc[marks["share"] > 0, "time"]
    times = times[times > 0]
    if times.empty:
        return 0.1, 10.0
    distances = theory["time"]
    times = pd.concat([times, distances[distances > times.min() / BEYOND]])
    return float(times.min()), float(times.max())


def _at(rows: pd.DataFrame, here: dict[str, str]) -> pd.DataFrame:
    for column, value in here.items():
        rows = rows[rows[column] == value]
    return rows


def _panel(
    axes: Axes, marks: pd.DataFrame, theory: pd.DataFrame, ends: tuple[float, float], *, last: bool
) -> None:
    """The marks of one panel, in front of what theory says."""
    low, high = ends[0] / 5, ends[1] * 1.6
    axes.set_yscale("log")
    panels.limits(axes, "y", low, high)
    _shaded(axes, theory[theory["outcome"] == "minimiser"], last=last)
    for _, part in theory[theory["outcome"] == "distance"].groupby("start"):
        axes.plot(part["samples"], part["time"], color=style.GUIDE, lw=0.8, ls=":", zorder=1)
    for place, start in enumerate(sorted(marks["start"].unique())[:2]):
        own = marks[marks["start"] == start]
        for outcome in ("mirage", "recovered"):
            _drawn(axes, own[own["outcome"] == outcome], MARKERS[place])
        lost = own[(own["outcome"] == "neither") & (own["share"] > MOST)]["samples"]
        height = [low * (1.3, 2.3)[place]] * len(lost)
        axes.plot(lost, height, LOST[place], color=style.MUTED, ms=3.5, mew=0.8)


def _shaded(axes: Axes, theory: pd.DataFrame, *, last: bool) -> None:
    """The share of instances whose fit of least norm is the truth, on the right axis."""
    under = axes.twinx()
    under.set_zorder(0)
    axes.set_zorder(1)
    axes.patch.set_visible(False)
    under.fill_between(theory["samples"], theory["share"], color=THEORY, alpha=0.22, lw=0)
    under.plot(theory["samples"], theory["share"], color=THEORY, lw=0.8)
    under.set(ylim=(0, 1.04), yticks=[0, 0.5, 1])
    under.tick_params(labelright=last, length=2 if last else 0, colors="#2b7fb0")
    under.spines[:].set_visible(False)
    if last:
        under.set_ylabel("share (shaded)", color="#2b7fb0")


def _drawn(axes: Axes, rows: pd.DataFrame, marker: str) -> None:
    rows = rows[rows["share"] > 0]
    colours = [
        MIRAGE if outcome == "mirage" else COLOURS[regulariser]
        for outcome, regulariser in zip(rows["outcome"], rows["regulariser"], strict=True)
    ]
    look = style.Look(marker=marker, s=AREA * rows["share"], edgecolors=colours)
    faces = colours if marker == "o" else ["white"] * len(rows)
    axes.scatter(
        rows["samples"], rows["time"], facecolors=faces, linewidths=1.1, clip_on=False, **look
    )


def _framed(axes: Axes, colour: str) -> None:
    for spine in axes.spines.values():
        spine.set(visible=True, color=colour, linewidth=FRAME)


def _key(made: Figure) -> None:
    """A key of marks, colours and sizes, above all panels."""
    axes = made.axes[0]
    dark, grey = ({"color": colour, "ls": ""} for colour in (style.GUIDE, MIRAGE))
    size = AREA**0.5
    looks: list[tuple[str, str, style.Look]] = [
        ("o", "recovered, start $10^{-6}$", dark | {"ms": size}),
        ("D", "recovered, start 10", dark | {"ms": size, "mfc": "white"}),
        ("o", "mirage, start $10^{-6}$", grey | {"ms": size}),
        ("D", "mirage, start 10", grey | {"ms": size, "mfc": "white"}),
        (LOST[0], "neither, start $10^{-6}$", grey | {"ms": 4}),
        (LOST[1], "neither, start 10", grey | {"ms": 4}),
        ("o", "a third of the instances", dark | {"ms": size / 3**0.5}),
        ("", "distance left when fitted", {"color": style.GUIDE, "lw": 0.8, "ls": ":"}),
        ("", "share: fit of least norm is the truth", {"color": THEORY, "lw": 4, "alpha": 0.5}),
    ]
    entries: list[Artist] = [
        axes.plot([], [], marker=m, label=text, **look)[0] for m, text, look in looks
    ]
    framed = style.Look(fc="none", ec=style.GUIDE, lw=FRAME)
    entries.append(Patch(label="framed: fits the truth", **framed))
    panels.legend(made, handles=entries, loc="outside upper center", ncols=4, handletextpad=0.5)
