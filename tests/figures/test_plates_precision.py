"""Plate 6 on synthetic tables, as data."""

import numpy as np
import pytest

from grokatlas.papers.plates import precision
from tests.unit.papers.test_claims_precision import EPS, STEPS, every

PUBLISHED = {"factor": "7.56 ± 0.82"}
COLUMNS = 6


@pytest.fixture
def drawn():
    return precision.draw(every(), PUBLISHED)


def _pane(figure, row, column):
    return figure.axes[column * len(precision.ROWS) + row]


def _curves(axes, colour):
    """Ordinates of the lines of a colour that were drawn through logged steps."""
    return [
        np.asarray(line.get_ydata())
        for line in axes.lines
        if line.get_color() == colour and len(line.get_xdata()) == len(STEPS) - 1
    ]


def test_a_column_for_each_task_and_beta2_with_a_line_for_each_seed(drawn):
    figure, data = drawn
    titles = [_pane(figure, 0, column).get_title() for column in range(COLUMNS)]
    assert [title[:2] for title in titles] == ["1:", "2:", "3:", "4:", "5:", "6:"]
    assert "MNIST" in titles[0]
    assert "0.999" in titles[3]
    for look in precision.LOOKS.values():
        for column in range(COLUMNS):
            assert len(_curves(_pane(figure, 0, column), look["color"])) == 2
            assert len(_curves(_pane(figure, 1, column), look["color"])) == 4  # with the loss
    assert set(data["panel"]) == {"a to d", "e", "f", "g"}


def test_a_residual_of_zero_is_drawn_a_decade_below_all_others(drawn):
    figure, _ = drawn
    orange = precision.LOOKS["float32"]["color"]
    lows = [curve.min() for curve in _curves(_pane(figure, 1, 0), orange)]
    assert min(lows) == pytest.approx(1e-10)  # all others are at least 1e-9
    assert max(lows) == pytest.approx(1e-9)  # the loss
    eps = [line for line in _pane(figure, 3, 0).lines if len(set(line.get_ydata())) == 1]
    assert eps[-1].get_ydata()[0] == EPS


def test_quotients_are_of_the_same_seed_and_crosses_are_for_never(drawn):
    figure, data = drawn
    axes = figure.axes[-2]
    marks = np.concatenate([points.get_offsets() for points in axes.collections])
    assert sorted(x for x, y in marks if y < 0.5) == pytest.approx([0.5, 0.5, 1.05, 1.05])
    assert [round(y) for x, y in marks if x == precision.NEVER] == [COLUMNS - 1] * 2
    assert axes.get_ylim() == figure.axes[-3].get_ylim()
    texts = [text.get_text() for text in axes.texts]
    assert texts == ["900", "150", "600", "600", "never", "300"]
    assert not (data[data["panel"] == "f"]["task"] == "addition_none").any()


def test_the_band_is_the_published_deviation_about_float64(drawn):
    figure, _ = drawn
    axes = figure.axes[-1]
    (band,) = axes.patches
    assert (band.get_y(), band.get_y() + band.get_height()) == pytest.approx((-0.82, 0.82))
    means = [y for line in axes.lines if line.get_marker() == "_" for y in line.get_ydata()]
    assert [y for y in means if np.isfinite(y)] == pytest.approx([-3, 0.3])


def test_shares_are_a_mark_for_each_seed_in_the_row_of_its_task(drawn):
    figure, data = drawn
    axes = figure.axes[-3]
    names = [label.get_text() for label in axes.get_yticklabels()]
    assert names == [
        _pane(figure, 0, column).get_title()[3:] for column in range(COLUMNS)
    ]  # without the number
    marks = np.concatenate([points.get_offsets() for points in axes.collections])
    rows = data[data["panel"] == "e"]
    shown = sorted([*rows["below_eps"].dropna(), *rows["collapsed"].dropna()])
    assert sorted(x for x, _ in marks) == pytest.approx(shown)
