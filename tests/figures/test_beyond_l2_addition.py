"""The figures of `beyond_l2` on regularised modular addition on synthetic tables, as data."""

import itertools

import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import LogNorm

from grokatlas.declare import cells
from grokatlas.papers.beyond_l2 import fig3, mlp_l1, mlp_l2, mlp_nuclear
from grokatlas.results.layout import SCALES
from tests.checkout import declared_papers

RATE, WEIGHT = "optimizer.lr", "penalties.0.weight"
RATES, WEIGHTS = (1e-3, 1e-2, 1e-1), (1e-6, 1e-5, 1e-3)
OFFSETS = {"l1": 0.0, "l2": 0.2, "nuclear": 0.3}
BLOG = 0.4  # the accuracy of a case that figure 3 does not draw
SEEDS = range(5)
T2 = {
    1e-6: (5000.0, None, None, None, None),
    1e-5: (3000.0, 3000.0, 5000.0, None, None),
    1e-3: (500.0, 500.0, 600.0, 700.0, 700.0),
}


def _test_accuracy(case: str, rate: float, seed: int) -> float:
    return OFFSETS[case] + rate + seed / 10


@pytest.fixture
def tables() -> dict[str, pd.DataFrame]:
    rows = []
    for case, rate, weight in itertools.product(OFFSETS, RATES, WEIGHTS):
        for seed in SEEDS:
            keys = {"case": case, RATE: rate, WEIGHT: weight, "seed": seed}
            for step in range(0, 10001, 100):
                row = keys | {"record": "history", "step": step, "train_accuracy": 1.0}
                row["test_accuracy"] = _test_accuracy(case, rate, seed)
                norms = {"l1_norm": 4000.0, "l2_norm": 70.0, "nuclear_norm": 300.0}
                other = 0.0 if case == "l1" and rate == 1e-2 else 1e6
                rows.append(row | {name: value + other for name, value in norms.items()})
            times = {"t1": 90.0, "t2": T2[weight][seed]}
            rows.append(keys | {"record": "grokking_times"} | times)
    table = pd.DataFrame(rows)
    one_rate = table[table[RATE] == 1e-2]
    blog = one_rate[one_rate["case"] == "l2"].assign(case="blog", test_accuracy=BLOG)
    own = pd.concat([one_rate, blog], ignore_index=True)
    nuclear = table["case"] == "nuclear"
    batches = table[nuclear & (table[RATE] == 1e-3)].assign(case="nuclear_batches")
    full = batches.assign(case="full_batches", test_accuracy=BLOG)
    every = pd.concat([table[~nuclear | (table[RATE] > 1e-3)], batches, full], ignore_index=True)
    return {"regularised_addition": every, "addition_at_one_rate": own}


def test_the_cases_that_are_drawn_exist_at_every_scale():
    paper = declared_papers("beyond_l2")["beyond_l2"]
    for scale in SCALES:
        every = cells.resolve("beyond_l2", paper, "regularised_addition", scale)
        others = {"nuclear_batches", "full_batches", "minibatches"}
        assert {cell.case for cell in every} == OFFSETS.keys() | others, scale
        own = cells.resolve("beyond_l2", paper, "addition_at_one_rate", scale)
        assert {cell.case for cell in own} == {*fig3.CASES, "blog"}, scale


def _panels(figure) -> list:
    return [axes for axes in figure.axes if axes.get_xlabel() or axes.get_title(loc="left")]


def _lines(axes, dashes: str = "-") -> list:
    drawn = [line for line in axes.lines if len(line.get_xdata()) > 1]
    return [line for line in drawn if line.get_linestyle() == dashes]


def _points(axes) -> list:
    return [line for line in axes.lines if len(line.get_xdata()) == 1]


def test_fig3_shows_one_step_size_as_long_as_published(tables):
    figure, drawn = fig3.draw(tables, [])
    panels = _panels(figure)
    assert [axes.get_xlim() for axes in panels] == [(0, 6000), (0, 4100), (0, 4100)] + 3 * [
        (0, 6000)
    ]
    assert {axes.get_xscale() for axes in panels} == {"linear"}
    assert set(drawn[RATE]) == {1e-2}
    assert set(drawn["case"]) == {"l1", "l2", "nuclear"}
    seen = drawn[drawn["series"] == "test_accuracy"].groupby("case")
    for case, rows in seen:
        np.testing.assert_allclose(rows["median"], _test_accuracy(case, 1e-2, 2))
        np.testing.assert_allclose(rows["low"], _test_accuracy(case, 1e-2, 0))
        np.testing.assert_allclose(rows["high"], _test_accuracy(case, 1e-2, 4))
    for axes, case in zip(panels[:3], fig3.CASES, strict=True):
        assert len(_lines(axes, "-")) == len(_lines(axes, "--")) == len(WEIGHTS)
        np.testing.assert_allclose(
            _lines(axes, "--")[0].get_ydata(),
            seen.get_group(case).at[seen.get_group(case).index[0], "median"],
        )


def test_fig3_has_the_norms_of_the_l1_regularised_runs_in_thousands(tables):
    figure, drawn = fig3.draw(tables, [])
    for axes, norm, value in zip(
        _panels(figure)[3:], ("l1", "l2", "nuclear"), (4.0, 0.07, 0.3), strict=True
    ):
        assert len(_lines(axes)) == len(WEIGHTS)
        for line in _lines(axes):
            np.testing.assert_allclose(line.get_ydata(), value)
        rows = drawn[drawn["series"] == f"{norm}_norm_thousands"]
        assert set(rows["case"]) == {"l1"}
        np.testing.assert_allclose(rows["median"], value)


def test_points_are_median_times_of_generalisation_within_the_panel(tables):
    figure, drawn = fig3.draw(tables, [])
    first, second, _ = _panels(figure)[:3]
    assert [point.get_xdata()[0] for point in _points(first)] == [5000, 600]
    assert [point.get_xdata()[0] for point in _points(second)] == [600]  # 5,000 is not shown
    assert {point.get_ydata()[0] for point in _points(first)} == {0}
    times = drawn[drawn["series"].isin(["t1", "t2"])]
    assert len(times) == 3 * len(WEIGHTS) * len(SEEDS) * 2
    assert times["step"].isna().sum() == 3 * (4 + 2)


def test_two_seeds_are_two_lines_and_two_points(tables):
    table = tables["regularised_addition"]
    both = {"regularised_addition": table[table["seed"].isin((0, 2))]}
    figure, drawn = mlp_l1.draw(both, [])
    assert drawn["seeds"].max() == 2
    for axes, rate in zip(_panels(figure), RATES, strict=True):
        heights = [line.get_ydata()[0] for line in _lines(axes, "--")]
        assert heights == [_test_accuracy("l1", rate, seed) for seed in (0, 2)] * len(WEIGHTS)
        assert not axes.collections
        assert [point.get_xdata()[0] for point in _points(axes)] == [5000, 3000, 5000, 500, 600]


def _point(panel: str, curve: str, x: float, y: float) -> dict:
    return {"panel": panel, "curve": curve, "x": x, "y": y}


def test_what_was_read_off_is_an_open_mark_in_the_colour_of_its_weight(tables):
    points = [
        _point("penalty l1", "t2 at weight 1e-05", 1430, 1.0),
        _point("penalty nuclear", "t2 at weight 0.001", 910, 1.0),
        _point("norm l2", "peak of l2 norm / 1000 at weight 1e-06", 1400, 0.097),
        _point("penalty l1", "t2 at weight 7", 9, 1.0),  # of no weight that is drawn
    ]
    figure, drawn = fig3.draw(tables, points)
    first, _, third, _, fifth = _panels(figure)[:5]
    for axes, place, at in (
        (first, 1, (1430, 1)),
        (third, 2, (910, 1)),
        (fifth, 0, (1400, 0.097)),
    ):
        (mark,) = (
            line
            for line in axes.lines
            if line.get_markerfacecolor() == "none" and len(line.get_xdata())
        )
        assert (mark.get_xdata()[0], mark.get_ydata()[0]) == at
        np.testing.assert_allclose(mark.get_markeredgecolor(), _lines(axes)[place].get_color())
    seen = drawn[drawn["series"].str.startswith("published")]
    assert sorted(seen["step"]) == [910, 1400, 1430]
    assert sorted(seen[WEIGHT]) == [1e-6, 1e-5, 1e-3]
    assert "published" in [text.get_text() for text in figure.legends[0].get_texts()]
    bare = fig3.draw(tables, [])[0]
    assert "published" not in [text.get_text() for text in bare.legends[0].get_texts()]


def test_a_colour_bar_tells_a_weight_by_its_logarithm(tables):
    figure, _ = fig3.draw(tables, [])
    bars = [axes for axes in figure.axes if axes.get_title() == "$\\beta$"]
    assert len(bars) == 6
    assert {axes.get_yscale() for axes in bars} == {"log"}
    np.testing.assert_allclose(bars[0].get_yticks(), WEIGHTS)
    lines = _lines(_panels(figure)[0])
    shades = [sum(line.get_color()[:3]) for line in lines]
    assert shades == sorted(shades, reverse=True)  # darker is larger
    place = LogNorm(WEIGHTS[0], WEIGHTS[-1])(WEIGHTS[1])
    (mesh,) = (part for part in bars[0].collections if part.get_array() is not None)
    np.testing.assert_allclose(lines[1].get_color(), mesh.cmap(place))


@pytest.mark.parametrize(
    ("module", "case", "cases", "lasts"),
    [
        (mlp_l1, "l1", {"l1"}, (10000, 10000, 10000)),
        (mlp_l2, "l2", {"l2"}, (10000, 10000, 10000)),
        (mlp_nuclear, "nuclear", {"nuclear_batches", "nuclear"}, (10000, 4100, 2200)),
    ],
)
def test_scaling_figures_have_a_panel_for_each_step_size(tables, module, case, cases, lasts):
    figure, drawn = module.draw(tables, [])
    panels = _panels(figure)
    assert [axes.get_xlim() for axes in panels] == [(0, last) for last in lasts]
    for axes, rate, last in zip(panels, RATES, lasts, strict=True):
        assert axes.get_title(loc="left").endswith(f"$\\alpha$ = {rate:g}")
        assert len(_lines(axes, "-")) == len(WEIGHTS)
        for line in _lines(axes, "--"):
            np.testing.assert_allclose(line.get_ydata(), _test_accuracy(case, rate, 2))
            assert line.get_xdata()[-1] == last
        shown = [step for step in (5000, 600) if step <= last]
        assert [point.get_xdata()[0] for point in _points(axes)] == shown
    assert set(drawn["case"].dropna()) == cases
    assert set(drawn[RATE]) == set(RATES)
    assert set(drawn["series"]) == {"train_accuracy", "test_accuracy", "t1", "t2"}


def test_scaling_figures_have_what_was_read_off_in_the_colour_of_its_weight(tables):
    points = [
        _point("rate 0.001", "test, one half, weight 1e-05", 3240, 0.5),
        _point("rate 0.1", "test, one half, weight 0.001", 574, 0.5),
        _point("rate 0.1", "test, one half, weight 7", 9, 0.5),  # of no weight that is drawn
    ]
    figure, drawn = mlp_l1.draw(tables, points)
    marked = []
    for axes in _panels(figure):
        open_marks = (line for line in axes.lines if line.get_markerfacecolor() == "none")
        marked.append([line for line in open_marks if len(line.get_xdata())])
    assert [len(marks) for marks in marked] == [1, 0, 1]
    for axes, place, at in ((0, 1, (3240, 0.5)), (2, 2, (574, 0.5))):
        (mark,) = marked[axes]
        assert (mark.get_xdata()[0], mark.get_ydata()[0]) == at
        own = _lines(_panels(figure)[axes])[place].get_color()
        np.testing.assert_allclose(mark.get_markeredgecolor(), own)
    seen = drawn[drawn["series"].str.startswith("published")]
    assert sorted(zip(seen[RATE], seen[WEIGHT], seen["step"], strict=True)) == [
        (1e-3, 1e-5, 3240),
        (1e-1, 1e-3, 574),
    ]
    assert "published" in [text.get_text() for text in figure.legends[0].get_texts()]
