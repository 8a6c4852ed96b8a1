"""Beyond the paper: the regularised flow approaches the Riemannian flow as lambda vanishes."""

import pandas as pd
from matplotlib.axes import Axes

from grokatlas.claims.statistics import Tables
from grokatlas.papers.two_timescales import _quantities
from grokatlas.plots import marks, panels, style
from grokatlas.plots.style import FigureAndData

PROBLEMS = {
    "matrix_completion": "matrix completion",
    "two_layer_relu": "two-layer ReLU",
    "diagonal_network": "diagonal network",
}


def draw(tables: Tables) -> FigureAndData:
    """Distances against slow time, and their largest value against lambda, for each problem."""
    made, grid = style.figure(len(PROBLEMS), 2, height=2.2)
    drawn = []
    for place, (problem, title) in enumerate(PROBLEMS.items()):
        history = tables[f"limit_{problem}"].query("record == 'history'")
        distances = _quantities.distances(history)
        above, below = grid[0, place], grid[1, place]
        drawn.append(_against_time(above, distances).assign(problem=problem))
        style.letter(above, f"{'abc'[place]}  {title}")
        largest = _quantities.largest_distances(distances)
        _against_lambda(below, largest)
        style.letter(below, f"{'def'[place]}")
        drawn.append(largest.assign(problem=problem, series="largest"))
    for row in grid:
        row[0].set_ylabel("relative distance")
    grid[1, 0].set_ylabel(f"largest, $\\tau \\geq$ {_quantities.FROM:g}")
    return made, pd.concat(drawn, ignore_index=True)


def _against_time(axes: Axes, distances: pd.DataFrame) -> pd.DataFrame:
    if distances.empty:
        return distances
    colours = style.weights(distances["lambda"].unique().tolist())
    frames = []
    for decay, rows in distances.groupby("lambda"):
        keywords = {"against": "tau", "color": colours[decay], "label": f"{decay:g}"}
        frames.append(marks.spread(axes, rows, "distance", **keywords).assign(**{"lambda": decay}))
    axes.axvline(_quantities.FROM, color=style.GUIDE, lw=0.7, ls=":")
    axes.set(yscale="log", xlabel="slow time $\\tau$", xlim=(0, None))
    drawn = pd.concat(frames, ignore_index=True)
    top, bottom = drawn["high"].max(), drawn["low"].min()
    panels.limits(axes, "y", high=top * (top / bottom) ** 0.5)  # room for the legend
    axes.legend(title="$\\lambda$", title_fontsize=7, ncols=2, loc="upper right")
    return drawn


def _against_lambda(axes: Axes, largest: pd.DataFrame) -> None:
    for index, (seed, rows) in enumerate(largest.groupby("seed")):
        colour = style.MEMBERS[index % len(style.MEMBERS)]
        mark = style.Look(ms=max(6 - 1.5 * index, 2), label=str(seed))
        axes.plot(rows["lambda"], rows["distance"], "o-", color=colour, **mark)
    axes.set(yscale="log", xlabel="$\\lambda$")
    panels.logarithmic(axes, largest["lambda"])
    if len(largest):
        decays = largest["lambda"]
        level = largest.loc[decays == decays.min(), "distance"].min() / 2
        marks.proportional(axes, decays, level, "$\\propto \\lambda$")
        panels.limits(axes, "y", high=8 * largest["distance"].max())  # room for the legend
        axes.legend(title="seed", title_fontsize=7, ncols=2, loc="upper left", fontsize=6)
