"""Table 1 as a picture: how many times fewer updates, and less time, each method takes."""

import itertools

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from grokatlas.claims.statistics import Tables
from grokatlas.papers.grokalign import _methods
from grokatlas.papers.grokalign._jacobians import data_named
from grokatlas.plots import panels, style
from grokatlas.plots.style import FigureAndData

SERIES = {"steps": "updates", "time": "time of updates"}
ASIDE = 0.2  # of a row: how far the published factor is above, and ours below, the row's middle


def draw(tables: Tables, published: dict[str, str]) -> FigureAndData:
    """A panel for each loss and series, a row for each method, a point for each seed."""
    table = tables["acceleration"]
    _, data = _methods.acceleration(table, tables["update_time"], published)
    data = data[data["series"].isin(SERIES)]
    made, grid = style.figure(len(SERIES), len(_methods.LOSSES), 1.5, sharex=True, sharey=True)
    drawn = [data.assign(origin="ours")]
    panes = itertools.product(_methods.LOSSES, SERIES)
    for axes, letter, (loss, series) in zip(grid.flat, "abcd", panes, strict=True):
        own = data[(data["loss"] == loss) & (data["series"] == series)]
        drawn.append(_panel(axes, own, published, f"{loss}_{{}}_{series}"))
        style.letter(axes, f"{letter}  {_methods.LOSSES[loss]}: {SERIES[series]}")
    for axes in grid[-1]:
        axes.set_xlabel(f"baseline / method ({data_named(table)})")
    panels.above(made, grid[0, 0], ncols=2)
    return made, pd.concat(drawn, ignore_index=True)


def _panel(axes: Axes, own: pd.DataFrame, published: dict[str, str], cell: str) -> pd.DataFrame:
    """The rows of a panel, from above; the published factors with their standard deviations."""
    axes.axvline(1, color=style.GUIDE, lw=0.8, ls=":", zorder=1)
    rows = []
    for row, method in enumerate(_methods.METHODS):
        factors = own.loc[own["method"] == method, "ratio"]
        _methods.seeds_in_row(axes, row + ASIDE, factors, style.COLOURS[method])
        text = published.get(cell.format(method))
        mean, low, high = _methods.printed_factor(text) if text else (np.nan,) * 3
        _methods.published_in_row(axes, row - ASIDE, mean, low, high)
        rows.append({"method": method, "ratio": mean, "low": low, "high": high})
    _methods.key_of_rows(axes)
    axes.set(xscale="log", ylim=(len(_methods.METHODS) - 0.5, -0.5))
    axes.set_yticks(range(len(_methods.METHODS)), [*_methods.METHODS.values()])
    axes.set_xticks([0.1, 0.2, 0.5, 1, 2, 5, 10], ["0.1", "0.2", "0.5", "1", "2", "5", "10"])
    axes.minorticks_off()
    loss, _, series = cell.split("_", 2)
    return pd.DataFrame(rows).assign(loss=loss, series=series, origin="published")
