"""Mirages by the size of their start, and recovery with more unknowns and with noise."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from grokatlas.claims.statistics import Tables
from grokatlas.papers.plates import _mirages
from grokatlas.papers.plates._recovery import FALL
from grokatlas.plots import panels, style
from grokatlas.plots.style import FigureAndData

TRUTHS = {"sparse": "sparse truth", "gaussian": "Gaussian truth"}
FITS, FITS_NOT = style.COLOURS["l1"], style.MEMBERS[0]  # truths that l1 fits and does not
COLOURS = dict(zip(TRUTHS, (FITS, FITS_NOT), strict=True))
ENDS = {"sparse": ("sparse truth", FITS), "dense": ("dense truth", FITS_NOT)}
CASES = {"l2": "squared l2 norm", "l1": "l1 norm"}
SHADES = (style.MEMBERS[1], style.COLOURS["l1"])  # of the smaller and the larger problem


def draw(tables: Tables) -> FigureAndData:
    """Falls against the start (a, b), the share recovered by size (c), and ends in noise (d)."""
    made, grid = style.figure(2, 2)
    falls = _mirages.falls(tables["mirage_starts"])
    drawn = [
        _falls(axes, falls[falls["case"] == case], case)
        for axes, case in zip(grid[0], CASES, strict=True)
    ]
    ends = np.concatenate([axes.get_ylim() for axes in grid[0]])
    for axes, case in zip(grid[0], CASES, strict=True):
        panels.limits(axes, "y", float(ends.min()), float(ends.max()))
        axes.set(title=CASES[case], ylabel="fall of the test error")
    drawn.append(_shares(grid[1, 0], tables))
    drawn.append(_ends(grid[1, 1], _mirages.ends(tables["recovery_noise"])))
    for axes, letter in zip(grid.flat, "abcd", strict=True):
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


def _ends(axes: Axes, rows: pd.DataFrame) -> pd.DataFrame:
    """The last test error against the noise: median and quartiles over instances and starts."""
    levels = rows["noise"].unique()
    above = levels[levels > 0]
    axes.plot(above, above, "--", color=style.GUIDE, lw=0.9, zorder=1)
    drawn = []
    for place, (case, (text, colour)) in enumerate(ENDS.items()):
        own = rows[rows["case"] == case].groupby("noise")["end"]
        middle = own.median()
        spread = [middle - own.quantile(0.25), own.quantile(0.75) - middle]
        look = style.Look(color=colour, fmt="os"[place], ms=4, lw=0.9, label=text)
        axes.errorbar(middle.index * (0.96, 1.04)[place], middle, yerr=spread, **look)
        drawn.append(middle.rename("end").reset_index().assign(series=case))
    panels.logarithmic(axes, levels)
    panels.logarithmic(axes, rows["end"].dropna(), "y")
    axes.set_xticks(levels, [f"{level:.2g}" for level in levels])
    axes.set(xlabel="noise / signal", ylabel="relative test error, end", title="noise, l1")
    axes.legend(loc="lower right")
    return pd.concat(drawn, ignore_index=True)
