"""The look of every figure."""

from collections.abc import Iterable
from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colorbar import Colorbar
from matplotlib.colors import ListedColormap, LogNorm, to_hex
from matplotlib.figure import Figure

FigureAndData = tuple[Figure, pd.DataFrame]  # what a figure's function returns
Look = dict[str, Any]  # keywords of what matplotlib draws: colour, width, label, place

TEXT_WIDTH = 7.0  # inches: a page of two columns

RC: dict[str, Any] = {
    "figure.constrained_layout.use": True,
    "figure.dpi": 200,
    "savefig.dpi": 200,
    "font.family": "DejaVu Sans",
    "font.size": 8,
    "axes.titlesize": 8.5,
    "axes.labelsize": 8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.7,
    "xtick.labelsize": 7,
    "ytick.labelsize": 7,
    "legend.fontsize": 7,
    "legend.frameon": False,
    "lines.linewidth": 1.3,
    "pdf.fonttype": 42,
    "svg.hashsalt": "grokatlas",
}

GUIDE = "#555555"  # lines to compare with, and marks without a colour of their own
MUTED = "#999999"  # what is drawn beside the main thing

# one colour for a key, everywhere (Okabe and Ito's palette, safe for colour-blind readers)
COLOURS = {
    "train": "#0072B2",
    "test": "#D55E00",
    "l1": "#CC79A7",
    "l2": "#009E73",
    "nuclear": "#E69F00",
    "weight_decay": "#009E73",  # that of l2
    "grokalign": "#56B4E9",
    "grokfast": "#882255",
    "adversarial": "#999933",
    "constrained": "#AA4499",
    "initial": MUTED,
    "final": "#0072B2",
    "zero_loss": GUIDE,
}
ZERO = "#8c8c8c"  # a hyperparameter of 0, such as no regularisation: the control of a sweep
MEMBERS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")


def figure(columns: int, rows: int = 1, height: float = 2.4, **keywords: Any) -> tuple[Figure, Any]:
    """A figure of the text's width with a grid of axes (a two-dimensional array, never empty)."""
    columns, rows = max(columns, 1), max(rows, 1)
    made = Figure(figsize=(TEXT_WIDTH, height * rows + 0.15))
    return made, made.subplots(rows, columns, squeeze=False, **keywords)


def sequence(values: Iterable[float]) -> dict[float, Any]:
    """A colour for each value of an ordered hyperparameter: darker is larger."""
    values = sorted(values)
    shades = mpl.colormaps["viridis_r"](np.linspace(0.15, 0.95, len(values)))
    return dict(zip(values, shades, strict=True))


def weights(values: Iterable[float]) -> dict[float, Any]:
    """A colour for each weight of a regulariser: `ZERO` for none, the others as by `sequence`."""
    values = set(values)
    none = {value: ZERO for value in values if value == 0}
    return none | sequence(value for value in values if value != 0)


def logarithmic(values: Iterable[float]) -> ScalarMappable:
    """Colours by the logarithm of a hyperparameter, for a `bar`: darker is larger, `ZERO` for 0."""
    above = [value for value in values if value > 0] or [1.0]
    shades = mpl.colormaps["viridis_r"](np.linspace(0.1, 0.95, 256))
    return ScalarMappable(LogNorm(min(above), max(above)), ListedColormap(shades, bad=ZERO))


def bar(
    made: Figure, panels: list[Axes], values: Iterable[float], colours: ScalarMappable
) -> Colorbar:
    """A colour bar of the values above 0 beside some panels; 0 has a field of its own below it."""
    values = sorted(set(values))
    above = [value for value in values if value > 0]
    apart = len(above) < len(values)
    pad = 0.06 if apart else 0.02
    beside = made.colorbar(colours, ax=panels, ticks=above, aspect=28, pad=pad)
    beside.minorticks_off()
    if apart:
        field = beside.ax.inset_axes((0, -0.11, 1, 0.06), facecolor=ZERO, xticks=[])
        field.set_yticks([0.5], ["0"])
        field.yaxis.tick_right()
        field.tick_params(labelsize=6)
        field.spines[:].set_visible(True)
    if not above:
        assert beside.solids is not None
        beside.solids.set_visible(False)
        beside.outline.set_visible(False)
    return beside


def hexadecimal(colour: Any) -> str:
    """A colour as browsers take it: ``#0072b2``."""
    return to_hex(colour)


def letter(axes: Axes, text: str) -> None:
    """A panel's title, at its left."""
    axes.set_title(text, loc="left")


def seeds(rows: pd.DataFrame) -> str:
    """The number of seeds of some rows: ``1 seed``, ``3 seeds``."""
    number = rows["seed"].nunique()
    return f"{number} seed{'' if number == 1 else 's'}"
