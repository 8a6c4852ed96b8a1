"""A weight of 0 stands apart; what is empty or diverged is said in words."""

import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_rgba

from grokatlas.claims import divergence
from grokatlas.plots import defaults, panels, style


def test_a_weight_of_0_is_grey_and_leaves_the_colours_of_the_others():
    found = style.weights([0.1, 0.0, 0.01])
    assert found[0.0] == style.ZERO
    others = style.sequence([0.01, 0.1])
    assert all((found[value] == others[value]).all() for value in others)
    colours = style.logarithmic([0, 1e-4, 1e-2])
    assert tuple(colours.to_rgba(0)) == to_rgba(style.ZERO)
    assert tuple(colours.to_rgba(1e-4)) == tuple(style.logarithmic([1e-4, 1e-2]).to_rgba(1e-4))


@pytest.mark.parametrize(("values", "fields"), [([0, 1e-4, 1e-2], 1), ([1e-4], 0), ([0], 1)])
def test_0_has_a_field_of_its_own_below_a_colour_bar(values, fields):
    with defaults.drawing():
        made, grid = style.figure(1)
        bar = style.bar(made, list(grid.flat), values, style.logarithmic(values))
        panels.finish(made, "")
        made.draw_without_rendering()
    apart = bar.ax.child_axes
    assert len([axes for axes in apart if axes.get_facecolor() == to_rgba(style.ZERO)]) == fields


def test_0_has_a_place_on_a_logarithmic_axis():
    _, ((axes,),) = style.figure(1)
    panels.logarithmic(axes, [0, 1e-3, 1e-2])
    assert axes.get_xscale() == "symlog"
    panels.logarithmic(axes, [1e-3, 1e-2])
    assert axes.get_xscale() == "log"


def test_an_empty_panel_says_so():
    with defaults.drawing():
        made, ((empty, full),) = style.figure(2)
        empty.plot([1, 2], [np.nan, np.nan])
        empty.set_yscale("log")
        full.plot([1, 2], [1, 2])
        panels.finish(made, "")
    assert [text.get_text() for text in empty.texts] == [panels.EMPTY]
    assert not full.texts


@pytest.mark.parametrize("last", [1e290, 1e305])
def test_a_curve_that_diverged_leaves_its_panel_at_the_top(last):
    with defaults.drawing():
        made, ((axes,),) = style.figure(1)
        axes.plot([0, 1], [1e-3, last])
        axes.set_yscale("log")
        panels.finish(made, "")
        made.draw_without_rendering()
    assert axes.get_ylim() == pytest.approx((1e-3, panels.FURTHEST))


def _history(last: float) -> pd.DataFrame:
    rows = [("a", member, step) for member in (0, 1) for step in (0, 1)]
    table = pd.DataFrame(rows, columns=["run", "member", "step"]).assign(record="history")
    return table.assign(train_loss=[1.0, 0.5, 1.0, last], test_loss=np.nan, other=[1, 2, 3, np.inf])


@pytest.mark.parametrize("last", [np.nan, np.inf])
def test_a_member_that_diverged_is_counted_and_left_out(last):
    table = _history(last)
    assert divergence.note([table]) == "1 of 2 members diverged"
    assert divergence.without(table)["member"].tolist() == [0, 0]
    assert not np.isinf(divergence.finite(table)["other"]).any()


@pytest.mark.parametrize("kind", ["bool", "object"])
def test_a_member_that_was_stopped_is_counted_and_left_out(kind):
    """In a table with runs that declare no watch, the column holds nothing for these."""
    marks = [False, False, False, True] if kind == "bool" else [None, None, False, True]
    table = _history(0.5).assign(stopped=pd.Series(marks, dtype=kind))
    assert divergence.note([table]) == "1 of 2 members stopped by the watch"
    assert divergence.without(table)["member"].tolist() == [0, 0]
    both = _history(np.nan).assign(stopped=pd.Series(marks, dtype=kind))
    told = "1 of 2 members diverged, 1 of 2 members stopped by the watch"
    assert divergence.note([both]) == told


def test_a_table_whose_members_are_finite_is_left_as_it_is():
    table = _history(0.5)  # a column that the run does not log, and infinity elsewhere
    assert divergence.note([table]) == ""
    assert divergence.without(table) is table
    assert divergence.finite(table) is table
