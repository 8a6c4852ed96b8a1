"""Beyond the paper's figures: equation 21 beside the first layer of trained networks."""

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from grokatlas.claims.statistics import Tables
from grokatlas.papers.geometry._drifts import DECAY, last_common
from grokatlas.plots import marks, panels, style
from grokatlas.plots.style import FigureAndData

FACTOR, EXCESS = "gradients.0.factor", "model.excess"
LINES = {"isolated": "-", "joint": ":"}
ROWS = {"": "drift", "pull_": "pull"}
COLUMNS = {"cosine": "cosine", "difference": "relative difference"}
KEYS = ["seed", DECAY, FACTOR, EXCESS, "step", "slow_time", "prediction"]
VALUES = ["cosine", "difference", "pull_cosine", "pull_difference", "excess", "kinked"]


def draw(tables: Tables) -> FigureAndData:
    """Cosine and difference of drifts (above) and of pulls against weight decay, and against time.

    Those against weight decay are at the last slow time that every weight decay reached, those
    against slow time at equal rates and with the least excess.
    """
    rows = tables["isolation"].query("record == 'first_layer_drift'")
    rows = rows.assign(slow_time=rows["slow_time"].round(9))
    at = last_common(rows)
    chosen = variants(rows)
    made, grid = style.figure(3, 2, height=2.35)
    for line, (prefix, name) in enumerate(ROWS.items()):
        for place, (column, label) in enumerate(COLUMNS.items()):
            axes = grid[line, place]
            _against_decay(axes, rows[rows["slow_time"] == at], chosen, prefix + column)
            axes.set(ylabel=label)
            style.letter(axes, f"{'abcdef'[3 * line + place]}  {name} at slow time {at:g}")
        grid[line, 1].set_yscale("log")
        _against_time(grid[line, 2], rows, chosen[0], prefix + "difference")
        style.letter(grid[line, 2], f"{'cf'[line]}  {name} in slow time")
    narrow = {"ncols": 2, "handlelength": 1, "columnspacing": 0.8, "handletextpad": 0.4}
    grid[0, 2].legend(title="$\\lambda$", title_fontsize=7, loc="upper left", **narrow)
    panels.legend(made, handles=_handles(chosen, grid[0, 0]), loc="outside upper center", ncols=3)
    return made, rows[[*KEYS, *VALUES]].reset_index(drop=True)


def variants(rows: pd.DataFrame) -> list[tuple[float, float]]:
    """Pairs of E's relative step size and W's excess, equal rates and least excess first."""
    pairs = rows[[FACTOR, EXCESS]].drop_duplicates().itertuples(index=False, name=None)
    return sorted(pairs, key=lambda pair: (-pair[0], pair[1]))


def _of(rows: pd.DataFrame, variant: tuple[float, float]) -> pd.DataFrame:
    return rows[(rows[FACTOR] == variant[0]) & (rows[EXCESS] == variant[1])]


def _name(factor: float, excess: float) -> str:
    rates = "equal rates" if factor == 1 else f"W {1 / factor:g} times faster"
    return f"{rates}, {'least' if excess == 0 else 'larger'} W"


def _against_decay(
    axes: Axes, rows: pd.DataFrame, chosen: list[tuple[float, float]], column: str
) -> None:
    for colour, variant in zip(style.MEMBERS, chosen, strict=False):
        for prediction, dashes in LINES.items():
            part = _of(rows, variant)
            part = part[part["prediction"] == prediction]
            line = {"color": colour, "ls": dashes, "lw": 1.1, "marker": "o", "ms": 2.8}
            line["mfc"] = colour if prediction == "isolated" else "white"
            marks.spread(axes, part, column, against=DECAY, **line)
    axes.set(xlabel="weight decay $\\lambda$")
    panels.logarithmic(axes, rows[DECAY])


def _against_time(
    axes: Axes, rows: pd.DataFrame, variant: tuple[float, float], column: str
) -> None:
    colours = style.weights(rows[DECAY].unique().tolist())
    for (decay, prediction), part in _of(rows, variant).groupby([DECAY, "prediction"]):
        label = f"{decay:g}" if prediction == "isolated" else None
        line = {"color": colours[decay], "ls": LINES[prediction], "lw": 1.1, "label": label}
        marks.spread(axes, part, column, against="slow_time", **line)
    axes.set(xscale="log", yscale="log", xlabel="slow time $2 \\eta \\lambda$ step")
    axes.set_ylabel(COLUMNS["difference"])


def _handles(chosen: list[tuple[float, float]], axes: Axes) -> list[Line2D]:
    """Keys of colours and of dashes."""
    grey = style.Look(color=style.GUIDE, lw=1.1)
    names = {"isolated": "equation 21", "joint": "both layers on the zero-loss set"}
    keys = [axes.plot([], [], ls=LINES[key], label=name, **grey)[0] for key, name in names.items()]
    for colour, variant in zip(style.MEMBERS, chosen, strict=False):
        keys += axes.plot([], [], color=colour, lw=2.5, label=_name(*variant))
    return keys
