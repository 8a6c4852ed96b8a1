"""The number of kinks of the two-layer ReLU network over time, and where they are."""

import pandas as pd
from matplotlib.axes import Axes

from grokatlas.claims.statistics import Tables
from grokatlas.papers.two_timescales import _kinks
from grokatlas.plots import marks, panels, style
from grokatlas.plots.style import FigureAndData

AREA = 60.0  # points squared of a mark with all changes of slope


def draw(tables: Tables) -> FigureAndData:
    """Their number for each lambda; their places at the largest lambda and without decay."""
    table = tables["theory_two_layer_relu"]
    history = table[table["record"] == "history"]
    places = _kinks.of_weights(history)
    made, grid = style.figure(3, height=2.5)
    drawn = [_number(grid[0, 0], _kinks.numbers(places))]
    shown = places[places["seed"] == places["seed"].min()]
    decays = sorted(places["lambda"].unique())
    points = sorted(set(history.filter(like="task.points.").iloc[0])) if len(history) else []
    titles = ("b  places", "c  places")
    for axes, title, decay in zip(grid[0, 1:], titles, (decays[-1:], decays[:1]), strict=True):
        rows = shown[shown["lambda"].isin(decay)]
        drawn.append(_places(axes, rows, points))
        at = f", $\\lambda$ = {decay[0]:g}" if decay else ""
        style.letter(axes, f"{title}{at}, seed {shown['seed'].min():g}" if decay else title)
    grid[0, 1].set_ylabel("kink at x")
    for axes in grid[0]:
        axes.set_xlabel("time t")
        panels.limits(axes, "x", places["time"].min(), places["time"].max())
    return made, pd.concat(drawn, ignore_index=True)


def _number(axes: Axes, counts: pd.DataFrame) -> pd.DataFrame:
    """The number of kinks over time, for each lambda and seed."""
    colours = style.weights(counts["lambda"].unique())
    frames = [counts.iloc[:0]]
    for decay, rows in counts.groupby("lambda"):
        line = {"against": "time", "color": colours[decay], "label": f"{decay:g}"}
        line |= {} if decay else {"ls": (0, (4, 3)), "zorder": 3}
        frames.append(marks.spread(axes, rows, "kinks", **line).assign(**{"lambda": decay}))
    style.letter(axes, "a  number of kinks")
    axes.set(xscale="log", ylabel="kinks that count", ylim=(0, None))
    if len(counts):
        axes.legend(title="$\\lambda$", title_fontsize=7, loc="lower left", ncols=2, fontsize=6)
    return pd.concat(frames, ignore_index=True)


def _places(axes: Axes, rows: pd.DataFrame, points: list[float]) -> pd.DataFrame:
    """A mark for each kink, as large as its share of all changes of slope."""
    for point in points:
        axes.axhline(point, color=style.MUTED, lw=0.5, zorder=0)
    keywords = style.Look(color=style.COLOURS["train"], linewidths=0, alpha=0.6)
    axes.scatter(rows["time"], rows["place"], s=AREA * rows["share"], **keywords)
    axes.set_xscale("log")
    return rows.assign(series="place")
