"""Plate 2 on synthetic tables, as data."""

import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_hex

from grokatlas.papers.plates import slow_time
from grokatlas.plots import marks
from tests.unit.papers.test_claims_slow_time import every, table


@pytest.fixture
def drawn():
    tables = every()
    both = [table("slow_time_nuclear"), table("slow_time_nuclear", -0.25, 40.0, "adam")]
    tables["slow_time_nuclear"] = pd.concat(both, ignore_index=True)
    return slow_time.draw(tables)


def _lines(axes):
    """Data by colour of the lines that have any."""
    found = {}
    for line in axes.lines:
        if len(line.get_xdata()) > 1:
            found.setdefault(to_hex(line.get_color()), []).append(line)
    return found


def test_a_line_for_each_weight_in_the_colour_of_its_problem(drawn):
    figure, data = drawn
    left, right = figure.axes[:2]
    colours = {name: to_hex(colour) for name, colour in slow_time.COLOURS.items()}
    lines = _lines(left)
    assert all(len(lines[colour]) == 2 * 2 for colour in colours.values())  # weights, instances
    assert set(_lines(right)) & set(colours.values()) == {colours["slow_time_nuclear"]}
    widths = [line.get_linewidth() for line in lines[colours["slow_time_relu"]]]
    least, most = (marks.THIN * width for width in slow_time.WIDTHS)
    assert widths == [least, least, most, most]
    for line in lines[colours["slow_time_diagonal"]]:  # one slow time: the lines are one
        at = np.interp(np.log(10), -np.log(line.get_ydata()), np.log(line.get_xdata()))
        assert np.exp(at) == pytest.approx(10**0.5)
    assert set(data["series"]) == {"error", "t1", "t2"}


def test_exponents_are_in_the_keys_in_the_order_of_the_problems(drawn):
    figure, _ = drawn
    texts = [
        [each.get_text() for each in axes.get_legend().get_texts()] for axes in figure.axes[2:4]
    ]
    assert texts == [["$-1.00$"] * 6, ["$-0.25$"]]
    handles, _ = figure.axes[2].get_legend_handles_labels()
    assert [line.get_color() for line in handles] == list(slow_time.COLOURS.values())


def test_the_slow_times_of_gradient_descent_are_shaded_in_both(drawn):
    figure, _ = drawn
    for axes in figure.axes[:2]:
        (band,) = axes.patches
        ends = band.get_x(), band.get_x() + band.get_width()
        assert ends == pytest.approx((10**0.5 / 2, 10**0.5))
