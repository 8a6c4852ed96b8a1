"""The figures of `two_timescales` on synthetic tables, compared as data."""

import numpy as np
import pandas as pd
import pytest

from grokatlas.papers.two_timescales import (
    _panels,
    _quantities,
    fig1,
    fig2,
    fig3,
    fig4,
    limit,
    linear_regression,
)

STEPS = (0, 1, 10, 100, 1000)


def history(seeds, steps=STEPS, **columns):
    """Rows of a history; a column is a value, or a function of seed and step."""
    rows = []
    for member, seed in enumerate(seeds):
        for step in steps:
            row = {"record": "history", "member": member, "seed": seed, "step": step}
            given = {k: v(seed, step) if callable(v) else v for k, v in columns.items()}
            rows.append(row | {"optimizer.lr": 0.1} | given)
    return pd.DataFrame(rows)


def panel(figure, title):
    """The axes whose title begins with a letter."""
    return next(a for a in figure.axes if a.get_title(loc="left").startswith(f"{title} "))


def twin_of(figure, axes):
    """The axes at the right of a panel."""
    return next(
        other
        for other in figure.axes
        if other is not axes and other.bbox.bounds == axes.bbox.bounds
    )


def test_fig1_splits_each_trajectory_into_its_phases():
    table = history([0], **{"penalties.0.weight": 5e-4, "train_loss": 0.5})
    second = table.assign(member=1)
    table = pd.concat([table, second], ignore_index=True)
    table["parameters.factors.0"] = 2.0 - 5 * table["member"]
    table["parameters.factors.1"] = 1.0 - 3 * table["member"]
    figure, drawn = fig1.draw({"toy": table})
    losses, plane = panel(figure, "a"), panel(figure, "b")
    assert losses.get_xscale() == "log"
    assert {line.get_label() for line in losses.lines} >= {"loss F", "squared norm (right)"}
    assert drawn.query("member == 0")["test_like"].tolist() == [0.5] * 5
    assert drawn.query("member == 1")["test_like"].tolist() == [2.5] * 5
    assert drawn.query("member == 1")["squared_norm"].tolist() == [13.0] * 5
    assert drawn.query("member == 0")["time"].tolist() == pytest.approx([0, 0.1, 1, 10, 100])
    assert sum(text.get_text() == "$t = 1/\\lambda$" for text in losses.texts) == 1
    lengths = [len(line.get_xdata()) for line in plane.lines]
    assert lengths.count(4) == 2  # fast: t = 0, 0.1, 1, 10
    assert lengths.count(2) == 3  # slow: t = 10, 100; and the two stars
    np.testing.assert_allclose(np.prod(plane.lines[0].get_xydata(), axis=1), 1)


@pytest.fixture
def completion():
    seeds = (0, 7)
    tables = []
    for weight in (0.0, 1e-3):
        task = {"task.train_points": 4, "task.rows": 3, "task.columns": 2, "task.rank": 1}
        values = {
            "penalties.0.weight": weight,
            "train_loss": lambda seed, step: 4.0 / (1 + step),
            "test_loss": lambda seed, step: 2.0 * (1 + seed),
            "l2_norm": 3.0,
            "singular_values.0": lambda seed, step: float(step),
            "singular_values.1": 0.0,
        }
        tables.append(history(seeds, **task, **values))
        ends = []
        for seed in seeds:
            found = 5.05 if seed == 7 and weight else 4.85
            for place, (true, final) in enumerate(((5.0, found), (0.0, 1.0))):
                row = {"record": "recovered_singular_values", "seed": seed, "place": place}
                row |= {"penalties.0.weight": weight, "true_value": true, "final_value": final}
                ends.append(row)
        tables.append(pd.DataFrame(ends))
    return pd.concat(tables, ignore_index=True)


def test_fig2_draws_means_of_squares_of_the_selected_instance(completion):
    figure, drawn = fig2.draw({"matrix_completion": completion})
    a = drawn[(drawn["panel"] == "a") & drawn["regularised"]]
    assert a["seed"].unique().tolist() == [7]
    assert a["test_mse"].tolist() == [8.0] * 4
    assert a["train_mse"].tolist() == pytest.approx([1 / 2, 1 / 11, 1 / 101, 1 / 1001])
    assert a["time"].tolist() == pytest.approx([0.1, 1, 10, 100])
    losses = panel(figure, "a")
    assert (losses.get_xscale(), losses.get_yscale()) == ("log", "log")
    assert {line.get_linestyle() for line in losses.lines} == {"-", ":"}
    norm = twin_of(figure, losses)
    assert {tuple(line.get_ydata()) for line in norm.lines} == {(9.0,) * 4}
    assert "7 (selected)" in losses.get_title(loc="left")


def test_fig2_counts_the_instances_that_recover_every_true_value(completion):
    figure, drawn = fig2.draw({"matrix_completion": completion})
    assert "1 of 2 recover all 1 singular values within 2%" in panel(figure, "c").get_title("left")
    texts = {text.get_text() for text in panel(figure, "b").texts}
    assert texts == {"5.00"}
    ends = drawn[(drawn["panel"] == "c") & drawn["test_mse"].notna()]
    assert len(ends) == 4


def curves(seeds, times=(0, 10, 1000), shared=True):
    rows = []
    for seed in seeds:
        for step in times:
            for part, points in (("test", (-1.0, 0.0, 1.0)), ("train", (0.5,))):
                for x in points:
                    shift = 0 if shared else seed
                    row = {"record": "predictor_curve", "seed": seed, "step": step, "part": part}
                    row |= {"input": x + shift, "target": x, "output": x + seed + step}
                    rows.append(row | {"optimizer.lr": 0.1})
    return pd.DataFrame(rows)


LOSSES = {
    "train_loss": lambda seed, step: 1.0 + seed,
    "test_loss": lambda seed, step: 2.0 + seed,
    "l2_norm": lambda seed, step: 3.0 + seed,
}


def test_fig3_shows_seed_0_within_the_range_of_all(completion):
    table = pd.concat([history((0, 1, 2), **LOSSES), curves((0, 1, 2))], ignore_index=True)
    figure, drawn = fig3.draw({"two_layer_relu": table})
    losses = panel(figure, "a")
    assert losses.get_xscale() == "log"
    assert losses.get_yscale() == "linear"
    assert losses.get_ylim() == (0, 2)
    rows = drawn[drawn["series"] == "squared_norm"]
    assert (rows["value"] == 9).all()
    assert (rows["high"] == 25).all()
    assert (rows["low"] == 9).all()
    assert (rows["seeds"] == 3).all()
    titles = [panel(figure, letter).get_title(loc="left") for letter in "bcd"]
    assert titles == ["b  $t_1$ = 0", "c  $t_2$ = 1", "d  $t_3$ = 100"]
    last = panel(figure, "d")
    bold = next(line for line in last.lines if line.get_label() == "predictor")
    np.testing.assert_allclose(bold.get_ydata(), [999, 1000, 1001])
    assert len(last.lines) == 5  # three students, teacher, data
    marks = {text.get_text().strip() for text in losses.texts}
    assert marks == {"$t_2$", "$t_3$"}


def test_fig4_shows_only_the_predictor_whose_points_are_drawn():
    table = history((0, 1), **LOSSES)
    table = pd.concat([table, curves((0, 1), shared=False)], ignore_index=True)
    figure, drawn = fig4.draw({"diagonal_network": table})
    assert drawn.loc[drawn["panel"] == "bcd", "seed"].unique().tolist() == [0]
    assert len(panel(figure, "c").lines) == 3
    assert panel(figure, "a").get_yscale() == "log"


def test_linear_regression_compares_simulation_and_closed_form():
    steps = range(0, 201, 10)
    columns = {"train_loss": 1.0, "l2_norm": lambda seed, step: 1 + np.exp(-0.02 * step)}
    blank = {"dynamics.rate": np.nan, "dynamics.l2": np.nan, "penalties.0.weight": np.nan}
    blank |= {"task.train_points": 4, "task.test_points": 8}
    closed = blank | {"dynamics.rate": 0.1, "dynamics.l2": 0.1, "optimizer.lr": np.nan}
    parts = [
        history((0, 1), steps, **columns, **(blank | {"penalties.0.weight": 0.05}), test_loss=2.2),
        history((0, 1), steps, **columns, **closed, test_loss=2.0),
        history((0, 1), steps, **columns, **(closed | {"dynamics.rate": 0.01}), test_loss=2.0),
    ]
    cases = ("simulation", "closed_form", "flow")
    table = pd.concat(
        [part.assign(case=case) for part, case in zip(parts, cases, strict=True)],
        ignore_index=True,
    )
    figure, drawn = linear_regression.draw({"linear_regression": table})
    difference = drawn[drawn["case"] == "difference"]
    np.testing.assert_allclose(difference["test_loss_difference"], 0.1)
    assert (difference["squared_norm_difference"] == 0).all()
    assert drawn.loc[drawn["case"] == "flow", "time"].max() == pytest.approx(2)
    assert drawn.loc[drawn["case"] == "simulation", "time"].max() == pytest.approx(20)
    assert (drawn["decay"].dropna() == 0.1).all()
    assert (drawn["train_loss"].dropna() == 0.5).all()
    assert drawn["test_loss"].dropna().unique().tolist() == pytest.approx([0.5, 0.55])
    slow = panel(figure, "b")
    assert (slow.get_xscale(), slow.get_yscale()) == ("linear", "log")
    reference = next(line for line in slow.lines if line.get_linestyle() == "--")
    (x0, y0), (x1, y1) = reference.get_xydata()
    assert np.log(y1 / y0) / (x1 - x0) == pytest.approx(-2 * 0.1)


def limit_table(problem_shift=0.0):
    """A flow w = (tau, 3), and regularised runs at a distance of 2 lambda from it."""
    names = ("parameters.w.0", "parameters.w.1")
    flow = history((0, 1), range(0, 111, 10), case="riemannian_flow")
    flow = flow.assign(**{"dynamics.rate": 0.01, "dynamics.fast_steps": 10})
    flow[names[0]] = 0.01 * (flow["step"] - 10)
    flow[names[1]] = 3.0
    parts = [flow]
    for weight in (0.05, 0.005):
        decay = 2 * weight
        steps = [round(tau / decay / 0.1) for tau in (0, 0.05, 0.25, 0.5, 1)]
        part = history((0, 1), steps, case=f"lambda_{weight}")
        part["penalties.0.weight"] = weight
        part[names[0]] = decay * part["step"] * 0.1
        part[names[1]] = 3 + 2 * decay + problem_shift * (part["step"] == steps[1])
        parts.append(part)
    return pd.concat(parts, ignore_index=True)


def test_distances_are_at_equal_slow_times_relative_to_the_start():
    found = _quantities.distances(limit_table())
    assert sorted(found["tau"].unique()) == [0.05, 0.25, 0.5, 1]
    assert sorted(found["lambda"].unique()) == pytest.approx([0.01, 0.1])
    np.testing.assert_allclose(found["distance"], 2 * found["lambda"] / 3, atol=1e-12)


def test_limit_takes_the_largest_distance_after_the_fast_phase():
    tables = {f"limit_{problem}": limit_table(5.0) for problem in limit.PROBLEMS}
    figure, drawn = limit.draw(tables)
    largest = drawn[drawn["series"] == "largest"]
    assert len(largest) == 3 * 2 * 2
    np.testing.assert_allclose(largest["distance"], 2 * largest["lambda"] / 3)
    above = panel(figure, "a")
    assert [text.get_text() for text in above.get_legend().texts] == ["0.01", "0.1"]
    scales = {(axes.get_xscale(), axes.get_yscale()) for axes in figure.axes}
    assert scales == {("linear", "log"), ("log", "log")}


def test_numbers_in_titles_have_few_digits():
    assert [_panels.tidy(value) for value in (0, 1, 0.3333, 28400)] == ["0", "1", "0.33", "28,400"]
