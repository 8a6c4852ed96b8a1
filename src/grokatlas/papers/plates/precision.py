"""Plate 6: how much of the delay is arithmetic."""

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullFormatter, NullLocator
from matplotlib.transforms import Transform

from grokatlas.papers.plates import _precision
from grokatlas.plots import panels, style

LOOKS: dict[str, style.Look] = {
    "float64": {"color": style.MEMBERS[5], "lw": 2.4},
    "float32": {"color": style.MEMBERS[1], "lw": 0.9},
    "float64_loss": {"color": "black", "lw": 0.7, "ls": (0, (4, 2))},
}
NAMES = {"float64": "float64", "float32": "float32", "float64_loss": "float32, loss in float64"}
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


def draw(tables: dict[str, pd.DataFrame], published: dict[str, str]) -> tuple[Figure, pd.DataFrame]:
    """Curves of each task (a to d), what is silent after memorisation (e), and times (f, g)."""
    history, times = _precision.told_apart(tables, "history"), _precision.times(tables)
    columns = _columns(history)
    made = Figure(figsize=(style.TEXT_WIDTH, 7.4))
    halves = made.add_gridspec(2, 1, height_ratios=[len(ROWS), 1.5])
    curves = halves[0].subgridspec(len(ROWS), max(len(columns), 1))
    lowest = {name: _lowest(history[each]) for name, each in LOGARITHMIC.items()}
    drawn = []
    for place, (keys, title) in enumerate(columns.items()):
        panes = {name: made.add_subplot(curves[row, place]) for row, name in enumerate(ROWS)}
        drawn.append(_curves(panes, _own(history, keys), lowest, first=place == 0))
        panes["a"].set_title(f"{place + 1}: {title}", fontsize=7)
    row = halves[1].subgridspec(1, 3, width_ratios=[2.1, 2.1, 0.9])
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
    """Where a value of 0 is drawn: a decade below all others."""
    known = values.to_numpy(float)
    known = known[(known > 0) & np.isfinite(known)]
    return float(10.0 ** (np.floor(np.log10(known.min())) - 1)) if len(known) else 1e-9


def _curves(
    panes: dict[str, Axes], rows: pd.DataFrame, lowest: dict[str, float], first: bool
) -> pd.DataFrame:
    """What was logged of a task: a line for each seed."""
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
            _small(panes[name], 0.03, level, text, panes[name].get_yaxis_transform(), va="top")
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


def _frame(axes: Axes, columns: dict[Column, str]) -> None:
    """A place on the abscissa for each column of the panels above."""
    axes.set_xticks(range(len(columns)), [str(place + 1) for place in range(len(columns))])
    axes.tick_params(axis="x", length=0)
    axes.set_xlabel("column above")
    axes.set_xlim(-0.5, len(columns) - 0.5)
    for place in range(1, len(columns)):
        axes.axvline(place - 0.5, color=style.MUTED, lw=0.3, zorder=0)


def _shares(axes: Axes, silent: pd.DataFrame, columns: dict[Column, str]) -> pd.DataFrame:
    """Panel e: updates with a gradient below eps (filled), and points collapsed (open)."""
    drawn = []
    for place, keys in enumerate(columns):
        own = _own(silent, keys)
        for shift, (precision, look) in enumerate(LOOKS.items()):
            part = own[own["precision"] == precision]
            for beside, column in ((-0.05, "below_eps"), (0.05, "collapsed")):
                value = part[column].dropna()
                if value.empty:
                    continue
                spread = [[value.median() - value.min()], [value.max() - value.median()]]
                mark = style.Look(marker="o", ms=3.5, elinewidth=0.8)
                mark["mfc"] = look["color"] if column == "below_eps" else "white"
                at = [place + 0.26 * (shift - 1) + beside]
                axes.errorbar(at, [value.median()], yerr=spread, color=look["color"], **mark)
        drawn.append(own)
    axes.set_ylim(-0.04, 1.04)
    axes.set_ylabel("share after memorisation")
    style.letter(axes, "e  gradient < eps, collapsed (open)")
    _frame(axes, columns)
    return pd.concat([silent.iloc[:0], *drawn], ignore_index=True).assign(panel="e")


def _quotients(axes: Axes, times: pd.DataFrame, columns: dict[Column, str]) -> pd.DataFrame:
    """Panel f: t2 over that in float64 on the same seed; crosses where one of both never comes."""
    found = _precision.quotients(times).dropna(subset=["quotient"])
    for place, keys in enumerate(columns):
        own = _own(found, keys)
        for shift, precision in ((-0.15, "float32"), (0.15, "float64_loss")):
            part = own[own["precision"] == precision].reset_index(drop=True)
            colour = LOOKS[precision]["color"]
            at = place + shift + 0.06 * (part.index - (len(part) - 1) / 2)
            never = ~np.isfinite(part["quotient"]) | (part["quotient"] == 0)
            within = part["quotient"].clip(1.15 * FIRST, NEVER / 1.15)
            axes.plot(at[~never], within[~never], "o", ms=3.2, color=colour, mew=0)
            axes.plot(
                at[never], part["quotient"].clip(FIRST, NEVER)[never], "x", ms=4, color=colour
            )
        base = _own(times, keys).query("precision == 'float64'")["t2"].median()
        text = f"{base:,.0f}" if np.isfinite(base) else "never"
        _small(axes, place, 0.02, text, axes.get_xaxis_transform(), ha="center", va="bottom")
    axes.axhline(1, color=LOOKS["float64"]["color"], lw=1.6, zorder=1)
    axes.set(yscale="log", ylim=(FIRST / 1.35, NEVER * 1.15))
    ticks = {0.5: "0.5", 0.7: "0.7", 1: "1", 1.4: "1.4", 2: "2"}
    if not found["quotient"].between(FIRST, NEVER).all():
        ticks |= {FIRST: "0", NEVER: "never"}
    axes.set_yticks([*ticks], [*ticks.values()])
    axes.yaxis.set_minor_locator(NullLocator())
    style.letter(axes, "f  $t_2$ over that in float64, same seed")
    _frame(axes, columns)
    return found.assign(panel="f")


def _factors(axes: Axes, times: pd.DataFrame, deviation: float) -> pd.DataFrame:
    """Panel g: updates that GrokAlign saves beside float64; band: one published deviation."""
    found = _precision.factors_beside(times)
    for place, precision in enumerate(("float32", "float64_loss")):
        own = found.loc[found["precision"] == precision, "difference"].dropna()
        colour = LOOKS[precision]["color"]
        axes.plot([place] * len(own), own, "o", ms=3.2, mew=0, color=colour)
        if len(own):
            axes.plot([place - 0.3, place + 0.3], [own.mean()] * 2, color=colour, lw=1.3)
    axes.axhline(0, color=LOOKS["float64"]["color"], lw=1.6, zorder=1)
    axes.axhspan(-deviation, deviation, color=LOOKS["float64"]["color"], alpha=0.25, lw=0, zorder=0)
    axes.set_xticks(range(2), ["float32", "loss in\nfloat64"], fontsize=6)
    axes.set_xlim(-0.6, 1.6)
    axes.set_ylabel("factor minus that in float64")
    words = style.Look(transform=axes.get_yaxis_transform(), ha="right", va="bottom")
    axes.text(0.99, -deviation, "published s.d.", fontsize=5.5, color=style.GUIDE, **words)
    style.letter(axes, "g  column 1 / 2")
    return found.assign(panel="g")


def _key(made: Figure, axes: Axes) -> None:
    """Colours, above all panels."""
    entries = [axes.plot([], [], label=NAMES[name], **look)[0] for name, look in LOOKS.items()]
    panels.legend(made, handles=entries, loc="outside upper center", ncols=3)
