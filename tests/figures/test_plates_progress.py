"""Plate 3 on synthetic tables, as data."""

import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

from grokatlas.papers.plates import progress
from tests.unit.papers.test_claims_progress import every

RUNS = 5


@pytest.fixture
def drawn():
    return progress.draw(every())


def _marks(axes, row):
    """Abscissa and colour of the marks of a row that have data, from left to right."""
    places = [
        (float(line.get_xdata()[0]), to_hex(line.get_color()))
        for line in axes.lines
        if line.get_marker() == "o"
        and len(line.get_xdata())
        and line.get_markersize() > 2
        and abs(line.get_ydata()[0] - row) < 0.5
    ]
    return sorted(places)


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


def test_what_turns_back_is_open(drawn):
    axes = drawn[0].axes[0]
    faces = {
        round(float(line.get_ydata()[0])): line.get_markerfacecolor()
        for line in axes.lines
        if line.get_marker() == "o" and len(line.get_xdata())
    }
    assert faces[_row("a", "jacobian_norm")] == "white"
    assert faces[_row("a", "l1_norm")] != "white"


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


@pytest.mark.parametrize(("early", "insets"), [(0.95, 1), (0.3, 0)])
def test_rows_that_all_change_near_t2_are_drawn_once_more_on_a_finer_axis(early, insets):
    rows = progress.ROWS["a"][3:]
    found = pd.DataFrame(
        [
            {"measure": row, "share": share, "step": 100 * time, "t2": 100, "astray": 0.0}
            | {"begins": 95.0, "seed": 0}
            for row in rows
            for share, time in zip(progress.SHARES, (early, 1.0, 1.05), strict=True)
        ]
    )
    axes = Figure().add_subplot()
    axes.set(xscale="log", xlim=(0.02, 3))
    progress._closer(axes, found, 0.95)
    assert len(axes.child_axes) == insets
    for inset in axes.child_axes:
        assert inset.get_xlim() == progress.FINE
        assert len(_marks(inset, progress.ROWS["a"].index("l1_norm"))) == 3
