"""Texts of a drawn figure that lie on what it shows, by the boxes of matplotlib's renderer."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.collections import FillBetweenPolyCollection, LineCollection, PathCollection
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.text import Text
from matplotlib.transforms import Bbox, Transform
from numpy.typing import NDArray

MARGIN = 1.5  # pixels of a text's box that hold no ink
LINES_AND_BANDS = (LineCollection, FillBetweenPolyCollection)
NOTHING = ("None", "none", " ", "", None)  # matplotlib's words for no line and no marker


class Shape(NamedTuple):
    """A line, the markers of one, a bar or a band: where it can be seen, and what it meets."""

    artist: Artist
    seen: Bbox
    meets: Callable[[Bbox], bool]  # a box in pixels


def covered(figure: Figure) -> list[str]:
    """Sentences on the texts and keys of a figure that lie on lines, markers, bars or bands.

    A text is held against all axes, so that a legend may not lie on a neighbour's curves either.
    Labels of ticks are left out, and cells of heat maps, which are there to be written on; so are
    lines across a whole panel, such as `Axes.axhline`, beside which their own name stands.
    """
    figure.draw_without_rendering()
    words = [(name, box.padded(-MARGIN)) for name, box in _words(figure)]
    return sorted(
        {
            f"{name!r} lies on {type(shape.artist).__name__} {shape.artist.get_label()!r}"
            for axes in figure.findobj(Axes)
            for shape in _shapes(axes)
            for name, box in words
            if _meet(shape, box)
        }
    )


def _meet(shape: Shape, box: Bbox) -> bool:
    both = Bbox.intersection(box, shape.seen)
    return both is not None and both.width > 0 and both.height > 0 and shape.meets(both)


def _words(figure: Figure) -> Iterator[tuple[str, Bbox]]:
    """Every text, and every key of a legend, with its box in pixels."""
    axes = figure.findobj(Axes)
    ticks = {
        id(label)
        for one in axes
        for axis in (one.xaxis, one.yaxis)
        for tick in (*axis.get_major_ticks(), *axis.get_minor_ticks())
        for label in (tick.label1, tick.label2)
    }
    for text in figure.findobj(Text):
        if text.get_visible() and text.get_text().strip() and id(text) not in ticks:
            yield text.get_text(), Text.get_window_extent(text)  # without an annotation's arrow
    for legend in [*figure.legends, *filter(None, (one.get_legend() for one in axes))]:
        whole = legend.get_window_extent()
        for key in legend.legend_handles:
            if box := Bbox.intersection(key.get_window_extent(), whole):
                yield f"key {key.get_label()}", box


def _shapes(axes: Axes) -> Iterator[Shape]:
    """What some axes show at numbers of theirs."""
    if axes.name == "3d" or not axes.get_visible():
        return
    dots = axes.get_figure(root=True).dpi / 72
    for artist in (*axes.lines, *axes.collections, *axes.patches):
        seen = axes.bbox if artist.get_clip_on() else axes.get_figure(root=True).bbox
        if artist.get_visible():
            for meets in _meeting(artist, axes.transData, dots):
                yield Shape(artist, seen, meets)


def _meeting(artist: Artist, data: Transform, dots: float) -> Iterator[Callable[[Bbox], bool]]:
    """For each part of an artist at numbers, what tells if it meets a box; `dots` per point."""
    if isinstance(artist, Line2D) and artist.get_transform() is data:
        path = data.transform_path(artist.get_path())
        if artist.get_linestyle() not in NOTHING:
            yield partial(path.intersects_bbox, filled=False)
        if artist.get_marker() not in NOTHING:
            yield partial(_near, path.vertices, artist.get_markersize() / 2 * dots)
    elif isinstance(artist, PathCollection):
        places = np.ma.filled(artist.get_offsets(), np.nan)
        radius = np.sqrt(artist.get_sizes())[:, None] / 2 * dots
        yield partial(_near, artist.get_offset_transform().transform(places), radius)
    elif isinstance(artist, Patch) and artist.get_data_transform() is data:
        path = artist.get_transform().transform_path(artist.get_path())
        yield partial(path.intersects_bbox, filled=artist.get_fill())
    elif isinstance(artist, LINES_AND_BANDS) and artist.get_transform() is data:
        filled = not isinstance(artist, LineCollection)
        for path in artist.get_paths():
            yield partial(data.transform_path(path).intersects_bbox, filled=filled)


def _near(places: NDArray[np.float64], radius: Any, box: Bbox) -> bool:
    """Tell if a box is within a radius of one of some places, along both axes."""
    return bool(((places > box.min - radius) & (places < box.max + radius)).all(axis=1).any())
