"""Mirages by the size of their start, and recovery with four times as many unknowns."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from grokatlas.claims.statistics import Tables
from grokatlas.papers.plates import _mirages
from grokatlas.papers.plates._recovery import FALL
from grokatlas.plots import panels, style
from grokatlas.plots.style import FigureAndData

TRUTHS = {"sparse": "sparse truth", "gaussian": "Gaussian truth"}
COLOURS = dict(zip(TRUTHS, (style.COLOURS["l1"], style.MEMBERS[0]), strict=True))
CASES = {"l2": "squared l2 norm", "l1": "l1 norm"}
SHADES = (style.MEMBERS[1], style.COLOURS["l1"])  # of the smaller and the larger problem


def draw(tables: Tables) -> FigureAndData:
    """Falls against the norm of the start (a, b), and the share recovered by size (c)."""
    made, grid = style.figure(3)
    falls = _mirages.falls(tables["mirage_starts"])
    drawn = [
        _falls(axes, falls[falls["case"] == case], case)
        for axes, case in zip(grid[0], CASES, strict=False)
    ]
    ends = np.concatenate([axes.get_ylim() for axes in grid[0][:2]])
    for axes, case in zip(grid[0], CASES, strict=False):
        panels.limits(axes, "y", float(ends.min()), float(ends.max()))
        axes.set(title=CASES[case], ylabel="fall of the test error")
    drawn.append(_shares(grid[0, 2], tables))
    for axes, letter in zip(grid.flat, "abc", strict=True):
        style.letter(axes, letter)
    return made, pd.concat(drawn, ignore_index=True)


def _falls(axes: Axes, rows: pd.DataFrame, case: str) -> pd.DataFrame:
    """The median and quartiles of the fall at each start, beside its law."""
    drawn = []
    for place, (truth, text) in enumerate(TRUTHS.items()):
        own = rows[rows["truth"] == truth].groupby("norm")["fall"]
        if not len(own):
            continue
        middle = own.median()
        low, high = middle - own.quantile(0.25), own.quantile(0.75) - middle
        axes.errorbar(
            middle.index * (0.96, 1.04)[place],
            middle,
            yerr=[low, high],
            color=COLOURS[truth],
            fmt="os"[place],
            ms=4,
            lw=0.9,
            label=text,
        )
        part = pd.DataFrame({"norm": middle.index, "fall": middle.to_numpy()})
        drawn.append(part.assign(series=truth, case=case))
    long = rows.loc[rows["norm"] > 0, "norm"]
    norms = np.geomspace(long.min(), long.max(), 50) if len(long) else np.ones(0)
    axes.plot(norms, np.sqrt(1 + norms**2), "--", color=style.GUIDE, lw=0.9, zorder=1)
    axes.axhline(FALL, color=style.GUIDE, lw=0.6, ls=":", zorder=1)
    axes.set_xlabel("norm of the start, $|w_0|$")
    panels.logarithmic(axes, long)
    panels.logarithmic(axes, rows["fall"].dropna(), "y")
    if drawn:
        axes.legend(loc="upper left")
    return pd.concat(drawn, ignore_index=True) if drawn else pd.DataFrame()


def _shares(axes: Axes, tables: Tables) -> pd.DataFrame:
    """The share of runs that recover a sparse truth under l1, by problem size, beside theory."""
    drawn = []
    for colour, name in zip(SHADES, _mirages.SIZES, strict=True):
        rows = _mirages.recoveries(tables[name])
        rows = rows[rows["truth"] == "sparse"]
        if rows.empty:
            continue
        means = rows.groupby("share")[["recovered", "convex"]].mean().reset_index()
        axes.plot(means["share"], means["convex"], ":", color=colour, lw=1.2, zorder=1)
        text = f"{int(rows['unknowns'].iloc[0])} unknowns"
        axes.plot(means["share"], means["recovered"], "-o", color=colour, ms=3.5, lw=1, label=text)
        drawn.append(means.assign(series=name))
    axes.set(
        xlabel="measurements / unknowns",
        ylabel="share recovered",
        title="sparse truth, l1",
        ylim=(-0.03, 1.03),
    )
    if drawn:
        axes.legend(loc="lower right")
    return pd.concat(drawn, ignore_index=True) if drawn else pd.DataFrame()
