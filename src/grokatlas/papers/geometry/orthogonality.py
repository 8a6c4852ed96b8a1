"""Beyond the paper's figures: the loss gradient becomes orthogonal to the zero-loss set."""

import pandas as pd
from matplotlib.axes import Axes

from grokatlas.claims.statistics import Tables
from grokatlas.plots import marks, style
from grokatlas.plots.style import FigureAndData

DECAY = "penalties.0.weight"
PROBLEMS = {"hyperbola": "hyperbola $w_1 w_2 = 1$", "relu_network": "two-layer ReLU network"}
COLUMNS = ["case", "seed", DECAY, "step", "residual", "distance", "cosine", "bound"]
MEASURED = [*COLUMNS, "lipschitz", "singular_value", "available"]


def draw(tables: Tables) -> FigureAndData:
    """The largest cosine with an available direction, and its bound, against the distance."""
    points = tables["orthogonality"].query("record == 'orthogonality'")
    made, grid = style.figure(len(PROBLEMS), height=2.9)
    colours = style.weights(points[DECAY].unique().tolist())
    for place, (case, title) in enumerate(PROBLEMS.items()):
        rows = points[points["case"] == case]
        _panel(grid[0, place], rows, colours)
        style.letter(grid[0, place], f"{'ab'[place]}  {title}")
    grid[0, 0].set_ylabel("largest cosine with an available direction")
    return made, points[MEASURED].reset_index(drop=True)


def _panel(axes: Axes, rows: pd.DataFrame, colours: dict[float, object]) -> None:
    known = rows.dropna(subset=["distance"])
    for decay, part in known.groupby(DECAY):
        mark = style.Look(color=colours[decay], label=f"{decay:g}", mec="white", mew=0.3)
        axes.plot(part["distance"], part["cosine"], "o", ms=3.5, zorder=3, **mark)
    grey = style.Look(color="#777777", ls="", zorder=2)
    axes.plot(known["distance"], known["bound"], marker="_", ms=5, mew=0.8, label="bound", **grey)
    axes.set(xscale="log", yscale="log", xlabel="distance to the zero-loss set")
    if len(known):
        level = (known["cosine"] / known["distance"]).median() / 30 * known["distance"].min()
        marks.proportional(axes, known["distance"], level, "$\\propto$ distance")
    missing = int(rows.loc[rows["step"] > 0, "distance"].isna().sum())
    if missing:
        total = int((rows["step"] > 0).sum())
        text = f"{missing} of {total} points left out:\nno smooth nearest point"
        axes.text(0.97, 0.04, text, transform=axes.transAxes, fontsize=6.5, ha="right")
    axes.legend(title="weight decay", title_fontsize=7, loc="upper left", ncols=2)
