"""How every figure looks."""

from collections.abc import Iterable
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import ListedColormap, LogNorm, to_hex
from matplotlib.figure import Figure

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
    "initial": "#999999",
    "final": "#0072B2",
    "zero_loss": "#555555",
}
MEMBERS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")


def figure(columns: int, rows: int = 1, height: float = 2.4, **keywords: Any) -> tuple[Figure, Any]:
    """A figure of the text's width with a grid of axes (always a two-dimensional array)."""
    made = Figure(figsize=(TEXT_WIDTH, height * rows + 0.15))
    return made, made.subplots(rows, columns, squeeze=False, **keywords)


def sequence(values: list[float]) -> dict[float, Any]:
    """A colour for each value of an ordered hyperparameter: darker is larger."""
    shades = mpl.colormaps["viridis_r"](np.linspace(0.15, 0.95, len(values)))
    return dict(zip(sorted(values), shades, strict=True))


def logarithmic(values: Iterable[float]) -> ScalarMappable:
    """Colours by the logarithm of a hyperparameter, for a colour bar: darker is larger."""
    shades = mpl.colormaps["viridis_r"](np.linspace(0.1, 0.95, 256))
    return ScalarMappable(LogNorm(min(values), max(values)), ListedColormap(shades))


def hexadecimal(colour: Any) -> str:
    """A colour as browsers take it: ``#0072b2``."""
    return to_hex(colour)


def letter(axes: Axes, text: str) -> None:
    """A panel's title, at its left."""
    axes.set_title(text, loc="left")


def footer(made: Figure, text: str) -> None:
    """What the figure is and at which scale, small, at the lower left below the axes."""
    made.get_layout_engine().set(rect=(0.0, 0.035, 1.0, 0.965))
    made.text(0.005, 0.008, text, fontsize=5.5, color="#777777", ha="left", va="bottom")
