"""Plate 6: how much of the delay is arithmetic."""

from typing import Any

import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullFormatter, NullLocator
from matplotlib.transforms import Transform

from grokatlas.claims.statistics import Tables
from grokatlas.papers.plates import _precision
from grokatlas.plots import panels, style
from grokatlas.plots.style import FigureAndData

LOOKS: dict[str, style.Look] = {
    "float64": {"color": style.MEMBERS[5], "lw": 2.4},
    "float32": {"color": style.MEMBERS[1], "lw": 0.9},
    "float64_loss": {"color": "black", "lw": 0.7, "ls": (0, (4, 2))},
}
NAMES = {"float64": "float64", "float32": "float32", "float64_loss": "float32, loss in float64"}
PALETTE = {name: look["color"] for name, look in LOOKS.items()}
BASE = style.Look(color=LOOKS["float64"]["color"], lw=1.6, zorder=1)
FAINT = 0.3  # how opaque the training loss is beside the residual
HALF = 2.0**-24  # a residual below it is 0 in float32
ROWS = {
    "a": "test accuracy",
    "b": "1 - p (full),\nloss (faint)",
    "c": "points\ncollapsed",
    "d": "largest\ngradient",
}
NEVER, FIRST = 3.0, 1 / 3.0  # of panel f: never in this precision, or never in float64

LOGARITHMIC = {"b": ["train_loss", "largest_residual"], "d": ["largest_gradient"]}

Column = tuple[str, float]  # task and beta2


def draw(tables: Tables, published: dict[str, str]) -> FigureAndData:
    """Curves of each task (a to d), what is silent after memorisation (e), and times (f, g)."""
    history, times = _precision.told_apart(tables, "history"), _precision.times(tables)
    columns = _columns(history)
    made = Figure(figsize=(style.TEXT_WIDTH, 7.4))
    halves = made.add_gridspec(2, 1, height_ratios=[len(ROWS), 1.5])
    curves = halves[0].subgridspec(len(ROWS), max(len(columns), 1))
    lowest = {name: _lowest(history[columns_of]) for name, columns_of in LOGARITHMIC.items()}
    drawn = []
    for place, (keys, title) in enumerate(columns.items()):
        panes = {name: made.add_subplot(curves[row, place]) for row, name in enumerate(ROWS)}
        drawn.append(_curves(panes, _own(history, keys), lowest, first=place == 0))
        panes["a"].set_title(f"{place + 1}: {title}", fontsize=7)
    row = halves[1].subgridspec(1, 3, width_ratios=[2.1, 2.1, 1.1])
    shares, quotients, factors = (made.add_subplot(row[place]) for place in range(3))
    drawn.append(_shares(shares, _precision.silence(tables), columns))
    drawn.append(_quotients(quotients, times, columns))
    _, deviation = (float(number) for number in published["factor"].split(" ± "))
    drawn.append(_factors(factors, times, deviation))
    _key(made, shares)
    return made, pd.concat(drawn, ignore_index=True)


def _own(rows: pd.DataFrame, keys: Column) -> pd.DataFrame:
    return rows[(rows["task"] == keys[0]) & (rows["beta2"] == keys[1])]


def _columns(history: pd.DataFrame) -> dict[Column, str]:
    """The title of each column, by task and beta2."""
    images = history.loc[history["task"] == "baseline", "task.name"]
    images = "MNIST" if (images == "mnist").any() else "digits"
    names = {
        "baseline": f"{images},\nweight decay",
        "grokalign": f"{images},\nGrokAlign",
        "addition_l2": "addition mod {:.0f},\nl2, $\\beta_2$ = {:g}",
        "addition_none": "addition mod {:.0f},\nno regulariser",
        "transformer": "transformer,\nmod {:.0f}",
    }
    return {
        (task, beta2): name.format(part["task.modulus"].max(), beta2)
        for task, name in names.items()
        for beta2, part in history[history["task"] == task].groupby("beta2")
    }


def _lowest(values: pd.DataFrame) -> float:
    """The place of a value of 0: a decade below all others."""
    known = values.to_numpy(float)
    known = known[(known > 0) & np.isfinite(known)]
    return float(10.0 ** (np.floor(np.log10(known.min())) - 1)) if len(known) else 1e-9


def _curves(
    panes: dict[str, Axes], rows: pd.DataFrame, lowest: dict[str, float], first: bool
) -> pd.DataFrame:
    """The logged curves of a task: a line for each seed."""
    rows = rows[rows["step"] > 0].sort_values("step")
    for precision, look in LOOKS.items():
        for _, part in rows[rows["precision"] == precision].groupby("seed"):
            step = part["step"]
            faint = look | {"alpha": FAINT, "ls": "-"}
            panes["a"].plot(step, part["test_accuracy"], **look)
            panes["b"].plot(step, part["train_loss"].clip(lower=lowest["b"]), **faint)
            panes["b"].plot(step, part["largest_residual"].clip(lower=lowest["b"]), **look)
            panes["c"].plot(step, part["collapsed_points"], **look)
            panes["d"].plot(step, part["largest_gradient"].clip(lower=lowest["d"]), **look)
    for name, level, text in (("b", HALF, "6e-8"), ("d", rows["optimizer.eps"].max(), "eps")):
        panes[name].axhline(level, color=style.GUIDE, lw=0.6, ls="--", zorder=1)
        if first:
            _small(panes[name], 0.03, level / 2, text, panes[name].get_yaxis_transform(), va="top")
    panes["d"].set_xlabel("update")
    for name, axes in panes.items():
        axes.set_xscale("log")
        panels.limits(axes, "x", rows["step"].min(), rows["step"].max() * 1.3)
        axes.xaxis.set_minor_formatter(NullFormatter())
        axes.tick_params(labelleft=first, labelbottom=name == "d")
        if name in lowest:
            axes.set(yscale="log", ylim=(lowest[name] / 3, 30))
            axes.yaxis.set_major_locator(LogLocator(numticks=5))
            axes.yaxis.set_minor_formatter(NullFormatter())
        else:
            axes.set_ylim(-0.04, 1.04)
        if first:
            axes.set_ylabel(ROWS[name])
            axes.text(-0.5, 1.0, name, transform=axes.transAxes, fontsize=8.5)
    shown = ["test_accuracy", *LOGARITHMIC["b"], "collapsed_points", *LOGARITHMIC["d"]]
    return rows[[*_precision.KEYS, "step", *shown]].assign(panel="a to d")


def _small(axes: Axes, x: float, y: float, text: str, transform: Transform, **where: Any) -> None:
    axes.text(x, y, text, transform=transform, fontsize=6, color=style.GUIDE, **where)


def _strip(
    axes: Axes, rows: pd.DataFrame, column: str, names: dict[Column, str], mark: str
) -> None:
    """A mark for each seed: a row for each task, precisions one below the other."""
    named = rows.assign(name=[names[key] for key in zip(rows["task"], rows["beta2"], strict=True)])
    order = style.Look(y="name", order=[*names.values()], hue="precision", hue_order=[*LOOKS])
    look = style.Look(dodge=True, jitter=False, marker=mark, size=4, legend=False)
    width = 0.0 if mark == "o" else 0.9  # of edges, or of a mark that is nothing else
    sns.stripplot(named, x=column, palette=PALETTE, linewidth=width, ax=axes, **order, **look)
    axes.set(ylabel="", ylim=(len(names) - 0.5, -0.5))
    axes.tick_params(axis="y", length=0, labelsize=6)
    for place in range(1, len(names)):
        axes.axhline(place - 0.5, color=style.MUTED, lw=0.3, zorder=0)


def _shares(axes: Axes, silent: pd.DataFrame, names: dict[Column, str]) -> pd.DataFrame:
    """Panel e: updates with a gradient below eps (points), and points collapsed (bars)."""
    for column, mark in (("below_eps", "o"), ("collapsed", "|")):
        _strip(axes, silent, column, names, mark)
    axes.set(xlim=(-0.04, 1.04), xlabel="share after memorisation")
    style.letter(axes, "e  gradient < eps; collapsed (bars)")
    drawn = [_own(silent, keys) for keys in names]
    return pd.concat([silent.iloc[:0], *drawn], ignore_index=True).assign(panel="e")


def _quotients(axes: Axes, times: pd.DataFrame, names: dict[Column, str]) -> pd.DataFrame:
    """Panel f: t2 over that in float64 on the same seed; crosses where one of both never comes."""
    quotients = _precision.quotients(times).dropna(subset=["quotient"])
    others = quotients[quotients["precision"] != "float64"]
    never = ~np.isfinite(others["quotient"]) | (others["quotient"] == 0)
    ends = others.assign(quotient=others["quotient"].clip(FIRST, NEVER))
    within = others.assign(quotient=others["quotient"].clip(1.15 * FIRST, NEVER / 1.15))
    _strip(axes, within[~never], "quotient", names, "o")
    _strip(axes, ends[never], "quotient", names, "x")
    for place, keys in enumerate(names):
        base = _own(times, keys).query("precision == 'float64'")["t2"].median()
        text = f"{base:,.0f}" if np.isfinite(base) else "never"
        _small(axes, 0.98, place, text, axes.get_yaxis_transform(), ha="right", va="center")
    axes.axvline(1, **BASE)
    axes.set(xscale="log", xlim=(FIRST / 1.35, NEVER * 1.15), xlabel="$t_2$ / that in float64")
    ticks = {0.5: "0.5", 0.7: "0.7", 1: "1", 1.4: "1.4", 2: "2"}
    if not quotients["quotient"].between(FIRST, NEVER).all():
        ticks |= {FIRST: "0", NEVER: "never"}
    axes.set_xticks([*ticks], [*ticks.values()])
    axes.xaxis.set_minor_locator(NullLocator())
    axes.tick_params(labelleft=False)
    style.letter(axes, "f  same seed; right: $t_2$ in float64")
    return quotients.assign(panel="f")


def _factors(axes: Axes, times: pd.DataFrame, deviation: float) -> pd.DataFrame:
    """Panel g: updates that GrokAlign saves beside float64; band: one published deviation."""
    factors = _precision.factors_beside(times)
    shown = style.Look(x="precision", y="difference", hue="precision", palette=PALETTE, ax=axes)
    shown |= {"order": ["float32", "float64_loss"], "legend": False}
    sns.stripplot(factors, jitter=False, size=3.2, **shown)
    means = style.Look(estimator="mean", errorbar=None, markers="_", markersize=16, linestyle="")
    sns.pointplot(factors, **means, **shown)
    axes.axhline(0, **BASE)
    axes.axhspan(-deviation, deviation, color=PALETTE["float64"], alpha=0.25, lw=0, zorder=0)
    axes.set_xticks(range(2), ["float32", "loss in\nfloat64"], fontsize=6)
    axes.set(xlim=(-0.6, 1.6), xlabel="", ylabel="factor minus that in float64")
    words = style.Look(transform=axes.get_yaxis_transform(), ha="right", va="bottom")
    axes.text(0.99, -deviation, "published s.d.", fontsize=5.5, color=style.GUIDE, **words)
    style.letter(axes, "g  column 1 / 2")
    return factors.assign(panel="g")


def _key(made: Figure, axes: Axes) -> None:
    """Colours, above all panels."""
    entries = [axes.plot([], [], label=NAMES[name], **look)[0] for name, look in LOOKS.items()]
    panels.legend(made, handles=entries, loc="outside upper center", ncols=3)
