"""What is drawn of a few seeds and of many."""

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

from grokatlas.plots import marks

STEPS = np.arange(1, 11)


def _rows(arrivals: list[int]) -> pd.DataFrame:
    """Seeds whose test accuracy steps from 0 to 1, each at a step of its own."""
    parts = [
        pd.DataFrame({"seed": seed, "step": STEPS, "test_accuracy": (at <= STEPS).astype(float)})
        for seed, at in enumerate(arrivals)
    ]
    return pd.concat(parts, ignore_index=True)


@pytest.mark.parametrize("arrivals", [[3, 8], [3, 6, 8]])
def test_of_few_seeds_no_line_has_a_value_that_none_of_them_has(arrivals):
    axes = Figure().subplots()
    drawn = marks.spread(axes, _rows(arrivals), "test_accuracy", color="red", lw=1.5, label="test")
    assert {value for line in axes.lines for value in line.get_ydata()} == {0.0, 1.0}
    steps = [next(x for x, y in line.get_xydata() if y) for line in axes.lines]
    assert steps == arrivals
    assert not axes.collections  # no band
    assert {line.get_color() for line in axes.lines} == {"red"}
    assert all(line.get_linewidth() < 1.5 for line in axes.lines)
    assert axes.get_legend_handles_labels()[1] == ["test"]
    assert len(drawn) == len(STEPS)


def test_of_many_seeds_the_median_is_drawn_with_its_range():
    axes = Figure().subplots()
    drawn = marks.spread(axes, _rows([3, 4, 8, 9]), "test_accuracy", lw=1.5)
    (line,) = axes.lines
    assert line.get_linewidth() == 1.5
    np.testing.assert_array_equal(line.get_ydata(), drawn["median"])
    assert len(axes.collections) == 1


def test_one_seed_is_a_line_of_full_width():
    axes = Figure().subplots()
    marks.spread(axes, _rows([3]), "test_accuracy", lw=1.5)
    (line,) = axes.lines
    assert line.get_linewidth() == 1.5
    assert not axes.collections


def test_a_seed_without_a_number_is_none():
    rows = _rows([2, 3, 8, 9])
    rows.loc[rows["seed"] > 1, "test_accuracy"] = np.nan
    axes = Figure().subplots()
    marks.spread(axes, rows, "test_accuracy")
    assert len(axes.lines) == 2


@pytest.mark.parametrize("arrivals", [[3], [3, 8], [3, 6, 8], [3, 4, 8, 9]])
def test_the_data_of_a_figure_are_medians_and_ranges_of_any_number_of_seeds(arrivals):
    rows = _rows(arrivals)
    drawn = marks.spread(Figure().subplots(), rows, "test_accuracy")
    assert [*drawn] == ["series", "step", "median", "low", "high", "seeds"]
    values = rows.pivot(index="step", columns="seed", values="test_accuracy")
    np.testing.assert_array_equal(drawn["median"], values.median(axis=1))
    np.testing.assert_array_equal(drawn["low"], values.min(axis=1))
    np.testing.assert_array_equal(drawn["high"], values.max(axis=1))
    assert set(drawn["seeds"]) == {len(arrivals)}


def test_of_few_seeds_a_bar_is_replaced_by_the_seeds_and_a_gap_stays_one():
    rows = pd.DataFrame(
        {"seed": [0, 0, 0, 1, 1, 1], "weight": [1, 2, 3] * 2, "t2": [4, np.nan, 6, 7, 8, 9]}
    )
    axes = Figure().subplots()
    seen = marks.ranges(axes, rows, "t2", "weight", marker="o")
    drawn = [line.get_ydata().tolist() for line in axes.lines]
    np.testing.assert_array_equal(drawn, [[4, np.nan, 6], [7, 8, 9]])
    assert not axes.containers
    assert seen["median"].tolist() == [5.5, 8, 7.5]
    assert seen["count"].tolist() == [2, 1, 2]


def test_of_many_seeds_a_bar_is_the_range_around_the_median_at_most_to_the_ends_of_the_axis():
    rows = pd.DataFrame({"seed": range(5), "weight": 2.0, "t2": [1.0, 2, 3, 4, np.inf]})
    axes = Figure().subplots()
    seen = marks.ranges(axes, rows, "t2", "weight", aside=1.5, within=(2.0, 10.0), marker="o")
    ((line, _, (bar,)),) = axes.containers
    assert line.get_xydata().tolist() == [[3, 3]]
    assert bar.get_segments()[0].tolist() == [[3, 2], [3, 10]]
    assert seen.iloc[0].tolist() == [2, 3, 1, np.inf, 5]
