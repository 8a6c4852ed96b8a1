"""What every recorded figure shows, as rows: its panels, their artists, and the data it returns.

`python -m tests.figures.pictures [PAPER/FIGURE ...]` writes the rows anew. Only after a change that
is meant to change a picture, or when its tables were recorded anew; the diff shows what it did.
"""

import functools
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from matplotlib.axes import Axes
from matplotlib.collections import Collection
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.ticker import FixedFormatter

from grokatlas.publish import recorded
from grokatlas.results import csv_file, layout
from grokatlas.rules import rendering, undrawn
from grokatlas.study import notebook
from tests.checkout import ROOT, declared_papers
from tests.figures import smoke_tables

EVIDENCE = ROOT / "recorded"
GOLDEN = Path(__file__).with_name("golden")
PICTURES = {
    (row["paper"], row["figure"]): row["scale"]
    for row in csv_file.read(EVIDENCE / recorded.FIGURES)
    if row["paper"] in declared_papers()
    and row["figure"] in declared_papers()[row["paper"]].figures
}
KEYS = ["panel", "kind", "text"]
NUMBERS = ["artists", "points", "x", "y", "xy"]  # how many, and sums over their points


@functools.lru_cache(maxsize=8)
def table(paper: str, experiment: str, scale: str) -> pd.DataFrame:
    """The recorded table of an experiment, of this paper or as ``paper/experiment``."""
    return notebook.recorded("/".join(layout.owner_of_table(paper, experiment)), scale, EVIDENCE)


def tables(paper: str, figure: str) -> dict[str, pd.DataFrame]:
    """The recorded tables of a figure, by experiment."""
    scale = PICTURES[paper, figure]
    names = smoke_tables.spec(paper, figure)["experiments"]
    return {layout.owner_of_table(paper, n)[1]: table(paper, n, scale).copy() for n in names}


def drawn(paper: str, figure: str) -> tuple[Figure | pd.DataFrame, pd.DataFrame]:
    """A figure, or the cells of a published table, with its data; panels are not placed yet."""
    spec = smoke_tables.spec(paper, figure) | {"scale": PICTURES[paper, figure]}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(undrawn, "cases", lambda *_: [])  # which draws again for each case
        patch.setattr(ConstrainedLayoutEngine, "execute", lambda *_: None)
        shown, data, _ = rendering.made(spec, tables(paper, figure))
    return shown, data


def rows(paper: str, figure: str) -> pd.DataFrame:
    """The rows of a figure; alike artists of a panel are one."""
    shown, data = drawn(paper, figure)
    if isinstance(shown, Figure):
        entries = [("figure", *each) for each in _words(shown)]
        for place, axes in enumerate(shown.axes):
            entries += [(f"panel {place}", *each) for each in _of_panel(axes)]
    else:
        lines = [list(shown), *shown.to_numpy().tolist()]
        entries = [(f"row {place}", "cells", "; ".join(line)) for place, line in enumerate(lines)]
    entries += [("data", *each) for each in _of_data(data)]
    made = pd.DataFrame([(*each[:3], 1, *_sums(*each[3:])) for each in entries])
    made.columns = [*KEYS, *NUMBERS]
    return made.groupby(KEYS, sort=False, as_index=False).sum()


def _sums(x: Any = (), y: Any = ()) -> tuple[int, float, float, float]:
    """How many points are finite, and sums of them that change with their order."""
    x, y = (np.ravel(np.ma.filled(np.ma.asarray(each, dtype=float), np.nan)) for each in (x, y))
    x = x if len(x) == len(y) else np.arange(len(y)) / max(len(y), 1)
    finite = np.isfinite(x) & np.isfinite(y)
    x, y = x[finite], y[finite]
    return len(x), float(x.sum()), float(y.sum()), float((x * y).sum())


def _words(shown: Figure | Axes) -> Iterator[tuple[Any, ...]]:
    if isinstance(shown, Figure):
        yield "title", shown.get_suptitle()
    legends = shown.legends if isinstance(shown, Figure) else [shown.get_legend()]
    for legend in filter(None, legends):
        yield "legend", "; ".join(text.get_text() for text in legend.get_texts())
    for text in shown.texts:
        place = text.get_unitless_position()
        yield "text", text.get_text(), [place[0]], [place[1]]


def _of_panel(axes: Axes) -> Iterator[tuple[Any, ...]]:
    titles = " / ".join(filter(None, (axes.get_title(loc=side) for side in ("left", "center"))))
    yield "title", titles
    for name, axis in (("x", axes.xaxis), ("y", axes.yaxis)):
        ticks = axis.get_major_formatter()
        labels = ticks.seq if isinstance(ticks, FixedFormatter) else ()
        named = "; ".join([axis.get_label_text(), axis.get_scale(), *map(str, labels)])
        yield f"{name} axis", named, (), axis.get_view_interval()
    yield from _words(axes)
    for line in axes.lines:
        look = [line.get_linestyle(), f"{line.get_linewidth():g}", line.get_color()]
        if line.get_marker() != "None":
            look += [line.get_marker(), f"{line.get_markersize():g}", line.get_markerfacecolor()]
        yield "line", _look(line, *look), line.get_xdata(), line.get_ydata()
    for artist in axes.collections:
        yield from _of_collection(artist)
    for patch in axes.patches:
        box = patch.get_path().get_extents(patch.get_patch_transform())
        corners = [box.x0, box.x1], [box.y0, box.y1]
        yield (
            type(patch).__name__,
            _look(patch, patch.get_facecolor(), patch.get_edgecolor()),
            *corners,
        )
    for image in axes.images:
        yield "image", image.origin, (), image.get_array()


def _of_collection(artist: Collection) -> Iterator[tuple[Any, ...]]:
    kind, hatch = type(artist).__name__, artist.get_hatch() or ""
    colours = sorted({_hex(each) for each in (*artist.get_facecolor(), *artist.get_edgecolor())})
    look = _look(artist, *colours[:6], hatch)
    if kind == "PathCollection":
        yield kind, look, *np.ma.filled(artist.get_offsets(), np.nan).T
        yield f"{kind} sizes", look, (), artist.get_sizes()
    if artist.get_array() is not None:
        yield f"{kind} values", _look(artist, artist.get_cmap().name, hatch), (), artist.get_array()
        yield f"{kind} limits", "", (), artist.get_clim()
    elif kind != "PathCollection":
        vertices = [path.vertices for path in artist.get_paths()]
        yield (kind, look, *(np.concatenate(vertices).T[:2] if vertices else ()))


def _look(artist: Any, *parts: Any) -> str:
    """The label of an artist, if it has one of its own, and what it looks like."""
    label = str(artist.get_label() or "")
    words = [each if isinstance(each, str) and each[:1] != "#" else _hex(each) for each in parts]
    return ", ".join(filter(None, ["" if label.startswith("_") else label, *words]))


def _hex(colour: Any) -> str:
    try:
        return to_hex(colour, keep_alpha=True)
    except (TypeError, ValueError):
        return str(colour)


def _of_data(data: pd.DataFrame) -> Iterator[tuple[Any, ...]]:
    for name, values in data.items():
        if pd.api.types.is_numeric_dtype(values):
            yield "column", str(name), (), values.astype(float)
        else:
            codes, names = pd.factorize(values.astype(str), sort=True)
            yield "column", f"{name}: {', '.join(names[:9])[:60]}", (), codes


def read(paper: str) -> pd.DataFrame:
    """The rows of a paper's figures as they were written."""
    return pd.read_csv(GOLDEN / f"{paper}.csv", keep_default_na=False)


def main(names: list[str]) -> None:
    """Write the rows of some figures, or of all."""
    for paper in dict.fromkeys(paper for paper, _ in PICTURES):
        figures = [figure for name, figure in PICTURES if name == paper]
        chosen = [each for each in figures if not names or f"{paper}/{each}" in names]
        if not chosen:
            continue
        file = GOLDEN / f"{paper}.csv"
        known = read(paper) if file.exists() else pd.DataFrame({"figure": []})
        parts = [
            rows(paper, each).assign(figure=each)
            if each in chosen
            else known[known["figure"] == each]
            for each in figures
        ]
        whole = pd.concat(parts)[["figure", *KEYS, *NUMBERS]]
        whole.to_csv(file, index=False, float_format="%.7g", lineterminator="\n")
        print(file)


if __name__ == "__main__":
    main(sys.argv[1:])
