"""Losses, progress measures, sparsity and norm of the transformer on modular addition."""

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from grokatlas.claims import statistics
from grokatlas.plots import marks, panels, style

MEASURE = "fourier_losses"
PANELS = {
    "a  losses": {"train_loss": "training", "test_loss": "test"},
    "b  progress measures": {"restricted_loss": "restricted", "excluded_loss": "excluded"},
    "c  Gini coefficient": {"fourier_gini_embedding": "embedding", "fourier_gini_logits": "logits"},
    "d  norm of the weights": {"l2_norm": "l2 norm"},
}
CASES = {"published": "-", "no_decay": ":"}
LABELS = {"published": "weight decay 1", "no_decay": "no weight decay"}


def draw(tables: dict[str, pd.DataFrame]) -> tuple[Figure, pd.DataFrame]:
    """Four panels against steps: solid with weight decay, dotted without."""
    table = tables["phases"]
    made, grid = style.figure(2, 2, height=2.3, sharex=True)
    drawn = []
    for axes, (title, columns) in zip(grid.flat, PANELS.items(), strict=True):
        for case, dashes in CASES.items():
            rows = table[table["case"] == case]
            drawn.append(_panel(axes, rows, columns, dashes).assign(panel=title[0], case=case))
        panels.limits(axes, "x", low=0)
        style.letter(axes, title)
        if title[0] in "ab":
            axes.set(yscale="log", ylabel="cross-entropy")
        axes.legend()
    for axes in grid[1]:
        axes.set_xlabel("update")
    for case, dashes in CASES.items():
        grid[1, 1].plot([], [], color=style.GUIDE, linestyle=dashes, label=LABELS[case])
    grid[1, 1].legend()
    return made, pd.concat(drawn, ignore_index=True)


def _panel(axes: Axes, rows: pd.DataFrame, columns: dict[str, str], dashes: str) -> pd.DataFrame:
    """The curves of a case in a panel, named once; what is drawn."""
    drawn = []
    for colour, (column, label) in zip(style.MEMBERS, columns.items(), strict=False):
        record = MEASURE if column.endswith(("restricted_loss", "excluded_loss")) else "history"
        part = statistics.record(rows, record)
        look = style.Look(color=colour, linestyle=dashes, label=label if dashes == "-" else None)
        curve = marks.spread(axes, part, column, **look)
        drawn.append(curve.assign(column=column))
    return pd.concat(drawn, ignore_index=True)
