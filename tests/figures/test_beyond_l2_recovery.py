"""The figures of `beyond_l2` on recovery, completion and students on synthetic tables, as data."""

import itertools

import numpy as np
import pandas as pd
import pytest

from grokatlas.papers.beyond_l2 import (
    _panels,
    data_selection,
    depth,
    fig4,
    fig5,
    fig5_low_rank,
    fig6,
    fig6_low_rank,
    fig7,
    samples,
    sobolev,
    teacher_student,
)
from grokatlas.plots import style

STEPS = (0, 1, 10, 100, 1000)
TRUTH = {"truth.0": 0.5, "truth.1": 0.0, "truth.2": -0.25}


def _error(step: int, seed: int = 1) -> dict:
    """Memorised at 10, recovered at 1,000 (an odd seed) or never."""
    test = 1e-4 if step >= 1000 and seed % 2 else 0.5
    return {"train_error": 1.0 if step < 10 else 1e-4, "test_error": test}


def _recovery(seeds: list[int]) -> pd.DataFrame:
    rows = []
    for seed in seeds:
        for step in STEPS:
            row = {"record": "history", "seed": seed, "step": step} | _error(step, seed)
            row |= {"l1_norm": 0.75, "l2_norm": 100 / (1 + step), "gradient_ratio": 1.0}
            rows.append(row | {f"parameters.weight.{k}": (k - 1) / (1 + step) for k in range(3)})
        times = {"t1": 10.0, "t2": 1000.0 if seed % 2 else None}
        rows.append({"record": "recovery_times", "seed": seed} | times)
        rows.append({"record": "truth", "seed": seed, "truth_l1_norm": 0.75} | TRUTH)
        for step in STEPS:
            bounds = {"test_error_above": 9.0 / (1 + step), "test_error_below": 0.25}
            bounds |= {"train_error_above": 3.0 / (1 + step)}
            rows.append({"record": "descent_bounds", "seed": seed, "step": step} | bounds)
    return pd.DataFrame(rows)


def _of_fig5(table: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """The tables of figure 5: errors of all instances, entries of the published one."""
    entries = [name for name in table if name.startswith("parameters.")]
    published = table[(table["record"] == "history") & (table["seed"] == 1)]
    kept = published[["record", "seed", "step", *entries]]
    return {"sparse_recovery": table.drop(columns=entries), "sparse_entries": kept}


def _lines(axes, points: int = len(STEPS) - 1) -> list:
    return [line for line in axes.lines if len(line.get_xdata()) == points]


def test_fig4_has_logarithmic_panels_above_linear_ones():
    table = _recovery([1])
    table["t2"] = None
    figure, drawn = fig4.draw({"ridge_recovery": table})
    panels = [axes for axes in figure.axes if axes.get_xlabel() == "step"]
    assert [axes.get_yscale() for axes in panels] == ["log", "log", "linear", "linear"]
    assert all(axes.get_xscale() == "log" for axes in panels)
    norms = [axes for axes in figure.axes if axes.get_ylabel() == "$\\|a\\|_2$"]
    for axes, scale in zip(norms, ("log", "linear"), strict=True):
        assert axes.get_yscale() == scale
        (line,) = axes.lines
        np.testing.assert_allclose(line.get_ydata(), [50, 100 / 11, 100 / 101, 100 / 1001])
        assert line.get_color() == style.COLOURS["l2"]
    np.testing.assert_allclose(_lines(panels[3])[0].get_ydata()[0], -0.5)
    np.testing.assert_allclose(_lines(panels[1])[0].get_ydata()[0], 0.5)
    assert list(drawn["step"]) == list(STEPS)
    assert {text.get_text() for text in panels[0].texts} == {"$t_1$ = 10"}


def test_the_bounds_of_theory_are_dotted_beside_the_errors():
    table = _recovery([1])
    table["t2"] = None
    figure, drawn = fig4.draw({"ridge_recovery": table})
    above, below = (
        line.get_ydata()
        for line in figure.axes[0].lines
        if line.get_ls() == ":" and len(line.get_xdata()) == len(STEPS) - 1
    )
    np.testing.assert_allclose(above, [9 / 2, 9 / 11, 9 / 101, 9 / 1001])
    np.testing.assert_allclose(below, 0.25)
    np.testing.assert_allclose(drawn["test_error_below"], 0.25)
    figure, drawn = fig5.draw(_of_fig5(_recovery([0, 1])))
    (bound,) = (
        line
        for line in figure.axes[0].lines
        if line.get_ls() == ":" and len(line.get_xdata()) == len(STEPS) - 1
    )
    np.testing.assert_allclose(bound.get_ydata(), [3 / 2, 3 / 11, 3 / 101, 3 / 1001])
    assert "bound on train, theorem 2.1" in [text.get_text() for text in figure.legends[0].texts]
    bare = _recovery([1]).query("record != 'descent_bounds'")
    fig5.draw(_of_fig5(bare))  # of results that are older than the bounds


def test_fig5_marks_the_published_instance_and_counts_the_recovered_ones():
    figure, drawn = fig5.draw(_of_fig5(_recovery([0, 1, 2, 3, 4])))
    titles = [axes.get_title(loc="left") for axes in figure.axes]
    assert "d  2 of 5 instances are recovered" in titles
    last = figure.axes[titles.index("d  2 of 5 instances are recovered")]
    bold = [line for line in _lines(last) if line.get_linewidth() == 1.8]
    assert len(_lines(last)) == 5
    assert len(bold) == 1
    texts = {text.get_text() for axes in figure.axes for text in axes.texts}
    assert texts == {"$t_1$ = 10", "$t_2$ = 1,000"}
    assert drawn.query("seed == 1 and gradient_ratio == gradient_ratio").shape[0] == len(STEPS)
    assert len(drawn.query("series == 't2'")) == 5


def test_entries_that_a_has_to_find_are_coloured_and_their_truth_is_dashed():
    figure, _ = fig5.draw(_of_fig5(_recovery([1])))
    (panel,) = [axes for axes in figure.axes if axes.get_ylabel() == "$|a_k|$"]
    grey = [line for line in _lines(panel) if line.get_color() == _panels.GREY]
    assert len(_lines(panel)) == 3
    assert len(grey) == 1
    levels = [line.get_ydata()[0] for line in _lines(panel, 2) if line.get_linestyle() == "--"]
    assert levels == [0.5, 0.25]


def _scaling(weight: str, column: str) -> pd.DataFrame:
    """t2 = 0.1 / product and an error of half the product, at every point of two grids."""
    rows = []
    for case, seeds in (("published", [1]), ("instances", [0, 2])):
        for rate, value, seed in itertools.product((0.01, 0.1), (1e-4, 1e-2, 1e-1), seeds):
            key = {"case": case, "dynamics.rate": rate, weight: value, "seed": seed}
            product = rate * value
            for step in (10.0, 0.1 / product, 1.1 / product):
                row = {"record": "history", "step": step, "slow_time": step * product}
                row |= {column: product / 2, "test_error": 0.1, "task.rows": 9}
                rows.append(key | row | {"train.stop.slow_time": 1.0})
            times = {"t2_settled": 0.1 / product, "final_test_error": 0.1}
            rows.append(key | {"record": "recovery_times"} | times)
            rows.append(key | {"record": "truth", "least_squares_distance": 0.07})
    return pd.DataFrame(rows)


@pytest.mark.parametrize(
    ("module", "experiment", "weight", "column", "divided"),
    [
        (fig6, "sparse_scaling", "dynamics.l1", "test_deviation", 1),
        (fig6_low_rank, "matrix_scaling", "dynamics.weight", "nuclear_distance", 3),
    ],
)
def test_fig6_draws_a_point_for_each_member_beside_the_predicted_lines(
    module, experiment, weight, column, divided
):
    table = _scaling(weight, column)
    figure, drawn = module.draw({experiment: table})
    left, right = figure.axes
    assert {axes.get_xscale() for axes in (left, right)} == {"log"}
    assert {axes.get_yscale() for axes in (left, right)} == {"log"}
    assert len(drawn) == 6 + 12
    np.testing.assert_allclose(drawn["t2"] * drawn["product"], 0.1)
    np.testing.assert_allclose(drawn["error"], drawn["product"] / 2 / divided)
    assert drawn["complete"].all()
    (line,) = [line for line in left.lines if line.get_linestyle() == "--"]
    np.testing.assert_allclose(line.get_xdata() * line.get_ydata(), 0.07)
    assert "slope $-1.00$" in left.get_title(loc="left")
    assert "slope $1.00$" in right.get_title(loc="left")


def test_a_run_cut_by_its_last_step_is_an_open_circle():
    table = _scaling("dynamics.l1", "test_deviation")
    table["train.stop.slow_time"] = 1.5
    figure, drawn = fig6.draw({"sparse_scaling": table})
    assert not drawn["complete"].any()
    circles = [x for x in figure.axes[0].lines if x.get_marker() == "o" and len(x.get_xdata())]
    assert {line.get_markerfacecolor() for line in circles} == {"none"}


def test_fig7_has_a_panel_for_each_step_size_of_the_published_grid():
    figure, drawn = fig7.draw({"sparse_scaling": _scaling("dynamics.l1", "test_deviation")})
    panels = [axes for axes in figure.axes if axes.lines]
    assert [axes.get_title(loc="left") for axes in panels] == [
        "a  $\\alpha$ = 0.01",
        "b  $\\alpha$ = 0.1",
    ]
    for axes, rate in zip(panels, (0.01, 0.1), strict=True):
        dotted = [line.get_xdata()[0] for line in axes.lines if line.get_linestyle() == ":"]
        np.testing.assert_allclose(dotted, [0.1 / rate / b for b in (1e-4, 1e-2, 1e-1)])
    assert drawn.groupby("series").size().to_dict() == {"error": 18, "t2": 6}


def test_depth_takes_the_least_and_the_last_distance():
    rows = []
    for case, seed, points in itertools.product((1, 2, 3), (0, 1), (10, 20)):
        label = f"depth_{case}, task.train_points={points}"
        for step, distance in ((0, 1.0), (5, 0.1 * case), (9, 0.2 * case)):
            row = {"record": "history", "case": label, "seed": seed, "step": step}
            rows.append(row | {"task.train_points": points, "test_loss": distance**2 / 2})
    figure, drawn = depth.draw({"depth": pd.DataFrame(rows)}, [])
    assert len(drawn) == 12
    np.testing.assert_allclose(drawn["min"], 0.1 * drawn["depth"])
    np.testing.assert_allclose(drawn["last"], 0.2 * drawn["depth"])
    bold = [line for line in figure.axes[1].lines if line.get_linewidth() == 1.5]
    assert [line.get_label() for line in bold] == ["L = 1", "L = 2", "L = 3"]
    np.testing.assert_allclose(bold[2].get_ydata(), [0.6, 0.6])
    assert figure.axes[0].get_ylim()[0] > 0.05
    other = pd.DataFrame(rows)
    other.loc[(other["seed"] == 0) & (other["step"] == 5), "test_loss"] = 1e-18
    figure, _ = depth.draw({"depth": other}, [])
    assert figure.axes[1].get_ylim()[0] == pytest.approx(0.1 / 20)
    point = {"panel": "least distance", "curve": "L = 2", "x": 10, "y": 0.19}
    figure, _ = depth.draw({"depth": pd.DataFrame(rows)}, [point])
    marked = [line for line in figure.axes[0].lines if line.get_markerfacecolor() == "none"]
    assert [tuple(line.get_xydata()[0]) for line in marked if len(line.get_xdata())] == [(10, 0.19)]
    assert marked[0].get_markersize() >= 1.5 * bold[2].get_markersize()


def test_samples_shows_the_share_that_is_recovered_and_when():
    tables = {}
    for experiment, numbers in (("sparse_samples", (10, 30)), ("matrix_samples", (40, 80))):
        rows = []
        for points, seed in itertools.product(numbers, range(4)):
            row = {"record": "recovery_times", "task.train_points": points, "seed": seed}
            row |= {"task.features": 100, "task.nonzeros": 5}
            t2 = 1000.0 * (1 + seed) if points == numbers[1] and seed else None
            rows.append(row | {"t1": 10.0 * (1 + seed), "t2": t2})
        tables[experiment] = pd.DataFrame(rows)
    figure, drawn = samples.draw(tables)
    above, _, below, _ = figure.axes
    np.testing.assert_allclose(above.lines[0].get_xydata(), [[10, 0], [30, 0.75]])
    t1, t2 = below.lines[:2]
    np.testing.assert_allclose(t1.get_xydata(), [[10, 25], [30, 25]])
    np.testing.assert_allclose(t2.get_xydata(), [[30, 3000]])
    (transition,) = (
        line for line in above.lines if line.get_ls() == "--" and len(line.get_xdata())
    )
    assert transition.get_xdata()[0] == pytest.approx(20.39, rel=1e-3)
    reached = drawn.query("series == 't2' and experiment == 'matrix_samples'").iloc[0]
    assert (reached["min"], reached["max"], reached["count"]) == (2000, 4000, 3)


def test_fig5_for_matrices_has_a_column_for_each_setting():
    rows = []
    for case, weight, points in (
        ("caption", 1e-4, 70),
        ("notebook", 1e-4, 80),
        ("notebook", 1e-5, 80),
    ):
        key = {"case": case, "dynamics.weight": weight}
        for step in STEPS:
            row = {"record": "history", "step": step, "task.train_points": points} | _error(step)
            row |= {"nuclear_norm": 13.3, "gradient_ratio": 1.0}
            rows.append(key | row | {f"singular_values.{k}": 1.0 / (1 + k) for k in range(3)})
        rows.append(key | {"record": "recovery_times", "t1": 10.0, "t2": None})
        hidden = {"truth_nuclear_norm": 13.0, "truth_singular_values.0": 8.0}
        hidden |= {"truth_singular_values.1": 5.0, "truth_singular_values.2": 1e-16}
        rows.append(key | {"record": "truth"} | hidden)
    figure, drawn = fig5_low_rank.draw({"matrix_recovery": pd.DataFrame(rows)})
    titles = [axes.get_title(loc="left") for axes in figure.axes]
    assert [title for title in titles if title] == [
        "a  N = 80, $\\beta = 10^{-5}$",
        "b  N = 80, $\\beta = 10^{-4}$",
        "c  N = 70, $\\beta = 10^{-4}$",
    ]
    spectra = [axes for axes in figure.axes if axes.get_yscale() == "symlog"]
    orange = style.COLOURS["nuclear"]
    for axes in spectra:
        assert sum(line.get_color() == orange for line in _lines(axes)) == 2
        dashed = [line.get_ydata()[0] for line in _lines(axes, 2) if line.get_linestyle() == "--"]
        assert dashed == [8.0, 5.0]
    assert len(spectra) == 3
    assert drawn.groupby("series").size().to_dict() == {"history": 15, "t1": 3, "t2": 3}


def test_data_selection_has_both_time_axes_and_the_times_of_all_instances():
    rows = []
    for share, seed in itertools.product((0.0, 0.5, 1.0), (0, 1)):
        key = {"task.leverage_share": share, "seed": seed}
        rows += [key | {"record": "history", "step": step} | _error(step) for step in STEPS]
        reached = 500.0 if share == 1 else None
        rows.append(key | {"record": "recovery_times", "t2": reached})
    figure, drawn = data_selection.draw({"data_selection": pd.DataFrame(rows)})
    log, linear, times = figure.axes
    assert [log.get_xscale(), linear.get_xscale()] == ["log", "linear"]
    assert len(_lines(log)) == len(_lines(linear)) == 3
    missed = [line for line in times.lines if line.get_marker() == "x"]
    assert [list(line.get_xdata()) for line in missed] == [[0.0, 0.5], [0.0, 0.5]]
    assert drawn.groupby("series").size().to_dict() == {"t2": 6, "test_error": 15}
    assert set(drawn.query("series == 'test_error'")["seed"]) == {0}


@pytest.mark.parametrize(
    ("module", "experiment", "weight"),
    [
        (teacher_student, "teacher_student", "penalties.0.weight"),
        (sobolev, "sobolev", "loss.weight"),
    ],
)
def test_students_have_a_column_for_each_step_size(module, experiment, weight):
    rows = []
    grid = itertools.product((1e-4, 1e-3, 5.5e-3), (1e-5, 1e-3), (0, 1, 2), STEPS)
    for rate, value, seed, step in grid:
        key = {"record": "history", "optimizer.lr": rate, weight: value, "seed": seed, "step": step}
        test = (1.0, 4.0, 6.0)[seed]
        rows.append(key | {"train_squared_error": 1 / (1 + step), "test_squared_error": test})
    point = {"panel": "rate 0.0055", "curve": "test, plateau", "x": 30, "y": 2.1}
    half = {"panel": "rate 0.001", "x": 254, "y": 1.1}
    half["curve"] = "test, half of the plateau, weight 0.001"
    figure, drawn = module.draw({experiment: pd.DataFrame(rows)}, [point, half])
    assert [axes.get_yscale() for axes in figure.axes] == ["linear"] * 3 + ["log"] * 3
    assert {axes.get_xscale() for axes in figure.axes} == {"log"}
    for axes in figure.axes:  # a line for each of two weights and three networks
        styles = [line.get_linestyle() for line in _lines(axes)]
        assert sorted(styles) == ["-"] * 2 * 3 + ["--"] * 2 * 3
    single = drawn[(drawn["series"] == "test_error_half") & drawn["seed"].notna()]
    np.testing.assert_allclose(sorted(set(single["value"])), [0.5, 2.0, 3.0])
    ours = drawn[(drawn["series"] == "test_error_half") & drawn["seed"].isna()]
    assert len(ours) == 3 * 2 * 4
    np.testing.assert_allclose(ours[["median", "low", "high"]], [[2.0, 0.5, 3.0]] * 24)
    assert figure.axes[0].get_ylim() == (0, 1.25 * 3)
    (mark,) = (line for line in figure.axes[2].lines if line.get_marker() == "o")
    assert (*mark.get_xdata(), *mark.get_ydata()) == (30, 2.1)
    assert len(drawn[drawn["series"] == "published test, plateau"]) == 1
    (mark,) = (line for line in figure.axes[1].lines if line.get_marker() == "o")
    assert (*mark.get_xdata(), *mark.get_ydata()) == (254, 1.1)
    own = _lines(figure.axes[1])[-1].get_color()
    np.testing.assert_allclose(mark.get_markeredgecolor(), own)


def test_numbers_are_set_as_powers_of_ten():
    assert _panels.at(1e-4) == "10^{-4}"
    assert _panels.at(0.1) == "10^{-1}"
    assert _panels.at(5e-6) == "5 \\times 10^{-6}"
