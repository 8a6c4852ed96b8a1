"""Beyond the paper's figures: theorem 4.9 and lemma A.1 over six decades of weight decay."""

import pandas as pd
from matplotlib.axes import Axes

from grokatlas.claims.statistics import Tables
from grokatlas.papers.geometry._theorem import DECAY, suprema
from grokatlas.plots import panels, style
from grokatlas.plots.style import FigureAndData

PROBLEMS = {"hyperbola": "hyperbola $w_1 w_2 = 1$", "relu_network": "two-layer ReLU network"}
ROWS = {"distance": "largest distance to the zero-loss set", "loss": "largest training loss"}


def draw(tables: Tables) -> FigureAndData:
    """Largest distance and loss of each trajectory against weight decay, with the bound."""
    trajectories = suprema(tables["theorem"])
    made, grid = style.figure(2, 2, height=2.5, sharex=True)
    for column, (case, title) in enumerate(PROBLEMS.items()):
        rows = trajectories[trajectories["case"] == case].sort_values(DECAY)
        starts = ["model.init.0"] if case == "hyperbola" else ["seed"]
        for line, quantity in enumerate(ROWS):
            axes = grid[line, column]
            for index, (start, part) in enumerate(rows.groupby(starts)):
                colour = style.MEMBERS[index % len(style.MEMBERS)]
                name = _label(case, part, start[0])
                _trajectories(axes, part, quantity, colour, name, max(7 - 1.5 * index, 1.5))
            panels.logarithmic(axes, rows[DECAY])
            panels.logarithmic(axes, rows[quantity].dropna(), "y")
            style.letter(axes, f"{'abcd'[2 * line + column]}  {title}")
        grid[1, column].set_xlabel("weight decay $\\lambda$")
        grid[0, column].legend(loc="upper left")
    for line, label in enumerate(ROWS.values()):
        grid[line, 0].set_ylabel(label)
    dashed = {"color": style.GUIDE, "ls": "--", "lw": 0.9, "label": "$\\lambda |\\theta_0|^2$"}
    keys = grid[1, 0].plot([], [], **dashed)
    grid[1, 0].legend(handles=keys, loc="lower right")
    return made, trajectories


def _trajectories(
    axes: Axes, rows: pd.DataFrame, quantity: str, colour: str, label: str | None, size: float
) -> None:
    """One starting point: filled marks, open where a distance is an upper bound.

    Marks of later starting points are smaller, so that equal ones are seen one in the other.
    """
    axes.plot(rows[DECAY], rows[quantity], color=colour, lw=0.9)
    bounded = (rows["nearest"] == 0) & (quantity == "distance")
    mark = style.Look(color=colour, ls="", marker="o", ms=size)
    axes.plot(rows.loc[~bounded, DECAY], rows.loc[~bounded, quantity], label=label, **mark)
    if bounded.any():
        axes.plot(rows.loc[bounded, DECAY], rows.loc[bounded, quantity], mfc="white", **mark)
    if quantity == "loss":
        axes.plot(rows[DECAY], rows["bound"], color=colour, ls="--", lw=0.9)


def _label(case: str, rows: pd.DataFrame, start: float) -> str:
    if case == "hyperbola":
        return f"from ({start:g}, {rows['model.init.1'].iloc[0]:g})"
    return f"seed {start:g}"
