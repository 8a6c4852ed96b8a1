"""Plate 5: four theories of weight decay beside training."""

from itertools import zip_longest
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.legend_handler import HandlerTuple
from matplotlib.ticker import LogLocator, NullFormatter

from grokatlas.claims.statistics import Tables
from grokatlas.papers.plates import _limits, _theories
from grokatlas.plots import marks, panels, style
from grokatlas.plots.style import FigureAndData

THEORIES = {
    "zero_loss": ("equation 21", "v", style.MEMBERS[0]),
    "ridge": ("equations 16 to 18", "^", style.MEMBERS[3]),
    "joint": ("both layers", "o", style.MEMBERS[1]),
}
LIMITS = {"zero_loss": "--", "joint": ":"}  # theories without lambda, as lines
REGIMES = {"equal": "equal step sizes", "slow": "first layer slower"}
PRODUCT = ("log($\\gamma$) / (2$\\lambda$), of panel d", "s", style.MEMBERS[2])
NEAR = (0.9, 1.1)  # shaded there
APART, BESIDE = 1.22, 1.07  # factors between theories, and from filled to open marks, in panel c
LOWEST, HIGHEST = 0.1, 10.0  # of panel c: where training, or theory, never comes to the level
PROBLEMS = {
    "hyperbola": ("hyperbola", "o", style.MEMBERS[0]),
    "relu_network": ("two-layer ReLU", "s", style.MEMBERS[1]),
    "matrix_completion": ("matrix completion", "o", style.MEMBERS[0]),
    "two_layer_relu": ("two-layer ReLU", "s", style.MEMBERS[1]),
    "diagonal_network": ("diagonal network", "^", style.MEMBERS[2]),
}
SUPREMA = {"distance": "largest distance", "departure": "largest distance / $|w_0|$"}
LAMBDA = "$\\lambda$"


def draw(tables: Tables) -> FigureAndData:
    """Curves (a, b), predicted over measured times (c), and what other tables hold (d to f)."""
    table = tables[_theories.TABLE]
    rows, changes = _theories.timed(table), _limits.changes(tables["rescaled_factors"])
    made, grid = style.figure(3, 2, height=2.45)
    above, below = grid
    decays = rows.loc[rows["kind"].isin(REGIMES), "weight_decay"].unique()
    colours = style.sequence(decays)
    drawn = [
        _curves(axes, rows, regime, colours).assign(panel=letter)
        for axes, regime, letter in zip(above, REGIMES, "ab", strict=False)
    ]
    drawn.append(_quotients(above[2], _theories.compared(table), changes).assign(panel="c"))
    drawn.append(_changes(below[0], changes).assign(panel="d"))
    distances = _limits.distances(tables["theorem"])
    drawn.append(_suprema(below[1], distances, "distance").assign(panel="e"))
    drawn.append(_suprema(below[2], _limits.departures(tables), "departure").assign(panel="f"))
    modulus = int(rows["task.modulus"].max())
    titles = [f"{letter}  {name}" for letter, name in zip("ab", REGIMES.values(), strict=True)]
    titles += ["c  predicted / measured", "d  product of two factors"]
    titles += ["e  from the zero-loss set", "f  from the flow at $\\lambda = 0$"]
    for axes, title in zip(grid.flat, titles, strict=True):
        style.letter(axes, title)
    above[0].set_ylabel(f"test accuracy, addition mod {modulus}")
    _key(made, colours)
    return made, pd.concat(drawn, ignore_index=True)


def _curves(axes: Axes, rows: pd.DataFrame, regime: str, colours: dict[float, Any]) -> pd.DataFrame:
    """Training at every lambda, and theories that have none."""
    training = rows[rows["kind"] == regime]
    drawn = []
    for decay, part in training.groupby("weight_decay"):
        line = {"color": colours[decay], "lw": 1.1}
        seen = marks.spread(axes, part, "test_accuracy", "slow_time", **line)
        drawn.append(seen.assign(kind=regime, weight_decay=decay))
    own = rows["ratio"].isin(training["ratio"])
    for theory, dashes in LIMITS.items():
        part = rows[(rows["kind"] == theory) & (own | (theory != "joint"))]
        if len(part):
            line = {"color": "black", "ls": dashes, "lw": 1.1, "zorder": 4}
            seen = marks.spread(axes, part, "test_accuracy", "slow_time", **line)
            drawn.append(seen.assign(kind=theory))
    axes.axhline(_theories.LEVEL, color=style.MUTED, lw=0.6, zorder=1)
    axes.set(xlabel="slow time", ylim=(-0.02, 1.04))
    limit = rows.loc[rows["kind"] == "joint", "slow_time"].max()
    panels.limits(axes, "x", 0, limit)
    return pd.concat(drawn, ignore_index=True) if drawn else pd.DataFrame()


def _quotients(axes: Axes, quotients: pd.DataFrame, changes: pd.DataFrame) -> pd.DataFrame:
    """A mark for each theory, lambda and kind of training; ends of the axis for never."""
    drawn = []
    for place, (theory, (_, mark, colour)) in enumerate(THEORIES.items()):
        for regime in REGIMES:
            part = quotients[(quotients["theory"] == theory) & (quotients["regime"] == regime)]
            equal = regime == "equal"
            look = {"marker": mark, "color": colour, "mfc": None if equal else "white"}
            seen = _ranges(axes, part, APART ** (place - 1) * (1 if equal else BESIDE), look)
            drawn.append(seen.assign(theory=theory, regime=regime))
    late = changes[changes["gamma"] > 1]
    late = late.assign(quotient=np.log(late["gamma"]) / late["time"])
    _, mark, colour = PRODUCT
    for gamma, part in late.groupby("gamma"):
        seen = _ranges(axes, part, 1.0, {"marker": mark, "color": colour, "mfc": colour})
        drawn.append(seen.assign(theory="log(gamma)", gamma=gamma))
    _frame(axes, pd.concat([quotients["weight_decay"], late["weight_decay"]]))
    return pd.concat(drawn, ignore_index=True)


def _frame(axes: Axes, decays: pd.Series) -> None:
    """Scales of panel c, and what its ends and faces of marks mean."""
    axes.axhline(1, color="black", lw=0.7, zorder=1)
    axes.axhspan(*NEAR, color=style.MUTED, alpha=0.25, lw=0, zorder=0)
    small = style.Look(transform=axes.get_yaxis_transform(), fontsize=6, color=style.GUIDE)
    for end, text in ((LOWEST, "never in training"), (HIGHEST, "never in theory")):
        axes.axhline(end, color=style.GUIDE, lw=0.6, ls=":", zorder=1)
        axes.text(0.02, end * 1.05, text, va="bottom", **small)
    for height, text in ((6.6, "filled: equal step sizes"), (4.8, "open: first layer slower")):
        axes.text(0.02, height, text, **small)
    axes.set(yscale="log", xlabel=LAMBDA, ylim=(LOWEST / 1.3, HIGHEST * 1.5))
    axes.set_yticks([0.2, 0.5, 1, 2, 5], ["0.2", "0.5", "1", "2", "5"], minor=False)
    axes.yaxis.set_minor_formatter(NullFormatter())
    panels.logarithmic(axes, decays)
    if axes.get_xscale() == "log" and decays.max() < 30 * decays.min():
        axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axes.xaxis.set_major_formatter("{x:g}")
    axes.xaxis.set_minor_formatter(NullFormatter())


def _ranges(axes: Axes, rows: pd.DataFrame, shift: float, look: style.Look) -> pd.DataFrame:
    """A quotient at every lambda, a mark beside it by a factor `shift`."""
    mark: style.Look = {"ls": "none", "ms": 4, "mew": 0.9} | look
    where = style.Look(aside=shift, within=(LOWEST, HIGHEST))
    seen = marks.ranges(axes, rows, "quotient", "weight_decay", **where, **mark)
    return seen.rename(columns={"count": "seeds"})


def _changes(axes: Axes, changes: pd.DataFrame) -> pd.DataFrame:
    """Slow time of the change against gamma for each lambda, with the line that theory says."""
    rows = changes[changes["gamma"] >= 1]
    for place, (decay, part) in enumerate(rows.groupby("weight_decay")):
        part = part.assign(at=np.log(part["gamma"]) + 0.04 * (place - 1))
        colour = style.MEMBERS[(2, 4, 5)[place % 3]]
        mark = style.Look(marker="s", ls="none", ms=4, color=colour, label=f"{LAMBDA} = {decay:g}")
        marks.ranges(axes, part, "time", "at", **mark)
    ends = np.array([0.0, np.log(rows["gamma"].max())])
    if len(rows) and np.isfinite(ends).all():
        axes.plot(ends, ends, color="black", lw=0.8, ls="--", label="log $\\gamma$", zorder=1)
        grown, since = _limits.line(rows)
        line = style.Look(color=style.MUTED, lw=0.9, zorder=1)
        if np.isfinite(grown):
            text = f"fitted: {grown:.2f} log $\\gamma$ + {since:.2f}"
            axes.plot(ends, since + grown * ends, label=text, **line)
        axes.legend(loc="upper left", fontsize=6)
        panels.limits(axes, "y", 0, 1.9 * rows["time"].max())
    axes.set(xlabel="log $\\gamma$", ylabel="slow time of the change")
    return rows


def _suprema(axes: Axes, distances: pd.DataFrame, column: str) -> pd.DataFrame:
    """A largest distance against lambda, a colour for each problem."""
    keys = ["problem", "weight_decay"]
    distances = distances.assign(start=distances.groupby(keys).cumcount())[distances[column] > 0]
    seen = distances.groupby(keys)[column].agg(["median", "min", "max", "count"]).reset_index()
    for problem, part in distances.groupby("problem"):
        name, mark, colour = PROBLEMS[problem]
        look = style.Look(marker=mark, ms=3.5, lw=0.9, color=colour, label=name)
        marks.ranges(axes, part, column, "weight_decay", "start", **look)
    above, lowest = seen[seen["weight_decay"] > 0], None
    if len(above):
        decays = above["weight_decay"]
        least = above.loc[decays == decays.min(), "median"].min() / 4
        marks.proportional(axes, decays, least, "$\\propto \\lambda$")
        axes.legend(loc="lower right", fontsize=6)
        lowest = least / 1e3  # room for the legend
    panels.logarithmic(axes, seen["weight_decay"])
    panels.logarithmic(axes, seen["median"], "y")
    panels.limits(axes, "y", low=lowest)
    axes.set(xlabel=LAMBDA, ylabel=SUPREMA[column])
    return seen.rename(columns={"count": "seeds"}).assign(series=column)


def _key(made: Figure, colours: dict[float, Any]) -> None:
    """Colours of lambda (first row), lines and marks of theories (second), above all panels."""
    axes = made.axes[0]
    entries: list[tuple[Any, str]] = [
        (axes.plot([], [], color=colour, lw=1.4)[0], f"{LAMBDA} = {decay:g}")
        for decay, colour in colours.items()
    ]
    for name, (text, mark, colour) in THEORIES.items():
        look = style.Look(color=colour, marker=mark, ms=4, ls="none")
        handles = [axes.plot([], [], **look)[0]]
        if name in LIMITS:
            handles = axes.plot([], [], color="black", ls=LIMITS[name], lw=1.1) + handles
        entries.append((tuple(handles), text))
    text, mark, colour = PRODUCT
    entries.append(((axes.plot([], [], mark, color=colour, ms=4)[0],), text))
    decays, others = entries[: len(colours)], entries[len(colours) :]
    pairs = zip_longest(decays, others, fillvalue=(axes.plot([], [], ls="none")[0], ""))
    keys, names = zip(*(entry for pair in pairs for entry in pair), strict=True)
    columns = max(len(decays), len(others))  # the first row holds lambda, the second theories
    apart = {tuple: HandlerTuple(ndivide=None, pad=0.6)}
    panels.legend(
        made,
        keys,
        names,
        loc="outside upper center",
        ncols=columns,
        handler_map=apart,
        handlelength=3,
    )
