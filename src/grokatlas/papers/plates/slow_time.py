"""Plate 2: one slow time for every regulariser, under gradient descent and under Adam."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from grokatlas.claims import statistics
from grokatlas.claims.statistics import Tables
from grokatlas.papers.plates import _slow_time
from grokatlas.plots import marks, panels, style
from grokatlas.plots.style import FigureAndData

COLOURS = dict(zip(_slow_time.PROBLEMS, style.MEMBERS, strict=True))
TITLES = {"gd": "gradient descent", "adam": "Adam"}
WIDTHS = (0.5, 1.7)  # of lines, at the least and at the largest weight
ENDS = {"x": (1e-4, 20.0), "y": (3e-4, 4.0)}  # of the upper panels
BAND = "#e8e8e8"


def draw(tables: Tables) -> FigureAndData:
    """Errors against slow time (above) and t1, t2 against the weight (below), by optimizer."""
    curves = _slow_time.curves(tables)
    seen = _slow_time.times(curves)
    made, grid = style.figure(2, 2, height=2.65)
    drawn = []
    for column, (optimizer, title) in enumerate(TITLES.items()):
        above, below = grid[:, column]
        text = TITLES["gd"] if optimizer == "adam" else ""
        _falls(above, seen[seen["optimizer"] == "gd"], text)
        drawn.append(_errors(above, curves[curves["optimizer"] == optimizer]))
        drawn.append(_laws(below, seen[seen["optimizer"] == optimizer], seen))
        style.letter(above, f"{'ab'[column]}  {title}")
        style.letter(below, f"{'cd'[column]}  {title}")
    grid[0, 0].set_ylabel("test error / plateau")
    grid[1, 0].set_ylabel("update $t_1$ (open), $t_2$ (filled)")
    _key(made)
    return made, pd.concat(drawn, ignore_index=True)


def _falls(axes: Axes, seen: pd.DataFrame, text: str) -> None:
    """The level of t2, and the slow times at which gradient descent comes to it, with a text."""
    middle = seen.groupby("problem")["tau"].median().dropna()
    if len(middle):
        axes.axvspan(middle.min(), middle.max(), color=BAND, lw=0, zorder=0)
        if text:
            look = style.Look(transform=axes.get_xaxis_transform(), rotation=90, fontsize=7)
            centre = float((middle.min() * middle.max()) ** 0.5)
            axes.text(centre, 0.02, text, ha="center", va="bottom", zorder=1, **look)
    axes.axhline(_slow_time.LEVEL, color=style.GUIDE, lw=0.7, ls=":", zorder=1)


def _errors(axes: Axes, curves: pd.DataFrame) -> pd.DataFrame:
    """A colour for each problem, a width for each weight: medians over instances, or each."""
    frames = [curves[["problem"]].iloc[:0]]
    for problem, part in _parts(curves[curves["step"] > 0]):
        weights = sorted(part["weight"].unique())
        for width, weight in zip(np.linspace(*WIDTHS, len(weights)), weights, strict=True):
            own = part[part["weight"] == weight]
            shown = marks.lines(own, ["tau", "error"], "step", "instance")
            marks.draw_lines(axes, shown, "error", "tau", color=COLOURS[problem], lw=width)
            rows = own.groupby("step")[["tau", "error"]].median()
            frames.append(rows.reset_index().assign(problem=problem, weight=weight, series="error"))
    axes.set(xscale="log", yscale="log", xlim=ENDS["x"], ylim=ENDS["y"])
    axes.set_xlabel("slow time $\\tau$ = updates $\\times$ rate $\\times$ weight / distance")
    return pd.concat(frames, ignore_index=True)


def _laws(axes: Axes, seen: pd.DataFrame, every: pd.DataFrame) -> pd.DataFrame:
    """t1 and t2 against the weight, exponents of t2; limits are of `every` optimizer."""
    frames = [seen[["problem"]].iloc[:0]]
    for problem, part in _parts(seen):
        looks: dict[str, style.Look] = {
            "t1": {"mfc": "none", "ms": 4.5, "lw": 0.5, "ls": ":"},
            "t2": {"ms": 3, "lw": 1.1, "label": f"${_slope(part):.2f}$"},
        }
        for time, look in looks.items():
            ink = style.Look(color=COLOURS[problem], marker="o", mew=0.8)
            rows = marks.ranges(axes, part, time, "weight", "instance", **ink, **look)
            rows = rows.drop(columns="count")
            frames.append(rows.assign(problem=problem, series=time))
    axes.set(xlabel="weight ($\\lambda$ or $\\beta$)")
    panels.logarithmic(axes, every["weight"])
    both = every[["t1", "t2"]].stack()
    panels.logarithmic(axes, both, "y")
    panels.limits(axes, "x", every["weight"].min() / 1.5, every["weight"].max() * 1.5)
    panels.limits(axes, "y", both.min() / 30, both.max() * 2)  # room for the exponents
    if len(seen):
        axes.legend(title="exponent of $t_2$", title_fontsize=7, loc="lower left", ncols=6,
                    handlelength=0.6, columnspacing=0.6, handletextpad=0.2)  # fmt: skip
    return pd.concat(frames, ignore_index=True)


def _parts(rows: pd.DataFrame) -> list[tuple[str, pd.DataFrame]]:
    """The rows of each problem that has any, in the order of the key."""
    parts = [(problem, rows[rows["problem"] == problem]) for problem in COLOURS]
    return [(problem, part) for problem, part in parts if len(part)]


def _slope(part: pd.DataFrame) -> float:
    """The median over instances of the exponent of t2 against the weight."""
    slopes = [statistics.slope(own["weight"], own["t2"]) for _, own in part.groupby("instance")]
    known = np.array(slopes)[np.isfinite(slopes)]
    return float(np.median(known)) if len(known) else float("nan")


def _key(made: Figure) -> None:
    """Colours and widths, above all panels."""
    axes = made.axes[0]
    entries = [
        axes.plot([], [], color=colour, lw=1.5, label=_slow_time.PROBLEMS[name].name)[0]
        for name, colour in COLOURS.items()
    ]
    for width, text in zip(WIDTHS, ("least weight", "largest weight"), strict=True):
        entries += axes.plot([], [], color=style.GUIDE, lw=width, label=text)
    panels.legend(made, handles=entries, loc="outside upper center", ncols=4)
