"""Axes that hold what any table may hold: a weight of 0, one value, nothing finite."""

import math
import textwrap
from collections.abc import Iterable
from typing import Any, Literal, cast

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.legend import Legend
from matplotlib.transforms import Bbox

from grokatlas.plots import style

EMPTY = "no number to draw"
LONGEST = 150  # characters of a line below all panels
FURTHEST = 1e100  # where a logarithmic axis ends for a diverged run; ticks overflow at 1e280
LINE = 0.11  # inches from one such line to the next
PLACES = 6  # decimals of a figure's width and height: less than a hundredth of a pixel
SHARE = 0.6  # of a decade: how far a value of 0 is from the least other one


def limits(
    axes: Axes, which: Literal["x", "y"], low: float | None = None, high: float | None = None
) -> None:
    """Limits taken from data: an end is set where it is a number that the axis can show."""
    logarithmic = getattr(axes, f"get_{which}scale")() == "log"
    low, high = (
        end if end is not None and np.isfinite(end) and (end > 0 or not logarithmic) else None
        for end in (low, high)
    )
    if low is None and high is None:
        return
    if low is None or high is None or low < high:
        getattr(axes, f"set_{which}lim")(low, high)


def logarithmic(axes: Axes, values: Iterable[float], which: Literal["x", "y"] = "x") -> None:
    """A logarithmic axis of a hyperparameter, on which a value of 0 has a place of its own."""
    values = set(values)
    above = [value for value in values if value > 0]
    scale: dict[str, Any] = {"value": "log"}
    if not above:
        scale = {"value": "linear"}
    elif 0 in values:
        scale = {"value": "symlog", "linthresh": min(above) / 2, "linscale": SHARE}
    getattr(axes, f"set_{which}scale")(**scale)


def legend(made: Figure, *entries: Any, ncols: int, **kept: Any) -> Legend:
    """A legend of the whole figure, with as many rows as it needs not to leave it."""
    key = made.legend(*entries, ncols=ncols, **kept)
    number = len(key.get_texts())
    for rows in range(math.ceil(number / ncols) + 1, number + 1):
        if key.get_window_extent().width <= made.bbox.width:
            break
        key.remove()
        key = made.legend(*entries, ncols=math.ceil(number / rows), **kept)
    return key


def above(made: Figure, *named: Axes, ncols: int = 5, **kept: Any) -> None:
    """One legend above all panels, of what some of them name; each name once."""
    entries: dict[str, Any] = {}
    for axes in named:
        handles, labels = axes.get_legend_handles_labels()
        entries |= dict(zip(labels, handles, strict=True))
    where = {"loc": "outside upper right"} | kept
    legend(made, entries.values(), entries.keys(), ncols=ncols, **where)


def twin(axes: Axes, label: str, colour: str) -> Axes:
    """Axes at the right with a quantity of their own, in its colour, behind the panel's."""
    right = axes.twinx()
    right.spines["right"].set_visible(True)
    right.set_ylabel(label, color=colour)
    right.tick_params(axis="y", colors=colour, which="both")
    axes.set_zorder(right.get_zorder() + 1)
    axes.patch.set_visible(False)
    return right


def finish(made: Figure, text: str) -> None:
    """Say which panels are empty and, below, what the figure is; give all their places."""
    for axes in made.axes:
        for which in "xy":
            least = getattr(axes.dataLim, f"minpos{which}")
            if getattr(axes, f"get_{which}scale")() != "log":
                continue
            if not np.isfinite(least):
                getattr(axes, f"set_{which}scale")("linear")
            elif not getattr(axes, f"get_autoscale{which}_on")():
                continue  # has an end of its own
            elif getattr(axes.dataLim, f"interval{which}")[1] > FURTHEST:
                getattr(axes, f"set_{which}lim")(least, FURTHEST)
    for panel in {axes.get_subplotspec() for axes in made.axes} - {None}:
        places = [axes for axes in made.axes if axes.get_subplotspec() == panel]
        if places[0].axison and not any(map(_holds, places)):
            kept = style.Look(ha="center", va="center", fontsize=7, color=style.GUIDE)
            places[0].text(0.5, 0.5, EMPTY, transform=places[0].transAxes, **kept)
    lines = textwrap.wrap(text, LONGEST)
    room = 0.035 + (len(lines) - 1) * LINE / made.get_figheight()
    engine = cast(ConstrainedLayoutEngine, made.get_layout_engine())  # by `style.RC`
    engine.set(rect=(0.0, room, 1.0, 1 - room))
    small = style.Look(fontsize=5.5, color="#777777", ha="left", va="bottom")
    made.text(0.005, 0.008, "\n".join(lines), **small)
    engine.execute(made)
    _fix_places(made)


def _fix_places(made: Figure) -> None:
    """Give all axes their places, for good and for every format.

    The solver's last digits depend on the order in which a process visits its constraints. The
    places are rounded, so that a figure has the same bytes wherever it is drawn again.
    """
    made.set_layout_engine("none")
    for axes in made.axes:
        place = axes.get_position(original=True).bounds
        axes.set_position(Bbox.from_bounds(*(round(share, PLACES) for share in place)))


def _holds(axes: Axes) -> bool:
    """Tell if anything is drawn at numbers, or a sentence says what is not."""
    if axes.name == "3d" or axes.images or axes.tables or axes.texts:
        return True
    points = [line.get_xydata() for line in axes.lines if line.get_transform() == axes.transData]
    points += [np.ma.filled(one.get_offsets(), np.nan) for one in axes.collections]
    points += [path.vertices for one in axes.collections for path in one.get_paths()]
    return any(np.isfinite(np.asarray(each, float)).all(axis=-1).any() for each in points)
