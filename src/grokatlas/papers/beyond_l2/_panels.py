"""Panels that several figures on recovery share."""

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from grokatlas.plots import marks, panels, style

ERRORS = ["train_error", "test_error"]
GREY = "#bbbbbb"


def of(table: pd.DataFrame, record: str) -> pd.DataFrame:
    """Rows of one record, without the columns that only others have."""
    rows = table[table["record"] == record]
    return rows.dropna(axis=1, how="all") if len(rows) else rows


def one(rows: pd.DataFrame) -> pd.Series:
    """The first of some rows; without any number where there is none."""
    return rows.iloc[0] if len(rows) else pd.Series(np.nan, index=rows.columns)


def at(value: float) -> str:
    """A power of ten, or a multiple of one, as mathematics; 0 is 0."""
    if value == 0:
        return "0"
    digits, _, exponent = f"{value:.3g}".partition("e")
    if not exponent:
        exponent = f"{np.floor(np.log10(value)):.0f}"
        digits = f"{value / 10.0 ** int(exponent):.3g}"
    power = f"10^{{{int(exponent)}}}"
    return power if digits == "1" else f"{digits} \\times {power}"


def errors(axes: Axes, rows: pd.DataFrame, times: pd.Series | None) -> None:
    """Relative train and test error against the step, both logarithmic, with t1 and t2."""
    rows = rows[rows["step"] > 0]
    for part, dashes in (("train", "-"), ("test", "--")):
        line = style.Look(color=style.COLOURS[part], ls=dashes, label=part)
        axes.plot(rows["step"], rows[f"{part}_error"], **line)
    axes.set(xscale="log", yscale="log", xlabel="step", ylabel="relative error")
    if times is not None:
        marks.instant(axes, times["t1"], "$t_1$", 0.72)
        marks.instant(axes, times["t2"], "$t_2$", 0.56, side="left")


def bound(axes: Axes, rows: pd.DataFrame, column: str, dashes: str, label: str) -> None:
    """A bound that theory gives, against the step; nothing where the table does not hold it."""
    if column in rows:
        rows = rows[rows["step"] > 0]
        line = style.Look(color="#333333", lw=0.9, ls=dashes, zorder=2.5, label=label)
        axes.plot(rows["step"], rows[column], **line)


def ratio(axes: Axes, rows: pd.DataFrame, label: str) -> None:
    """The gradient ratio at the right, its axis longer below: its plateau is above the errors."""
    right = twin(axes, rows, "gradient_ratio", label, color=style.GUIDE)
    seen = rows.loc[rows["step"] > 0, "gradient_ratio"]
    right.set_yscale("log")
    panels.limits(right, "y", seen[seen > 0].min() / 100)


def twin(axes: Axes, rows: pd.DataFrame, column: str, label: str, **line: Any) -> Axes:
    """One more quantity on an axis of its own at the right, in its colour."""
    rows = rows[rows["step"] > 0]
    right = panels.twin(axes, label, line["color"])
    right.plot(rows["step"], rows[column], lw=1, **line)
    axes.plot([], [], lw=1, label=label, **line)
    return right


def components(axes: Axes, rows: pd.DataFrame, truth: pd.Series, *, absolute: bool) -> list[str]:
    """Draw entries of a: those where a* is not zero in colour, a* dashed; return their columns."""
    rows = rows[rows["step"] > 0]
    names = [name for name in rows.columns if name.startswith("parameters.")]
    hidden = [truth[f"truth.{name.rpartition('.')[2]}"] for name in names]
    shown = iter(style.MEMBERS * len(names))
    for name, value in zip(names, hidden, strict=True):
        entry = rows[name].abs() if absolute else rows[name]
        if value == 0:
            axes.plot(rows["step"], entry, color=GREY, lw=0.4, zorder=1, rasterized=True)
            continue
        colour = next(shown)
        axes.plot(rows["step"], entry, color=colour, lw=1.1, zorder=3)
        axes.axhline(abs(value) if absolute else value, color=colour, lw=0.7, ls="--", zorder=2)
    axes.plot([], [], color=style.GUIDE, lw=0.7, ls="--", label="$a^*$")
    axes.plot([], [], color=style.GUIDE, lw=1.1, label="entries with $a^*_k \\neq 0$")
    axes.plot([], [], color=GREY, lw=0.8, label="all others")
    axes.set(xscale="log", xlabel="step")
    axes.set_ylabel("$|a_k|$" if absolute else "$a_k$")
    return names


def thinned(rows: pd.DataFrame) -> pd.DataFrame:
    """At most 200 rows of each decade of steps: what a logarithmic axis can show."""
    seen = rows["step"].clip(lower=1)
    place = (200 * np.log10(seen)).round().astype(int)
    return rows[~pd.DataFrame({"place": place, "zero": rows["step"] == 0}).duplicated().to_numpy()]


def keyed(axes: Axes, colours: dict[float, Any], title: str, **place: Any) -> None:
    """A legend of the values of a hyperparameter and their colours."""
    lines = [axes.plot([], [], color=colour)[0] for colour in colours.values()]
    texts = [f"${at(value)}$" for value in colours]
    axes.legend(lines, texts, title=title, title_fontsize=7, **place)
