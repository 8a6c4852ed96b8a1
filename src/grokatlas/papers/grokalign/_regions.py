"""Linear regions of a network in planes through three training points, with centroids."""

import json
from typing import Any

import numpy as np
import pandas as pd
from matplotlib import patheffects
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.collections import PolyCollection
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure
from matplotlib.gridspec import SubplotSpec
from matplotlib.ticker import LogLocator, NullFormatter

from grokatlas.papers.grokalign import _jacobians_statistics
from grokatlas.papers.grokalign._jacobians import data_named
from grokatlas.plots import style
from grokatlas.plots.style import FigureAndData

CASE = "squared_error"  # the other is run to show what it gives instead
MOMENTS = ("memorisation", "generalisation", "end")
INK = style.Look(color="black", markeredgecolor="black", markeredgewidth=0.7, zorder=4)
COLUMNS = ["moment", "step", "plane", "item", "place", "polygon", "slope_norm"]


def moments(table: pd.DataFrame, plane: int) -> FigureAndData:
    """The three images of a plane, and its regions at memorisation, generalisation and the end.

    Of the first seed of `CASE`. The data are rows of the measure, with the scaled centroids' points
    in ``polygon`` and the cosine of input and centroid in ``alignment``.
    """
    rows = _jacobians_statistics.regions(table, CASE)
    rows = rows[rows["plane"] == plane]
    made = Figure(figsize=(style.TEXT_WIDTH, 2.8))
    grid = made.add_gridspec(1, 1 + len(MOMENTS), width_ratios=[0.55, *(1 for _ in MOMENTS)])
    shades = _shades(rows)
    drawn, panels = [], []
    for position, (moment, letter) in enumerate(zip(MOMENTS, "bcd", strict=True), start=1):
        panels.append(made.add_subplot(grid[0, position]))
        seen = rows[rows["moment"] == moment]
        drawn.append(_plane(panels[-1], seen, shades))
        style.letter(panels[-1], f"{letter}  {moment}\n{_instant(table, seen)}")
    _bar(made, shades, panels)
    shown = pd.concat(drawn, ignore_index=True)
    _images(made, grid[0, 0], rows, shown)
    made.suptitle(data_named(table), x=0.99, ha="right", fontsize=8)
    return made, shown


def planes(table: pd.DataFrame, moment: str, numbers: list[int]) -> FigureAndData:
    """The regions at one of `MOMENTS` in several planes, three in a row; data as of `moments`."""
    rows = _jacobians_statistics.regions(table, CASE)
    rows = rows[(rows["moment"] == moment) & rows["plane"].isin(numbers)]
    made, grid = style.figure(3, -(-len(numbers) // 3), height=2.25)
    shades = _shades(rows)
    drawn = []
    for axes, number in zip(grid.flat, numbers, strict=False):
        drawn.append(_plane(axes, rows[rows["plane"] == number], shades))
        style.letter(axes, f"plane {number}")
    for axes in grid.flat[len(numbers) :]:
        axes.set_axis_off()
    _bar(made, shades, list(grid.flat))
    instant = _instant(table, rows).replace("\n", ": ")
    text = f"{data_named(table)}: {moment}, {instant}"
    made.suptitle(text, x=0.01, ha="left", fontsize=8.5)
    return made, pd.concat(drawn, ignore_index=True)


def _instant(table: pd.DataFrame, rows: pd.DataFrame) -> str:
    """Step and accuracies of a moment, as text; nothing if it never came.

    Snapshots after a run's stop hold what it stopped with, at the last step of its history.
    """
    if rows.empty:
        return ""
    history = table[(table["record"] == "history") & (table["case"] == CASE)]
    history = history[history["seed"] == rows["seed"].iloc[0]]
    last = history[history["step"] <= rows["step"].iloc[0]].sort_values("step").iloc[-1]
    train, test = last["train_accuracy"], last["test_accuracy"]
    return f"step {last['step']:,.0f}\ntrain {train:.0%}, test {test:.0%}"


def _shades(rows: pd.DataFrame) -> ScalarMappable:
    """One logarithmic scale for the slopes of all panels; any, if none is positive."""
    sizes = rows.loc[rows["item"] == "region", "slope_norm"].to_numpy()
    pixels = [json.loads(text) for text in rows.loc[rows["item"] == "line", "entries"]]
    sizes = np.concatenate([sizes, *pixels])
    sizes = sizes[sizes > 0]
    ends = (sizes.min(), sizes.max()) if len(sizes) else (1, 10)
    return ScalarMappable(LogNorm(*ends), "viridis")


def _bar(made: Figure, shades: ScalarMappable, panels: list[Axes]) -> None:
    bar = made.colorbar(shades, ax=panels, label="norm of the slope", pad=0.015, fraction=0.03)
    bar.ax.yaxis.set_major_locator(LogLocator(subs=(1, 1.5, 2, 3, 5, 7)))
    bar.ax.yaxis.set_major_formatter("{x:g}")
    bar.ax.yaxis.set_minor_formatter(NullFormatter())


def _plane(axes: Axes, rows: pd.DataFrame, shades: ScalarMappable) -> pd.DataFrame:
    """Regions coloured by the norms of their slopes; inputs, and arrows to their centroids."""
    axes.set(aspect="equal", xticks=[], yticks=[])
    axes.spines[:].set_visible(True)
    if rows.empty:
        axes.text(0.5, 0.5, "not reached", transform=axes.transAxes, ha="center")
        return rows.reindex(columns=[*COLUMNS, "alignment"])
    _slopes(axes, rows[rows["item"].isin(["region", "line"])].sort_values("place"), shades)
    centroids = _jacobians_statistics.centroids(rows)
    for place, (start, end) in enumerate(
        zip(centroids["input"], centroids["centroid"], strict=True)
    ):
        axes.plot(*start, "o", markerfacecolor="white", markersize=6, **INK)
        _named(axes, chr(ord("A") + place), np.array(start), np.array(end))
        arrow = {"arrowstyle": "-", "shrinkA": 3, "shrinkB": 0, "lw": 0.9}
        axes.annotate("", end, start, arrowprops=arrow, zorder=3, annotation_clip=False)
        axes.plot(
            *end, "*", markerfacecolor=style.COLOURS["test"], markersize=8, clip_on=False, **INK
        )
    return _drawn(rows, centroids)


def _named(axes: Axes, name: str, start: np.ndarray, end: np.ndarray) -> None:
    """The name of an input, beside it and away from its centroid."""
    way, length = start - end, np.linalg.norm(start - end)
    beside = 8.0 * (way / length if length > 0 else np.array([0.0, 1.0]))
    halo = [patheffects.withStroke(linewidth=2, foreground="white")]
    look = style.Look(ha="center", va="center", fontsize=7, zorder=6, path_effects=halo)
    axes.annotate(name, tuple(start), xytext=tuple(beside), textcoords="offset points", **look)


def _slopes(axes: Axes, rows: pd.DataFrame, shades: ScalarMappable) -> None:
    """The regions, or the lines of an image, in their window."""
    polygons = [json.loads(text) for text in rows["polygon"]]
    corners = np.concatenate([np.array(polygon) for polygon in polygons])
    (left, low), (right, high) = corners.min(axis=0), corners.max(axis=0)
    if (rows["item"] == "line").all():
        norms = np.array([json.loads(text) for text in rows["entries"]])
        seen = np.where(norms > 0, norms, np.nan)
        how = style.Look(norm=shades.norm, cmap=shades.cmap, interpolation="none")
        axes.imshow(seen, origin="lower", extent=(left, right, low, high), **how)
    else:
        faces = shades.to_rgba(np.where(rows["slope_norm"] > 0, rows["slope_norm"], np.nan))
        # no edges and no antialiasing: colours tell regions apart, and leave no seams between them
        fill = style.Look(facecolors=faces, edgecolors="none", antialiased=False, rasterized=True)
        axes.add_collection(PolyCollection(polygons, **fill))
    axes.set(xlim=(left, right), ylim=(low, high))


def _drawn(rows: pd.DataFrame, centroids: dict[str, Any]) -> pd.DataFrame:
    """The measure's rows, with the points and cosines of centroids as they are drawn."""
    shown = rows[COLUMNS].copy()
    shown["entries"] = rows["entries"].where(rows["item"] == "line")
    own = shown["item"] == "centroid"
    places = shown.loc[own, "place"].astype(int)
    shown.loc[own, "polygon"] = [json.dumps([centroids["centroid"][k].tolist()]) for k in places]
    shown.loc[own, "alignment"] = centroids["alignment"][places]
    return shown


def _images(made: Figure, place: SubplotSpec, rows: pd.DataFrame, shown: pd.DataFrame) -> None:
    """The three inputs as square images, each with its cosines at all moments."""
    inputs = rows[rows["item"] == "input"].drop_duplicates("place").sort_values("place")
    cosines = shown[shown["item"] == "centroid"].pivot(index="place", columns="moment")["alignment"]
    grid = place.subgridspec(3, 1).subplots(squeeze=False)
    for axes, row in zip(grid[:, 0], inputs.itertuples(), strict=True):
        values = np.array(json.loads(row.entries))
        side = int(np.sqrt(len(values)))
        axes.imshow(values[: side * side].reshape(side, side), cmap="gray")
        axes.set(xticks=[], yticks=[])
        seen = [cosines.loc[row.place, moment] for moment in MOMENTS if moment in cosines]
        way = ["none" if np.isnan(cosine) else f"{cosine:.2f}" for cosine in seen]
        axes.set_xlabel(f"cosine\n{' → '.join(way)}", fontsize=6.5)
        letter = "" if row.place else "a  "
        style.letter(axes, f"{letter}input {chr(ord('A') + int(row.place))}")
