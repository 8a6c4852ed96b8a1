"""Plate 1: the memory of Adam's denominator and the time of generalisation."""

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullFormatter

from grokatlas.claims.statistics import Tables
from grokatlas.papers.plates import _adam_memory
from grokatlas.papers.plates._adam_memory import BETA2, WEIGHT
from grokatlas.plots import marks, panels, style
from grokatlas.plots.style import FigureAndData

PENALTIES = {"l2": "l2", "l1": "l1", "nuclear": "nuclear", "none": "none"}
SETTINGS = {"l2": "as in a", "small_eps": "smaller eps", "large_step": "larger step"}
COLOURS = {
    **{name: style.COLOURS[name] for name in ("l2", "l1", "nuclear")},
    "none": style.ZERO,
    "small_eps": style.MEMBERS[0],
    "large_step": style.MEMBERS[1],
}
CURVES = {"train_loss": "training loss", "l2_norm": "l2 norm", "effective_step": "effective step"}
MEMORY = "memory, $1 / (1 - \\beta_2)$"
ASIDE = 1.1  # between the crosses of two cases


def draw(tables: Tables) -> FigureAndData:
    """Times against memory (a, b), curves by beta2 (c to e), and times against the weight (f)."""
    table = tables["adam_memory"]
    history = table[table["record"] == "history"]
    times = _adam_memory.times(tables, "adam_memory")
    times["memory"] = 1 / (1 - times[BETA2])
    made, grid = style.figure(3, 2, height=2.35)
    length = float(history["step"].max())
    drawn = [
        _times(grid[0, 0], times, PENALTIES, length),
        _times(grid[0, 1], times, SETTINGS, length),
    ]
    places = (grid[0, 2], grid[1, 0], grid[1, 1])
    curves = _adam_memory.longest(tables, history)
    laws = _adam_memory.times(tables, "adam_memory_weights")
    colours = style.sequence({*curves[BETA2], *laws[BETA2]})
    drawn += _curves(made, places, curves[curves["case"] == "l2"], colours)
    drawn.append(_laws(grid[1, 2], laws, colours))
    grid[0, 0].set_ylabel("update $t_1$ (open), $t_2$ (filled)")
    modulus = int(history["task.modulus"].max())
    titles = (f"a  addition modulo {modulus}", "b  l2 norm", "c", "d", "e", "f  l2 norm")
    for axes, title in zip(grid.flat, titles, strict=True):
        style.letter(axes, title)
    return made, pd.concat(drawn, ignore_index=True)


def _times(axes: Axes, times: pd.DataFrame, cases: dict[str, str], length: float) -> pd.DataFrame:
    """t1 (open) and t2 (filled) of some cases against the memory; crosses for never."""
    drawn = []
    for place, (case, text) in enumerate(cases.items()):
        aside = ASIDE ** (place - (len(cases) - 1) / 2)
        for time, face in (("t1", "white"), ("t2", COLOURS[case])):
            keywords = style.Look(color=COLOURS[case], mfc=face, label=text if time == "t2" else "")
            own = times[times["case"] == case]
            seen = _points(axes, own, "memory", time, keywords, aside)
            drawn.append(seen.assign(case=case))
    axes.axhline(length, color=style.GUIDE, lw=0.6, ls=":", zorder=1)
    axes.set(xlabel=MEMORY)
    panels.logarithmic(axes, times["memory"])
    panels.logarithmic(axes, _shown(times), "y")
    axes.legend(loc="center right", bbox_to_anchor=(1, 0.5), handlelength=1.2)
    return pd.concat(drawn, ignore_index=True)


def _points(
    axes: Axes,
    times: pd.DataFrame,
    against: str,
    time: str,
    keywords: style.Look,
    aside: float = 1.0,
) -> pd.DataFrame:
    """A time of each seed, or median and range; a cross where it ends for what is never reached.

    Crosses are moved by the factor `aside`, so that several of one length can be seen.
    """
    groups = times.groupby(against)
    reached = times[time] if marks.few(times) else groups[time].transform("median")
    within = times[[time, "length"]].min(axis=1).where(np.isfinite(reached))
    ink = style.Look(marker="o", ms=3.5, lw=0.9)
    marks.ranges(axes, times.assign(**{time: within}), time, against, **ink, **keywords)
    lengths = times[~np.isfinite(reached)].groupby(against)["length"].max()
    axes.plot(lengths.index * aside, lengths, "x", ms=4, color=keywords["color"])
    seen = groups[time].agg(["median", "min", "max"]).reset_index()
    return seen.melt([against], var_name="statistic", value_name="step").assign(series=time)


def _shown(times: pd.DataFrame, columns: tuple[str, ...] = ("t1", "t2")) -> list[float]:
    """The values that an axis of times holds: the ends of the runs, and the times within them."""
    held = times[[*columns]].stack()
    return [*times["length"], *held[np.isfinite(held)]]


def _curves(
    made: Figure, places: tuple[Axes, ...], rows: pd.DataFrame, colours: dict[float, Any]
) -> list[pd.DataFrame]:
    """Each curve's median and range over seeds, a colour for each beta2."""
    drawn = []
    for axes, (column, text) in zip(places, CURVES.items(), strict=True):
        for beta2, part in rows[rows["step"] > 0].groupby(BETA2):
            keywords = {"color": colours[beta2], "lw": 1, "label": f"{beta2:g}"}
            known = part.dropna(subset=[column])
            drawn.append(marks.spread(axes, known, column, **keywords).assign(**{BETA2: beta2}))
        axes.set(xscale="log", xlabel="update", ylabel=text)
        axes.set_yscale("linear" if column == "l2_norm" else "log")
    panels.above(made, places[0], ncols=8, title="$\\beta_2$ in c to f")
    return drawn


def _laws(axes: Axes, times: pd.DataFrame, colours: dict[float, Any]) -> pd.DataFrame:
    """t2 against the weight for each beta2."""
    drawn = []
    for beta2, part in times.groupby(BETA2):
        keywords = {"color": colours[beta2], "label": f"$\\beta_2$ = {beta2:g}"}
        seen = _points(axes, part, WEIGHT, "t2", keywords)
        drawn.append(seen.assign(**{BETA2: beta2}))
        _decay(axes, part, beta2, colours[beta2])
    axes.axhline(times["length"].min(), color=style.GUIDE, lw=0.6, ls=":", zorder=1)
    axes.set(xlabel="weight", ylabel="update $t_2$")
    panels.logarithmic(axes, times[WEIGHT])
    panels.logarithmic(axes, _shown(times, ("t2",)), "y")
    if axes.get_yscale() == "log":
        axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axes.yaxis.set_major_formatter("{x:,.0f}")
    if axes.get_xscale() == "log" and times[WEIGHT].max() < 10 * times[WEIGHT].min():
        axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 3, 5)))
        axes.xaxis.set_major_formatter("{x:g}")
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_minor_formatter(NullFormatter())
    axes.legend(loc="best")
    return pd.concat(drawn, ignore_index=True)


def _decay(axes: Axes, times: pd.DataFrame, beta2: float, colour: Any) -> None:
    """``2 / (1 - beta2)`` updates for each factor e of the weight, from the largest one's t2."""
    medians = times[times[WEIGHT] > 0].groupby(WEIGHT)["t2"].median()
    there = medians[np.isfinite(medians)]
    if len(there) and len(medians) > 1:
        largest = there.index.max()
        weights = np.geomspace(medians.index.min(), largest)
        later = there[largest] + 2 / (1 - beta2) * np.log(largest / weights)
        axes.plot(weights, later, "--", color=colour, lw=0.9, zorder=1)
