"""Figure 7: sparse recovery, test error for every step size and weight."""

import pandas as pd

from grokatlas.claims.statistics import Tables
from grokatlas.papers.beyond_l2 import _panels
from grokatlas.plots import style
from grokatlas.plots.style import FigureAndData

RATE, WEIGHT = "dynamics.rate", "dynamics.l1"


def draw(tables: Tables) -> FigureAndData:
    """A panel for each step size: test errors of all weights, dotted where they have settled."""
    table = tables["sparse_scaling"].query("case == 'published'")
    history = _panels.of(table, "history")
    history = history[history["step"] > 0].sort_values("step")
    times = _panels.of(table, "recovery_times")
    times = times.reindex(columns=[RATE, WEIGHT, "t2_settled", "final_test_error"])
    colours = style.weights(history[WEIGHT].unique())
    rates = sorted(history[RATE].unique())
    made, grid = style.figure(2, -(-len(rates) // 2), height=1.9, sharex=True, sharey=True)
    for letter, axes, rate in zip("abcdefghij", grid.ravel(), rates, strict=False):
        settled = times[times[RATE] == rate].set_index(WEIGHT)["t2_settled"]
        for weight, rows in history[history[RATE] == rate].groupby(WEIGHT):
            colour = colours[weight]
            axes.plot(rows["step"], rows["test_error"], color=colour, ls="--")
            if pd.notna(settled[weight]):
                axes.axvline(settled[weight], color=colour, lw=0.8, ls=":", zorder=1)
        axes.set(xscale="log", yscale="log")
        axes.tick_params(labelbottom=True)
        style.letter(axes, f"{letter}  $\\alpha$ = {rate:g}")
    for axes in grid[-1]:
        axes.set_xlabel("step")
    for axes in grid[:, 0]:
        axes.set_ylabel("relative test error")
    _panels.keyed(grid[0, 0], colours, "$\\beta$", loc="lower left", ncols=2)
    keys = [RATE, WEIGHT]
    settled = times[[*keys, "t2_settled", "final_test_error"]].rename(
        columns={"t2_settled": "step"}
    )
    series = history[[*keys, "step", "test_error"]]
    return made, pd.concat([series.assign(series="error"), settled.assign(series="t2")])
