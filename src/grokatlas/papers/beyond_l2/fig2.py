"""Figure 2: training loss (an L) and test loss (a U) against the norm of the weights."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullFormatter

from grokatlas.claims.statistics import Tables
from grokatlas.papers.beyond_l2 import _quantities
from grokatlas.papers.beyond_l2._quantities import NORM
from grokatlas.plots import marks, panels, style
from grokatlas.plots.style import FigureAndData

TEST_FACTOR = 2.0  # a norm is in the zone where the test loss is at most this times its least,
TRAIN_SHARE = 0.1  # and the training loss at most this share of that least test loss
IMAGES = {"mnist": "MNIST", "digits": "scikit-learn's digits"}


def draw(tables: Tables) -> FigureAndData:
    """Loss on a linear and on a logarithmic axis, and accuracy, of the best fit at every norm."""
    fits = _quantities.best_fits(tables["fixed_norm"])
    zone = _zone(fits.groupby(NORM)[["train_loss", "test_loss"]].median())
    made, grid = style.figure(3, height=2.4)
    linear, logarithmic, accuracy = grid[0]
    drawn = [
        _panel(linear, fits, "loss", zone),
        _panel(logarithmic, fits, "loss", zone),
        _panel(accuracy, fits, "accuracy", zone),
    ]
    initial = (fits["l2_norm"] / fits[NORM]).median()
    for axes in grid[0]:
        axes.set(xscale="log", xlabel=f"$w / w_0$, where $w_0 = {initial:.1f}$")
        axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axes.xaxis.set_major_formatter("{x:g}")
        axes.xaxis.set_minor_formatter(NullFormatter())
    top = drawn[0].loc[drawn[0]["series"] == "train_loss", "median"].head(1)
    panels.limits(linear, "y", 0, 1.3 * top.max())
    logarithmic.set_yscale("log")
    accuracy.set_ylim(0, 1.04)
    style.letter(linear, "a  loss")
    style.letter(logarithmic, "b  loss, logarithmic")
    style.letter(accuracy, "c  accuracy")
    _head(made, fits, linear)
    ends = pd.DataFrame([{"series": "zone", "low": zone[0], "high": zone[1]}] if zone else [])
    return made, pd.concat([drawn[0], drawn[2], ends], ignore_index=True)


def _panel(
    axes: Axes, rows: pd.DataFrame, quantity: str, zone: tuple[float, float] | None
) -> pd.DataFrame:
    """One quantity on the training and on the test set, the zone shaded."""
    drawn = []
    for part, dashes in (("train", "-"), ("test", "--")):
        line = {"color": style.COLOURS[part], "ls": dashes, "marker": "o", "ms": 2.5, "label": part}
        drawn.append(marks.spread(axes, rows, f"{part}_{quantity}", against=NORM, **line))
    if zone:
        axes.axvspan(
            *zone, color=style.COLOURS["l2"], alpha=0.15, lw=0, zorder=0, label="Goldilocks zone"
        )
    axes.set_ylabel(quantity)
    return pd.concat(drawn)


def _zone(medians: pd.DataFrame) -> tuple[float, float] | None:
    """From the first to the last norm of the zone, each reaching half-way to its neighbours."""
    least = medians["test_loss"].min()
    memorised = medians["train_loss"] <= TRAIN_SHARE * least
    inside = np.flatnonzero(memorised & (medians["test_loss"] <= TEST_FACTOR * least))
    if not len(inside):
        return None
    norms = medians.index.to_numpy(float)
    edges = np.r_[norms[0], np.sqrt(norms[1:] * norms[:-1]), norms[-1]]
    return float(edges[inside[0]]), float(edges[inside[-1] + 1])


def _head(made: Figure, rows: pd.DataFrame, axes: Axes) -> None:
    """Above all panels, which images were learnt, and the legend."""
    first = rows.iloc[0]
    name = IMAGES.get(first["task.name"], first["task.name"])
    counts = f"{first['task.train_points']:,.0f} training images, {style.seeds(rows)}"
    made.suptitle(f"{name}, {counts}", x=0.01, ha="left", fontsize=8.5)
    panels.above(made, axes, ncols=3)
