"""Recovery of sparse vectors and matrices of low rank against the number of samples."""

import pandas as pd
from matplotlib.axes import Axes

from grokatlas.claims.statistics import Tables
from grokatlas.papers.beyond_l2 import _quantities
from grokatlas.plots import panels, style
from grokatlas.plots.style import FigureAndData

PUBLISHED = {"sparse_samples": [30], "matrix_samples": [70, 80]}  # numbers of samples
TITLES = {"sparse_samples": "sparse, $\\ell_1$", "matrix_samples": "low rank, nuclear norm"}
UNITS = {"sparse_samples": "measurements N", "matrix_samples": "observed entries N"}
TIMES = {"t1": "train", "t2": "test"}


def draw(tables: Tables) -> FigureAndData:
    """Share of recovered instances (above), and both times (below), by number of samples."""
    made, grid = style.figure(2, 2, height=2.1)
    drawn = []
    for column, (experiment, title) in enumerate(TITLES.items()):
        table = tables[experiment]
        above, below = grid[:, column]
        shares = _quantities.shares(table)
        above.plot(shares.index, shares, "o-", color=style.GUIDE, ms=3.5)
        above.set(ylim=(-0.03, 1.05), xlabel=UNITS[experiment])
        drawn.append(shares.rename("share").reset_index().assign(experiment=experiment))
        drawn.append(_times(below, table).assign(experiment=experiment))
        below.set(yscale="log", xlabel=UNITS[experiment], xlim=above.get_xlim())
        for axes, letter in ((above, "ab"[column]), (below, "cd"[column])):
            for points in PUBLISHED[experiment]:
                axes.axvline(points, color=style.GUIDE, lw=0.8, ls=":", zorder=1)
            style.letter(axes, f"{letter}  {title}")
    sizes = (tables["sparse_samples"][f"task.{name}"].max() for name in ("features", "nonzeros"))
    transition = _quantities.l1_transition(*(int(size) for size in sizes))
    grid[0, 0].axvline(transition, color=style.GUIDE, lw=0.8, ls="--", zorder=1)
    grid[0, 0].plot([], [], color=style.GUIDE, lw=0.8, ls=":", label="published N")
    grid[0, 0].plot([], [], color=style.GUIDE, lw=0.8, ls="--", label="$\\ell_1$ transition")
    grid[0, 0].set_ylabel("share recovered")
    grid[1, 0].set_ylabel("step")
    panels.above(made, grid[1, 0], grid[0, 0])
    return made, pd.concat(drawn, ignore_index=True)


def _times(axes: Axes, table: pd.DataFrame) -> pd.DataFrame:
    """Median and range of t1 and t2 over the instances that reach them."""
    times = table[table["record"] == "recovery_times"]
    drawn = []
    for name, part in TIMES.items():
        reached = times.dropna(subset=[name]).groupby(_quantities.POINTS)[name]
        seen = reached.agg(["median", "min", "max", "count"]).reset_index()
        colour = style.COLOURS[part]
        label = f"$t_{name[1]}$"
        axes.plot(seen[_quantities.POINTS], seen["median"], "o-", color=colour, ms=3.5, label=label)
        bounds = (seen["min"], seen["max"])
        axes.fill_between(seen[_quantities.POINTS], *bounds, color=colour, alpha=0.2, lw=0)
        drawn.append(seen.assign(series=name))
    return pd.concat(drawn)
