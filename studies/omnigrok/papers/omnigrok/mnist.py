"""Grokking on images by the size of the initial weights, and reduced losses by the norm kept."""

import pandas as pd
from matplotlib.figure import Figure

from grokatlas.claims import statistics
from grokatlas.plots import marks, panels, style

NORM = "dynamics.relative_norm"
CASES = {"large": "a  large initial weights", "standard": "b  standard initial weights"}
PARTS = {"train": "training", "test": "test"}


def draw(tables: dict[str, pd.DataFrame]) -> tuple[Figure, pd.DataFrame]:
    """Accuracies of both sizes (a, b), and least losses at each norm (c)."""
    made, grid = style.figure(3, 1, height=2.5)
    drawn = []
    for axes, (case, title) in zip(grid[0], CASES.items(), strict=False):
        rows = statistics.history(tables["training"], case=case)
        for part, label in PARTS.items():
            look = style.Look(color=style.COLOURS[part], label=label)
            drawn.append(marks.spread(axes, rows, f"{part}_accuracy", **look).assign(panel=case))
        axes.set(xscale="symlog", xlabel="update", ylabel="accuracy")
        panels.limits(axes, "x", low=0)
        panels.limits(axes, "y", low=-0.03, high=1.03)
        style.letter(axes, title)
    least = _least(tables["landscape"])
    third = grid[0, 2]
    for part, label in PARTS.items():
        look = style.Look(color=style.COLOURS[part], label=label)
        curve = marks.spread(third, least, f"{part}_loss", against=NORM, **look)
        drawn.append(curve.assign(panel="landscape"))
    third.set(xscale="log", yscale="log", xlabel="norm / standard norm")
    third.set_ylabel("least loss")
    style.letter(third, "c  reduced losses")
    panels.above(made, third)
    return made, pd.concat(drawn, ignore_index=True)


def _least(table: pd.DataFrame) -> pd.DataFrame:
    """The least training and test loss of each norm and seed."""
    columns = [f"{part}_loss" for part in PARTS]
    return statistics.history(table).groupby([NORM, "seed"])[columns].min().reset_index()
