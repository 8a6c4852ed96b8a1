"""Figure 1: the two phases, on a toy that can be computed."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from grokatlas.claims.statistics import Tables
from grokatlas.papers.two_timescales import _panels, _quantities
from grokatlas.plots import panels, style
from grokatlas.plots.style import FigureAndData

FAST = 0.02  # a trajectory is coloured as in its fast phase until lambda t is this
LIMIT = 3.0


def draw(tables: Tables) -> FigureAndData:
    """Losses and norm of the first trajectory against time; all trajectories in the plane."""
    rows = _quantities.toy(tables["toy"])
    decay = 2 * float(tables["toy"][_quantities.DECAY].iloc[0])
    made, ((left, right),) = style.figure(2, height=2.9, width_ratios=[1.25, 1])
    _losses(left, rows[(rows["member"] == 0) & (rows["time"] > 0)], decay)
    _plane(right, rows, FAST / decay if decay else np.inf)
    return made, rows


def _losses(axes: Axes, rows: pd.DataFrame, decay: float) -> None:
    norm = _panels.twin(axes)
    green = style.COLOURS["l2"]
    norm.plot(rows["time"], rows["squared_norm"], color=green)
    panels.limits(norm, "y", 0, 1.35 * rows["squared_norm"].max())
    axes.plot(rows["time"], rows["loss"], color=style.COLOURS["train"], label="loss F")
    test = style.Look(color=style.COLOURS["test"], label="half the squared distance\nto least norm")
    axes.plot(rows["time"], rows["test_like"], **test)
    axes.plot([], [], color=green, label="squared norm (right)")
    top = 1.35 * rows[["loss", "test_like"]].max(axis=None)
    axes.set(xscale="log", xlabel="time t", ylabel="loss")
    panels.limits(axes, "x", rows["time"].min(), rows["time"].max())
    panels.limits(axes, "y", 0, top)
    times = {"$t = 1$": 1.0} | ({"$t = 1/\\lambda$": 1 / decay} if decay else {})
    for text, time in times.items() if np.isfinite(top) else ():
        axes.axvline(time, color=style.GUIDE, lw=0.8, ls=":", zorder=1)
        axes.text(time / 1.12, 0.6 * top, text, fontsize=7, va="bottom", ha="right")
    ground = {"frameon": True, "facecolor": "white", "edgecolor": "none", "framealpha": 0.9}
    axes.legend(loc="upper right", fontsize=6.5, **ground)
    style.letter(axes, "a  fast phase, then slow phase")


def _plane(axes: Axes, rows: pd.DataFrame, end: float) -> None:
    branch = np.linspace(1 / LIMIT, LIMIT, 200)
    grey = style.Look(color=style.COLOURS["zero_loss"], lw=0.8, ls="--", zorder=1)
    axes.plot(branch, 1 / branch, label="$w_1 w_2 = 1$", **grey)
    axes.plot(-branch, -1 / branch, **grey)
    for member, part in rows.groupby("member"):
        fast, slow = part[part["time"] <= end], part[part["time"] >= end]
        path = pd.concat([fast.tail(1), slow])
        label = member == 0
        axes.plot(
            *(fast["w1"], fast["w2"]),
            color=style.COLOURS["initial"],
            label="fast phase" if label else None,
        )
        axes.plot(
            *(path["w1"], path["w2"]),
            color=style.COLOURS["l2"],
            lw=2,
            label="slow phase" if label else None,
        )
        axes.plot(part["w1"].iloc[:1], part["w2"].iloc[:1], "^", color=style.GUIDE, ms=5, zorder=4)
    axes.plot([1, -1], [1, -1], "k*", ms=7, ls="", zorder=5, label="least norm")
    axes.set(xlim=(-LIMIT, LIMIT), ylim=(-LIMIT, LIMIT), xlabel="$w_1$", ylabel="$w_2$")
    axes.set_aspect("equal")
    axes.legend(loc="lower right", borderaxespad=0)
    style.letter(axes, "b  to the interpolators, along them")
