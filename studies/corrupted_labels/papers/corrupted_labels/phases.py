"""Four phases of learning with corrupted labels, and a network without some of its units."""

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from grokatlas.claims import statistics
from grokatlas.plots import marks, panels, style

CASES = {
    "coexistence": "a  coexistence",
    "partial_inversion": "b  partial inversion",
    "full_inversion": "c  full inversion",
    "forgetting": "d  forgetting",
    "dropout": "e  dropout",
}
LINES = {
    "test": ("test", style.COLOURS["test"]),
    "uncorrupted": ("uncorrupted", style.COLOURS["train"]),
    "corrupted": ("corrupted", style.MEMBERS[2]),
}
ORDERS = {"low": "g  low ratios first", "high": "h  high ratios first"}


def draw(tables: dict[str, pd.DataFrame]) -> tuple[Figure, pd.DataFrame]:
    """Accuracies of each phase (a to e), ratios of units (f), and pruned networks (g, h)."""
    made, grid = style.figure(4, 2, height=2.2)
    table, drawn = tables["phases"], []
    for axes, (case, title) in zip(grid.flat, CASES.items(), strict=False):
        rows = statistics.history(table, case=case)
        drawn.append(_accuracies(axes, rows, "step", "update").assign(panel=case))
        axes.set_xscale("symlog")
        style.letter(axes, title)
    pruned = statistics.record(table, "pruning")
    drawn.append(_ratios(grid[1, 1], pruned[pruned["order"] == "low"]).assign(panel="ratios"))
    for axes, (order, title) in zip(grid[1, 2:], ORDERS.items(), strict=True):
        rows = pruned[(pruned["order"] == order) & (pruned["case"] == "coexistence")]
        curves = _accuracies(axes, rows, "pruned", "units pruned")
        drawn.append(curves.assign(panel=order))
        style.letter(axes, title)
    panels.above(made, grid[0, 0])
    return made, pd.concat(drawn, ignore_index=True)


def _accuracies(axes: Axes, rows: pd.DataFrame, against: str, label: str) -> pd.DataFrame:
    curves = []
    for part, (name, colour) in LINES.items():
        look = style.Look(color=colour, label=name)
        curves.append(marks.spread(axes, rows, f"{part}_accuracy", against=against, **look))
    axes.set(xlabel=label, ylabel="accuracy")
    panels.limits(axes, "x", low=0)
    panels.limits(axes, "y", low=-0.03, high=1.03)
    return pd.concat(curves)


def _ratios(axes: Axes, rows: pd.DataFrame) -> pd.DataFrame:
    """The share of units below each ratio."""
    curves = []
    colours = style.sequence(range(len(CASES)))
    for place, case in enumerate(CASES):
        own = rows[rows["case"] == case]
        if len(own):
            ranks = own.assign(share=own.groupby("seed")["ratio"].rank(pct=True))
            axes.ecdf(own["ratio"], color=colours[place], label=CASES[case][3:])
            curves.append(ranks[["case", "seed", "ratio", "share"]])
    axes.set(xlabel="participation ratio", ylabel="share of units", xlim=(0, 1))
    axes.legend(fontsize="x-small", loc="upper left")
    style.letter(axes, "f  periodicity of units")
    return pd.concat(curves)
