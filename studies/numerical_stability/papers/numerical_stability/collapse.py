"""Softmax collapse, and StableMax, on modular addition without regularisation."""

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from grokatlas.claims import statistics
from grokatlas.plots import marks, panels, style

SHARES = {"40": 0, "60": 1, "70": 2}  # per cent of training data, and the place of its colour
PRECISIONS = {"float32": ":", "float64": "-"}
LOSSES = {"softmax": "softmax, float64", "stablemax": "StableMax"}


def draw(tables: dict[str, pd.DataFrame]) -> tuple[Figure, pd.DataFrame]:
    """Test accuracy (a) and collapsed points (b) by precision; accuracies by loss (c)."""
    made, grid = style.figure(3, 1, height=2.5)
    first, second, third = grid[0]
    drawn = []
    for share, place in SHARES.items():
        for precision, dashes in PRECISIONS.items():
            case = f"{precision}_{share}"
            rows = statistics.history(tables["collapse"], case=case)
            look = style.Look(color=style.MEMBERS[place], linestyle=dashes, label=None)
            for panel, axes, column in (
                ("a", first, "test_accuracy"),
                ("b", second, "collapsed_points"),
            ):
                curve = marks.spread(axes, rows, column, **look)
                drawn.append(curve.assign(panel=panel, case=case))
        second.plot([], [], color=style.MEMBERS[place], label=f"{share} % of the data")
    for precision, dashes in PRECISIONS.items():
        second.plot([], [], color=style.GUIDE, linestyle=dashes, label=precision)
    drawn += _losses(third, tables["stablemax"])
    style.letter(first, "a  no regularisation")
    style.letter(second, "b  collapsed points")
    style.letter(third, "c  by loss")
    for axes, label in zip(grid[0], ("test accuracy", "share", "accuracy"), strict=True):
        axes.set(xlabel="update", ylabel=label)
        panels.limits(axes, "x", low=0)
        panels.limits(axes, "y", low=-0.03, high=1.03)
    panels.above(made, second, third, ncols=4)
    return made, pd.concat(drawn, ignore_index=True)


def _losses(axes: Axes, table: pd.DataFrame) -> list[pd.DataFrame]:
    """Test accuracy, and dotted training accuracy, of each loss; what is drawn."""
    drawn = []
    for place, (case, label) in enumerate(LOSSES.items()):
        rows = statistics.history(table, case=case)
        for column, dashes in (("test_accuracy", "-"), ("train_accuracy", ":")):
            shown = label if column == "test_accuracy" else None
            look = style.Look(color=style.MEMBERS[place + 3], linestyle=dashes, label=shown)
            curve = marks.spread(axes, rows, column, **look)
            drawn.append(curve.assign(panel="c", case=case))
    return drawn
