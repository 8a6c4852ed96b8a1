"""Lines, ranges, published points and instants: what several figures draw."""

from typing import Any

import matplotlib as mpl
import pandas as pd
from matplotlib import patheffects
from matplotlib.axes import Axes

from grokatlas.plots import style

FEWEST = 4  # seeds that have a median and a range; fewer are drawn one by one
THIN = 0.6  # times the width of a line, that of one of several seeds


def few(rows: pd.DataFrame, by: str = "seed") -> bool:
    """Tell if a median of some rows would be drawn as a curve that no seed has: of two or three."""
    return 1 < rows[by].nunique() < FEWEST


def lines(
    rows: pd.DataFrame, columns: list[str], against: str, by: str = "seed"
) -> list[pd.DataFrame]:
    """The lines that show some columns: one of medians, or each seed where they are `few`.

    Each has `against` and `columns`, in the order of `against`.
    """
    known = rows[rows[by].isin(rows.dropna(subset=columns, how="all")[by])]
    if not few(known, by):
        return [rows.groupby(against)[columns].median().reset_index()]
    return [part.sort_values(against)[[against, *columns]] for _, part in known.groupby(by)]


def draw_lines(
    axes: Axes, parts: list[pd.DataFrame], column: str, against: str, **keywords: Any
) -> Any:
    """Draw `lines` in one colour, thin where they are several; name the first alone."""
    if len(parts) > 1:
        width = keywords.get("lw", mpl.rcParams["lines.linewidth"])
        keywords = keywords | {"lw": THIN * width}
    for part in parts:
        (line,) = axes.plot(part[against], part[column], **keywords)
        keywords = keywords | {"color": line.get_color(), "label": None}
    return keywords["color"]


def ranges(
    axes: Axes,
    rows: pd.DataFrame,
    column: str,
    against: str,
    by: str = "seed",
    aside: float = 1.0,
    within: tuple[float, float] | None = None,
    **keywords: Any,
) -> pd.DataFrame:
    """The median of a column over seeds, its range as a bar; each seed where they are `few`.

    Args:
        axes: where to draw.
        rows: with ``column``, `against` and `by`.
        column: what to draw.
        against: the column of the other axis, mostly a hyperparameter.
        by: the column that tells seeds apart.
        aside: a factor of `against`, so that several can be seen at one place.
        within: ends of the axis: what is beyond is drawn there.
        keywords: of the marks and of the line between them.

    Returns:
        `against`, ``median``, ``min``, ``max`` and ``count``.
    """
    shown = rows.assign(**{against: rows[against] * aside})
    shown[column] = shown[column].clip(*within) if within else shown[column]
    parts = lines(shown, [column], against, by)
    groups = shown.dropna(subset=[column]).groupby(against)[column]
    if len(parts) > 1 or not groups.count().max() > 1:
        draw_lines(axes, parts, column, against, **keywords)
    else:
        middle = groups.median()
        bars = [middle - groups.min(), groups.max() - middle]
        axes.errorbar(middle.index, middle, yerr=bars, elinewidth=0.8, **keywords)
    groups = rows.dropna(subset=[column]).groupby(against)[column]
    return groups.agg(["median", "min", "max", "count"]).reset_index()


def spread(
    axes: Axes, rows: pd.DataFrame, column: str, against: str = "step", **keywords: Any
) -> pd.DataFrame:
    """The median of a column over seeds, with the range as a band; each seed where there are few.

    Args:
        axes: where to draw.
        rows: history rows with ``seed``, `against` and ``column``, one for each step and seed.
        column: what to draw.
        against: the column of the other axis.
        keywords: of the lines; the band takes their colour.

    Returns:
        ``series``, `against`, ``median``, ``low``, ``high``, number of ``seeds``.
    """
    groups = rows.groupby(against)[column]
    seen = groups.agg(["median", "min", "max", "count"]).reset_index()
    seen.columns = [against, "median", "low", "high", "seeds"]
    parts = lines(rows, [column], against)
    colour = draw_lines(axes, parts, column, against, **keywords)
    if len(parts) == 1 and seen["seeds"].max() > 1:
        axes.fill_between(seen[against], seen["low"], seen["high"], color=colour, alpha=0.2, lw=0)
    seen.insert(0, "series", column)
    return seen


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
    points = [p for p in digitised_points if (p["panel"], p["curve"]) == (panel, curve)]
    x, y = [p["x"] for p in points], [p["y"] for p in points]
    if points:
        axes.plot(x, y, "o", mfc="none", mec=colour, mew=1, ms=size, zorder=6, clip_on=False)
    return pd.DataFrame({"series": f"published {curve}", "step": x, "median": y})


def published_key(axes: Axes, colour: str = style.GUIDE, size: float = 4.5) -> None:
    """An entry of the legend for what `published` draws."""
    axes.plot([], [], "o", mfc="none", mec=colour, ms=size, label="published")


def proportional(axes: Axes, at: pd.Series, level: float, label: str) -> None:
    """A dashed line in proportion to the abscissa, that has a level where this is least."""
    ends = pd.Series([at.min(), at.max()])
    guide = style.Look(color=style.GUIDE, ls="--", lw=0.8, label=label)
    axes.plot(ends, level * ends / ends[0], **guide)


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
