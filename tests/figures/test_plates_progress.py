"""Plate 3 on synthetic tables, as data."""

import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_hex

from grokatlas.papers.plates import progress
from tests.unit.papers.test_claims_progress import every

RUNS = 5


@pytest.fixture
def drawn():
    return progress.draw(every())


def _marks(axes, row, least=5.0):
    """Abscissa and colour of the marks of a row that are not small, from left to right."""
    places = {
        (float(x), to_hex(colour))
        for points in axes.collections
        for (x, y), colour, size in _of(points)
        if abs(y - row) < 0.5 and size > least
    }
    return sorted(places)


def _of(points):
    """Place, colour and size of each mark of a collection."""
    places, sizes = points.get_offsets(), points.get_sizes()
    colours = np.broadcast_to(points.get_facecolors(), (len(places), 4))
    return zip(places, colours, np.broadcast_to(sizes, len(places)), strict=True)


def _row(name, measure):
    return progress.ROWS[name].index(measure)


def test_shares_of_a_way_are_drawn_over_t2_in_the_colour_of_lead_or_lag(drawn):
    figure, data = drawn
    axes = figure.axes[3]
    assert axes.get_title().startswith("4: MNIST")
    lead, lag = to_hex(progress.LEADS), to_hex(progress.LAGS)
    found = _marks(axes, _row("a", "l1_norm"))
    assert [x for x, _ in found] == pytest.approx([32 / 60, 40 / 60, 48 / 60])
    assert [colour for _, colour in found] == [lead, lead, lag]  # the tenth is at 44
    assert [colour for _, colour in _marks(axes, _row("a", "l2_norm"))] == [lag] * 3
    assert _marks(axes, _row("a", "nuclear_norm")) == []
    assert set(data["panel"]) == {"a", "b"}


def test_what_turns_back_is_a_diamond(drawn):
    (points,) = drawn[0].axes[0].collections
    corners = {
        round(float(y)): len(path.vertices)
        for (_, y), path in zip(points.get_offsets(), points.get_paths(), strict=True)
    }
    assert corners[_row("a", "jacobian_norm")] < corners[_row("a", "l1_norm")]


def test_each_seed_has_a_mark_of_its_own():
    tables = every()
    one = tables["progress_addition"]
    later = one.assign(seed=one["seed"] + 10)
    late = later["step"] > later["step"].median()
    later.loc[late, "l1_norm"] *= 2
    tables["progress_addition"] = pd.concat([one, later], ignore_index=True)
    figure, data = progress.draw(tables)
    shown = data.query("run == 'addition' and measure == 'l1_norm' and panel == 'a'")
    (points,) = figure.axes[0].collections
    row = [x for x, y in points.get_offsets() if abs(y - _row("a", "l1_norm")) < 0.5]
    assert sorted(row) == pytest.approx(sorted(shown["step"] / shown["t2"]))
    assert shown["seed"].nunique() == 2 * one["seed"].nunique()


def test_a_strip_as_wide_as_the_correlation_of_the_clock(drawn):
    figure, data = drawn
    axes = figure.axes[RUNS]
    (strip,) = axes.patches
    clock = data.query("run == 'addition' and measure == 'update'")["correlation"].median()
    assert strip.get_x() == pytest.approx(-clock)
    assert strip.get_width() == pytest.approx(2 * clock)
    ((place, colour),) = _marks(axes, _row("b", "gini_embedding"))
    assert (place, colour) == (pytest.approx(1), to_hex(progress.BEYOND))
    ((_, colour),) = _marks(axes, _row("b", "train_loss"))
    assert colour == to_hex("black")
    assert np.isclose(abs(_marks(axes, _row("b", "update"))[0][0]), clock)
