"""Weight decay against orthogonal gradients."""

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from grokatlas.claims import statistics
from grokatlas.plots import marks, panels, style

DECAY = "optimizer.weight_decay"
ORTHOGONAL = {
    "orthogonal": ("#D55E00", "-", "orthogonal"),
    "orthogonal_command": ("#CC79A7", "--", "orthogonal, betas of the command line"),
}


def draw(tables: dict[str, pd.DataFrame]) -> tuple[Figure, pd.DataFrame]:
    """Test accuracy (a) and training accuracy (b) against updates."""
    table = tables["decay"]
    made, grid = style.figure(2, 1, height=2.7, sharey=True)
    drawn = []
    for axes, column, title in zip(
        grid[0], ("test_accuracy", "train_accuracy"), ("a  test", "b  training"), strict=True
    ):
        drawn += [curve.assign(panel=title[0]) for curve in _curves(axes, table, column)]
        axes.set_xlabel("update")
        panels.limits(axes, "x", low=0)
        style.letter(axes, title)
    grid[0, 0].set_ylabel("accuracy")
    panels.above(made, grid[0, 0], ncols=4)
    return made, pd.concat(drawn, ignore_index=True)


def _curves(axes: Axes, table: pd.DataFrame, column: str) -> list[pd.DataFrame]:
    """The curve of each weight decay and of each orthogonal case; what is drawn."""
    drawn = []
    history = statistics.history(table, case="decay")
    colours = style.weights(history[DECAY].unique())
    for decay, rows in history.groupby(DECAY):
        look = style.Look(color=colours[decay], label=f"weight decay {decay:g}")
        drawn.append(marks.spread(axes, rows, column, **look).assign(case="decay", decay=decay))
    for case, (colour, dashes, label) in ORTHOGONAL.items():
        rows = statistics.history(table, case=case)
        look = style.Look(color=colour, linestyle=dashes, label=label)
        drawn.append(marks.spread(axes, rows, column, **look).assign(case=case, decay=0.0))
    return drawn
