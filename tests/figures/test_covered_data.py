"""No text of a recorded figure lies on what the figure shows."""

import numpy as np
import pytest
from matplotlib.figure import Figure

from grokatlas.plots import defaults
from grokatlas.results import layout
from grokatlas.rules import rendering, undrawn
from tests.figures import smoke_tables
from tests.figures.covered_data import covered
from tests.figures.pictures import PICTURES, tables
from tests.tiers import every

DRAWN = [each for each in PICTURES if not layout.is_published_table(each[1])]


@pytest.mark.parametrize(("paper", "figure"), every(10, DRAWN))
def test_no_text_of_a_recorded_figure_covers_what_it_shows(paper, figure, monkeypatch):
    monkeypatch.setattr(undrawn, "cases", lambda *_: [])  # which draws again for each case
    spec = smoke_tables.spec(paper, figure) | {"scale": PICTURES[paper, figure]}
    shown, *_ = rendering.made(spec, tables(paper, figure))
    with defaults.drawing():
        assert covered(shown) == []


def _drawn(draw):
    made = Figure()
    axes = made.subplots()
    axes.set(xlim=(0, 1), ylim=(0, 1))
    draw(axes)
    axes.text(0.5, 0.5, "a label", ha="center", va="center")
    return covered(made)


@pytest.mark.parametrize(
    "draw",
    [
        lambda axes: axes.plot([0, 1], [0, 1]),  # no vertex below the text
        lambda axes: axes.plot([0.5], [0.5], "o"),
        lambda axes: axes.scatter([0.1, 0.5], [0.1, 0.5]),
        lambda axes: axes.bar([0.5], [0.9]),
        lambda axes: axes.fill_between([0, 1], 0.2, 0.8),
        lambda axes: axes.errorbar([0.5], [0.1], yerr=0.8, fmt="none"),
    ],
    ids=["line", "marker", "points", "bar", "band", "range"],
)
def test_a_text_on_each_kind_of_mark_is_seen(draw):
    assert [each.partition(" lies on ")[0] for each in _drawn(draw)] == ["'a label'"]


def test_a_text_beside_marks_and_on_what_is_clipped_is_clear():
    def draw(axes):
        axes.plot([0, 1], [0.1, 0.1], "o-")
        axes.bar([0.1, 0.9], [0.9, 0.9], width=0.1)
        axes.axhline(0.5)  # across the panel: its name stands beside it
        axes.plot([0.5, 0.5], [1.2, 9], "o")
        axes.plot([0.5, np.nan, 0.6], [0.2, 0.5, 0.2], "o-")

    assert _drawn(draw) == []


def test_a_legend_on_a_curve_is_seen():
    made = Figure()
    axes = made.subplots()
    axes.plot([0, 1], [1, 1], label="curve")
    axes.legend(loc="center")
    assert covered(made) == ["'curve' lies on Line2D 'curve'", "'key curve' lies on Line2D 'curve'"]
