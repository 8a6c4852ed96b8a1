"""Updates to generalise, and best test accuracies, by share of the data and operation."""

import numpy as np
import pandas as pd
from matplotlib import colormaps
from matplotlib.figure import Figure

from grokatlas.claims import statistics
from grokatlas.plots import marks, panels, style

FRACTION, OPERATION = "task.train_fraction", "task.operation"
GENERAL = 0.99
NAMES = {
    "sum": "x + y",
    "difference": "x - y",
    "quotient": "x / y",
    "quotient_if_odd": "x / y if y is odd, else x - y",
    "x^2+y^2": "x² + y²",
    "x^2+xy+y^2": "x² + xy + y²",
    "x^2+xy+y^2+x": "x² + xy + y² + x",
    "x^3+xy": "x³ + xy",
    "x^3+xy^2+y": "x³ + xy² + y",
    "composition": "xy of permutations",
    "conjugation": "xyx⁻¹ of permutations",
    "xyx": "xyx of permutations",
}
PANELS = {"step": "a  updates to generalise", "accuracy": "b  best test accuracy"}


def draw(tables: dict[str, pd.DataFrame]) -> tuple[Figure, pd.DataFrame]:
    """Both against the share of all pairs, a colour for each operation."""
    points = _points(statistics.history(tables["fractions"]))
    colours = colormaps["tab20"](np.linspace(0, 1, len(NAMES)))
    made, grid = style.figure(2, 1, height=2.9, sharex=True)
    drawn = []
    for axes, (column, title) in zip(grid[0], PANELS.items(), strict=True):
        for colour, (operation, label) in zip(colours, NAMES.items(), strict=True):
            rows = points[points[OPERATION] == operation].dropna(subset=[column])
            if rows.empty:
                continue
            look = style.Look(color=colour, marker="o", markersize=3, label=label)
            curve = marks.spread(axes, rows, column, against=FRACTION, **look)
            drawn.append(curve.assign(panel=column, operation=operation))
        axes.set_xlabel("share of all pairs in training")
        style.letter(axes, title)
    grid[0, 0].set(yscale="log", ylabel="update")
    grid[0, 1].set_ylabel("accuracy")
    panels.limits(grid[0, 1], "y", low=-0.03, high=1.03)
    panels.above(made, grid[0, 1], ncols=4)
    return made, pd.concat(drawn, ignore_index=True)


def _points(rows: pd.DataFrame) -> pd.DataFrame:
    """First update with `GENERAL`, and best accuracy, of each operation, share and seed."""
    keys = [OPERATION, FRACTION, "seed"]
    reached = rows["step"].where(rows["test_accuracy"] >= GENERAL)
    grouped = rows.assign(step=reached).groupby(keys)
    return grouped.agg(step=("step", "min"), accuracy=("test_accuracy", "max")).reset_index()
