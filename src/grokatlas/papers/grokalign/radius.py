"""Theorem 3: the l2 radius of the linear map at a point, and what an attack of that size finds."""

import pandas as pd

from grokatlas.claims.statistics import Tables
from grokatlas.papers.grokalign._jacobians import data_named
from grokatlas.plots import marks, panels, style
from grokatlas.plots.style import FigureAndData

METHODS = {"baseline": ("weight_decay", "baseline"), "grokalign": ("grokalign", "GrokAlign")}


def draw(tables: Tables) -> FigureAndData:
    """Points that hold against the size of the attack; the radius during training."""
    table = tables["radius"]
    rows = table[table["record"] == "l2_radius"]
    made, grid = style.figure(2, height=2.5)
    left, right = grid[0]
    drawn = []
    for name, (colour, label) in METHODS.items():
        part = rows[rows["case"].str.endswith(name)]
        line = style.Look(color=style.COLOURS[colour], marker="o", ms=3.5, label=label)
        last = part[part["step"] == part["step"].max()]
        shares = marks.spread(left, last, "robust_share", against="level", **line)
        drawn.append(shares.assign(method=name))
        one = part[part["level"] == part["level"].min()]
        drawn.append(marks.spread(right, one, "radius_share", **line).assign(method=name))
    left.axvline(1.0, color=style.GUIDE, lw=0.9, ls="--", zorder=1, label="theorem 3")
    left.set(xlabel="size of the attack / $r(x)$", ylabel="share that hold", ylim=(-0.02, 1.02))
    left.legend(loc="lower left")
    right.axhline(1.0, color=style.GUIDE, lw=0.9, ls="--", zorder=1)
    right.set(xscale="log", xlabel="step", ylabel="mean of $r(x) / |x|$")
    panels.logarithmic(right, [1.0, *rows["radius_share"]], "y")
    place = {"transform": right.transAxes, "fontsize": 7, "color": style.GUIDE, "va": "top"}
    right.text(0.02, 0.94, "largest value", **place)
    style.letter(left, f"a  test points at the end ({data_named(table)})")
    style.letter(right, f"b  radius of the linear map, {style.seeds(rows)}")
    return made, pd.concat(drawn, ignore_index=True)
