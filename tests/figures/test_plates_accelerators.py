"""Plate 7 on synthetic tables, as data."""

import numpy as np
import pytest
from matplotlib.colors import to_rgb
from matplotlib.patches import Rectangle

from grokatlas.papers.plates import accelerators
from grokatlas.papers.plates._accelerators import TASKS
from tests.unit.papers.test_claims_accelerators import every

METHODS = ("l2", "nuclear", "grokfast_ema", "grokalign", "noise")


def tables(**changed):
    """Of all tasks; the nuclear norm is defined on one of them."""
    late = {"nuclear": ({0.1: (9000, 9000, 9000)}, 10)}
    return every(**(changed | {"addition": late}))


@pytest.fixture(scope="module")
def drawn():
    return accelerators.draw(tables())


def _patches(figure, method, task, lower=False):
    """Patches of a half cell."""
    x, y = METHODS.index(method), TASKS.index(task) + 0.5 * lower
    own = [each for each in figure.axes[0].patches if isinstance(each, Rectangle)]
    return [p for p in own if x <= p.get_x() < x + 1 and y <= p.get_y() < y + 0.5]


def _texts(figure, x, y):
    """What is written in a half cell, from above."""
    texts = [t for t in figure.axes[0].texts if x < t.get_position()[0] < x + 1]
    own = [t for t in texts if y < t.get_position()[1] < y + 0.5]
    return [t.get_text() for t in sorted(own, key=lambda t: t.get_position()[1])]


def test_a_cell_has_its_median_and_range_in_both_units(drawn):
    figure, _ = drawn
    column, row = METHODS.index("grokalign"), TASKS.index("ce")
    assert _texts(figure, column, row) == ["0.17", "0.15-0.2"]
    assert _texts(figure, column, row + 0.5) == ["0.53", "0.45-0.6"]


def test_sooner_is_blue_and_later_orange():
    slow = {"l2": ({0.1: (9000, 8000, 16000)}, 10)}
    figure, _ = accelerators.draw(tables(xor=slow))
    sooner = _patches(figure, "grokalign", "xor")[0].get_facecolor()
    later = _patches(figure, "l2", "xor")[0].get_facecolor()
    assert later[:3] == pytest.approx(to_rgb(accelerators.LATER), abs=0.02)
    assert sooner[2] > sooner[0]


def test_only_a_method_whose_range_is_apart_has_a_frame(drawn):
    figure, _ = drawn
    frames = [p for p in figure.axes[0].patches if not p.get_fill()]
    assert len(frames) == len(TASKS)
    assert {int(p.get_x()) for p in frames} == {METHODS.index("grokalign")}
    assert {p.get_y() % 1 < 0.5 for p in frames} == {True}  # in updates, not in operations


def test_never_is_hatched_and_what_is_not_defined_is_empty(drawn):
    figure, _ = drawn
    (never,) = _patches(figure, "noise", "mse")
    assert never.get_hatch()
    assert _patches(figure, "nuclear", "mse") == []
    assert _texts(figure, METHODS.index("noise"), TASKS.index("mse")) == ["never"]


def test_a_method_that_generalises_where_the_baseline_does_not_says_so():
    figure, _ = accelerators.draw(tables(ce={"none": ({np.nan: (None, None, None)}, 10)}))
    column, row = METHODS.index("l2"), TASKS.index("ce")
    assert _texts(figure, column, row) == ["baseline\nnever"]


def test_margins_and_the_data_that_is_drawn(drawn):
    figure, data = drawn
    end = len(METHODS) + accelerators.GAP
    assert _texts(figure, end, TASKS.index("xor")) == ["0.38", "*/ 2 (-1)"]
    assert data["panel"].value_counts().to_dict() == {"cells": 58, "tasks": 14, "methods": 10}
    assert figure.axes[0].get_yticklabels()[2].get_text().startswith("MNIST, cross-entropy")


def test_without_the_seed_of_choice_nothing_is_judged():
    figure, data = accelerators.draw({k: t[t["seed"] == 0] for k, t in tables().items()})
    assert data.empty
    assert list(figure.axes[0].patches) == []


def test_a_figure_of_some_tasks_has_their_rows_and_the_methods_that_they_have():
    names = ("accelerators_sparse", "accelerators_completion")
    figure, data = accelerators.draw({name: tables()[name] for name in names})
    rows = [label.get_text().partition("\n")[0] for label in figure.axes[0].get_yticklabels()]
    assert rows == ["sparse recovery", "matrix completion", "mean of"]
    columns = [label.get_text() for label in figure.axes[0].get_xticklabels()]
    shown = [accelerators.METHODS[name] for name in METHODS if name != "nuclear"]
    assert columns == [*shown, "mean of\nthe row"]
    assert set(data["task"].dropna()) == {"sparse", "completion"}
