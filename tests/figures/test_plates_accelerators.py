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


def _cell(figure, method, task, unit="updates"):
    """What is written in a cell, and its colour."""
    axes = figure.axes[accelerators.UNITS.index(unit)]
    place = (METHODS.index(method) + 0.5, TASKS.index(task) + 0.5)
    texts = {text.get_position(): text.get_text() for text in axes.texts}
    mesh = axes.collections[0]
    colours = mesh.get_facecolors().reshape(*mesh.get_array().shape, 4)
    return texts.get(place, ""), colours[int(place[1]), int(place[0])]


def _frames(figure, unit):
    axes = figure.axes[accelerators.UNITS.index(unit)]
    return [p for p in axes.patches if isinstance(p, Rectangle)]


def test_a_cell_has_its_median_and_range_in_both_units(drawn):
    figure, _ = drawn
    assert _cell(figure, "grokalign", "ce")[0] == "0.17\n0.15-0.2"
    assert _cell(figure, "grokalign", "ce", "operations")[0] == "0.53\n0.45-0.6"


def test_sooner_is_blue_and_later_orange():
    slow = {"l2": ({0.1: (9000, 8000, 16000)}, 10)}
    figure, _ = accelerators.draw(tables(xor=slow))
    figure.draw_without_rendering()
    _, sooner = _cell(figure, "grokalign", "xor")
    _, later = _cell(figure, "l2", "xor")
    assert later[:3] == pytest.approx(to_rgb(accelerators.LATER), abs=0.02)
    assert sooner[2] > sooner[0]


def test_only_a_method_whose_range_is_apart_has_a_frame(drawn):
    figure, _ = drawn
    frames = _frames(figure, "updates")
    assert len(frames) == len(TASKS)
    assert {int(p.get_x()) for p in frames} == {METHODS.index("grokalign")}
    assert _frames(figure, "operations") == []


def test_never_is_hatched_and_what_is_not_defined_is_empty(drawn):
    figure, _ = drawn
    assert _cell(figure, "noise", "mse")[0] == "never"
    assert _cell(figure, "nuclear", "mse")[0] == ""
    hatched = figure.axes[0].collections[1]
    assert hatched.get_hatch()
    places = {tuple(path.vertices.min(axis=0)) for path in hatched.get_paths()}
    assert (METHODS.index("noise"), TASKS.index("mse")) in places
    assert {column for column, _ in places} == {METHODS.index("noise")}


def test_a_method_that_generalises_where_the_baseline_does_not_says_so():
    figure, _ = accelerators.draw(tables(ce={"none": ({np.nan: (None, None, None)}, 10)}))
    assert _cell(figure, "l2", "ce")[0] == "baseline\nnever"


def test_margins_and_the_data_that_is_drawn(drawn):
    figure, data = drawn
    texts = {text.get_position(): text.get_text() for text in figure.axes[0].texts}
    assert texts[len(METHODS) + 0.5, TASKS.index("xor") + 0.5] == "0.38\n*/ 2 (-1)"
    assert data["panel"].value_counts().to_dict() == {"cells": 58, "tasks": 14, "methods": 10}
    assert figure.axes[0].get_yticklabels()[2].get_text().startswith("MNIST, cross-entropy")


def test_without_the_seed_of_choice_nothing_is_judged():
    figure, data = accelerators.draw({k: t[t["seed"] == 0] for k, t in tables().items()})
    assert data.empty
    assert list(figure.axes[0].patches) == []
    assert not any(text.get_text() for text in figure.axes[0].texts)


def test_a_figure_of_some_tasks_has_their_rows_and_the_methods_that_they_have():
    names = ("accelerators_sparse", "accelerators_completion")
    figure, data = accelerators.draw({name: tables()[name] for name in names})
    rows = [label.get_text().partition("\n")[0] for label in figure.axes[0].get_yticklabels()]
    assert rows == ["sparse recovery", "matrix completion", "mean of the column"]
    columns = [label.get_text() for label in figure.axes[0].get_xticklabels()]
    shown = [accelerators.METHODS[name] for name in METHODS if name != "nuclear"]
    assert columns == [*shown, "mean of\nthe row"]
    assert set(data["task"].dropna()) == {"sparse", "completion"}
