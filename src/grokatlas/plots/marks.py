"""What figures draw again and again."""

from typing import Any

import pandas as pd
from matplotlib import patheffects
from matplotlib.axes import Axes

from grokatlas.plots import style


def spread(
    axes: Axes, rows: pd.DataFrame, column: str, against: str = "step", **keywords: Any
) -> pd.DataFrame:
    """The median of a column over seeds against the step, with the range as a band.

    Args:
        axes: where to draw.
        rows: history rows with `against` and ``column``, one row for each step and seed.
        column: what to draw.
        against: the column of the other axis.
        keywords: of the line; the band takes its colour.

    Returns:
        what was drawn: ``series``, `against`, ``median``, ``low``, ``high``, number of ``seeds``.
    """
    groups = rows.groupby(against)[column]
    drawn = groups.agg(["median", "min", "max", "count"]).reset_index()
    drawn.columns = [against, "median", "low", "high", "seeds"]
    (line,) = axes.plot(drawn[against], drawn["median"], **keywords)
    if drawn["seeds"].max() > 1:
        colour, bounds = line.get_color(), (drawn["low"], drawn["high"])
        axes.fill_between(drawn[against], *bounds, color=colour, alpha=0.2, lw=0)
    drawn.insert(0, "series", column)
    return drawn


def published(
    axes: Axes,
    digitised_points: list[dict[str, Any]],
    panel: str,
    curve: str,
    colour: Any,
    size: float = 4.5,
) -> pd.DataFrame:
    """Points of a published curve as open marks; nothing where there are none.

    Args:
        axes: where to draw.
        digitised_points: points with ``panel``, ``curve``, ``x`` and ``y``.
        panel: of the published figure.
        curve: in that panel.
        colour: of the marks; mostly that of our curve.
        size: of a mark; larger than ours where marks of ours are drawn too.

    Returns:
        what was drawn: ``series``, ``step`` and ``median``.
    """
    points = [each for each in digitised_points if (each["panel"], each["curve"]) == (panel, curve)]
    x, y = [each["x"] for each in points], [each["y"] for each in points]
    if points:
        axes.plot(x, y, "o", mfc="none", mec=colour, mew=1, ms=size, zorder=6, clip_on=False)
    return pd.DataFrame({"series": f"published {curve}", "step": x, "median": y})


def published_key(axes: Axes) -> None:
    """An entry of the legend for what `published` draws."""
    axes.plot([], [], "o", mfc="none", mec=style.GUIDE, ms=4.5, label="published")


def instant(axes: Axes, step: float, text: str, height: float, side: str = "right") -> None:
    """A vertical line at a step, named beside it at a height (0 to 1); nothing if it never came."""
    if pd.isna(step):
        return
    axes.axvline(step, color=style.GUIDE, lw=0.8, ls=":", zorder=1)
    axes.annotate(
        f"{text} = {step:,.0f}",
        (step, height),
        xycoords=("data", "axes fraction"),
        xytext=(3 if side == "right" else -3, 0),
        textcoords="offset points",
        fontsize=7,
        ha="left" if side == "right" else "right",
        path_effects=[patheffects.withStroke(linewidth=2, foreground="white")],
    )
