"""Figure 3: a curved, a singular and a kinked zero-loss set."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from grokatlas.claims.statistics import Tables
from grokatlas.plots import style
from grokatlas.plots.style import FigureAndData

LIMIT = 3.0
PANELS = {
    "curved": "a  curved: $w_1 w_2 = 1$",
    "singular": "b  singular: $w_1 w_2 = 0$",
    "leaky_relu": "c  leaky ReLU: $w_1 + w_2 = 2$",
}


def draw(tables: Tables) -> FigureAndData:
    """Trajectories to and along three zero-loss sets; triangles start, dots end."""
    table = tables["zero_loss_sets"].query("record == 'history'")
    made, grid = style.figure(3, height=2.6)
    drawn = []
    for axes, (case, title) in zip(grid[0], PANELS.items(), strict=True):
        rows = table[table["case"] == case].sort_values(["member", "step"])
        names = sorted(c for c in rows.columns if c.startswith("parameters."))
        first = rows[rows["step"] == rows["step"].min()]  # all that a case logs is there
        names = [name for name in names if first[name].notna().any()]
        _zero_loss(axes, case)
        for member, part in rows.groupby("member"):
            colour = style.MEMBERS[member % len(style.MEMBERS)]
            x, y = (part[name].to_numpy() for name in names)
            axes.plot(x, y, color=colour, lw=1.1, zorder=3)
            axes.plot(x[:1], y[:1], "^", color=colour, ms=5, zorder=4)
            axes.plot(x[-1:], y[-1:], "o", color=colour, ms=5, mec="white", zorder=5)
        axes.set(xlim=(-LIMIT, LIMIT), ylim=(-LIMIT, LIMIT), xlabel="$w_1$", ylabel="$w_2$")
        axes.set_aspect("equal")
        style.letter(axes, title)
        tidy = rows[["case", "member", "step", *names, "train_loss"]]
        drawn.append(tidy.set_axis([*tidy.columns[:3], "w1", "w2", "train_loss"], axis=1))
    return made, pd.concat(drawn, ignore_index=True)


def _zero_loss(axes: Axes, case: str) -> None:
    grey = style.Look(color=style.COLOURS["zero_loss"], lw=0.8, ls="--", zorder=1)
    if case == "curved":
        branch = np.linspace(1 / LIMIT, LIMIT, 200)
        axes.plot(branch, 1 / branch, **grey)
        axes.plot(-branch, -1 / branch, **grey)
    elif case == "singular":
        axes.axhline(0, **grey)
        axes.axvline(0, **grey)
    else:
        line = np.array([-LIMIT, LIMIT])
        axes.plot(line, 2 - line, **grey)
        axes.plot(line, -line, color=style.COLOURS["zero_loss"], lw=0.8, ls=":", zorder=1)
        axes.text(-2.9, 1.55, "kink", fontsize=6.5, color=style.COLOURS["zero_loss"])
