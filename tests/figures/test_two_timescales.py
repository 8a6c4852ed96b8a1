"""The figures of `two_timescales` on synthetic tables, compared as data."""

import numpy as np
import pandas as pd
import pytest

from grokatlas.papers.two_timescales import (
    _panels,
    _quantities,
    _theory,
    fig1,
    fig2,
    fig3,
    fig4,
    limit,
    linear_regression,
    theory,
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


DIGITISED_POINTS = [
    {"panel": panel, "curve": curve, "x": x, "y": y}
    for panel, curve, x, y in (
        ("losses", "squared norm", 2000.1, 8.5),
        ("losses", "test", 1.1, 7.0),
        ("losses", "test", 0.1, 9.0),
        ("singular values", "sigma 1", 1.1, 4.5),
    )
]


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
            if weight:
                best = {"record": "convex_minimiser", "seed": seed, "penalties.0.weight": weight}
                best |= {"distance": 0.01 if seed else 0.5, "test_distance": 0.1, "gap": 0.0}
                ends.append(best | {"minimiser_norm": 5.0, "minimiser_error": 0.3 if seed else 0})
        tables.append(pd.DataFrame(ends))
    return pd.concat(tables, ignore_index=True)


def test_fig2_draws_means_of_squares_of_the_selected_instance(completion):
    figure, drawn = fig2.draw({"matrix_completion": completion}, DIGITISED_POINTS)
    a = drawn[(drawn["panel"] == "a") & drawn["regularised"]]
    assert a["seed"].unique().tolist() == [7]
    assert a["test_mse"].tolist() == [8.0] * 4
    assert a["train_mse"].tolist() == pytest.approx([1 / 2, 1 / 11, 1 / 101, 1 / 1001])
    assert a["time"].tolist() == pytest.approx([0.1, 1, 10, 100])
    losses = panel(figure, "a")
    assert (losses.get_xscale(), losses.get_yscale()) == ("log", "log")
    assert {line.get_linestyle() for line in losses.lines} == {"-", ":", "None"}  # and marks
    norm = twin_of(figure, losses)
    assert {tuple(line.get_ydata()) for line in norm.lines} == {(9.0,) * 4, (8.5,)}
    assert "published" in {text.get_text() for text in figure.legends[0].texts}
    assert losses.get_xlim()[1] > 2000  # as long as the published curve
    assert "7 (selected)" in losses.get_title(loc="left")


def test_fig2_counts_the_instances_that_recover_every_true_value(completion):
    figure, drawn = fig2.draw({"matrix_completion": completion}, DIGITISED_POINTS)
    title = panel(figure, "c").get_title("left")
    assert "1 of 2 end within 2% of the interpolator, 1 of 2 of the truth" in title
    marks = {line.get_marker(): line for line in panel(figure, "c").lines}
    assert marks["_"].get_xydata().tolist() == [[1, pytest.approx(0.3)]]
    assert marks["v"].get_xdata().tolist() == [0]
    assert marks["v"].get_ydata()[0] > panel(figure, "c").get_ylim()[0]
    texts = {text.get_text() for text in panel(figure, "b").texts}
    assert texts == {"5.00"}
    ends = drawn[(drawn["panel"] == "c") & drawn["test_mse"].notna()]
    assert len(ends) == 4
    marked = drawn[drawn["series"] == "published sigma 1"]
    assert marked[["time", "value"]].to_numpy() == pytest.approx(np.array([[1, 4.5]]))


def test_without_digitised_points_nothing_is_called_published(completion):
    figure, _ = fig2.draw({"matrix_completion": completion}, [])
    assert "published" not in {text.get_text() for text in figure.legends[0].texts}
    assert panel(figure, "a").get_xlim()[1] == pytest.approx(100)


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
    figure, drawn = fig3.draw({"two_layer_relu": table}, DIGITISED_POINTS)
    losses = panel(figure, "a")
    assert losses.get_xscale() == "log"
    assert losses.get_yscale() == "linear"
    assert losses.get_ylim() == (0, 2)
    rows = drawn[drawn["series"] == "squared_norm"]
    assert (rows["value"] == 9).all()
    assert (rows["high"] == 25).all()
    assert (rows["low"] == 9).all()
    assert (rows["seeds"] == 3).all()
    marked = drawn[drawn["series"] == "published test"]
    assert marked[["time", "value"]].to_numpy() == pytest.approx(np.array([[1, 7]]))
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
    least = {"record": "convex_minimiser", "seed": [0, 1], "minimiser.0": 0.5}
    least |= {"minimiser.1": [2**0.5, 7.0], "minimiser.2": 0.0}
    parts = [table, curves((0, 1), shared=False), pd.DataFrame(least)]
    table = pd.concat(parts, ignore_index=True)
    figure, drawn = fig4.draw({"diagonal_network": table})
    assert drawn.loc[drawn["panel"] == "bcd", "seed"].unique().tolist() == [0]
    assert len(panel(figure, "c").lines) == 3
    assert panel(figure, "a").get_yscale() == "log"
    last = panel(figure, "d").lines[-1]
    np.testing.assert_allclose(last.get_ydata(), 0.5 + 2 * np.cos(last.get_xdata()))


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


def flows(decays=(0.0, 0.01, 0.1), shift=2.0, rate=0.5):
    """w = 3 + exp(-rate t) - shift lambda t: nearest to 3 at a time as log(1 / lambda)."""
    steps = [0, *np.unique(np.geomspace(1, 1000, 200).astype(int))]
    parts = []
    for decay in decays:
        part = history((0, 1), steps, case="fast", **{"penalties.0.weight": decay / 2})
        time = part["step"] * 0.1
        part["parameters.w.0"] = 3 + np.exp(-rate * time) - shift * decay * np.minimum(time, 50)
        parts.append(part)
    ends = [
        {"record": "kkt_residual", "case": "slow", "penalties.0.weight": 0.05, "seed": seed}
        | {"optimizer.lr": 0.1, "step": step, "tangential_share": 1 / step, "constraint": 0.2}
        for seed in (0, 1)
        for step in (10, 1000)
    ]
    return pd.concat([*parts, pd.DataFrame(ends)], ignore_index=True)


def test_departures_are_the_largest_up_to_the_horizon():
    found = _theory.departures(flows(), 10.0).set_index(["lambda", "seed"])["departure"]
    assert len(found) == 4
    np.testing.assert_allclose(found.loc[0.01], 2 * 0.01 * 10 / 4, rtol=0.05)
    np.testing.assert_allclose(found.loc[0.1] / found.loc[0.01], 10)


def test_a_junction_is_where_the_limit_is_nearest_and_not_told_late_in_a_run():
    found = _theory.junctions(flows())
    early = found[found["lambda"] == 0.1]["junction"]
    # the flow passes 3 where exp(-t / 2) = 0.2 t
    np.testing.assert_allclose(early, 1.92, rtol=0.05)
    slow = _theory.junctions(flows(decays=(0.0, 1e-9), rate=0.01))
    assert slow["junction"].isna().all()


def test_theory_has_a_line_for_each_seed_and_problem():
    table = pd.concat([flows()], ignore_index=True)
    control = pd.concat(
        [history((0, 1), **LOSSES, **{"penalties.0.weight": weight}) for weight in (0.0, 1e-3)]
    )
    small = pd.concat(
        [history((0, 1), **LOSSES, **{"model.init_variance": each}) for each in (1e-8, 0.1)]
    )
    small["train_loss"] = np.where(small["step"] >= 100, 1e-4, 1.0)
    tables = {f"theory_{problem}": table for problem in theory.PROBLEMS}
    tables |= dict.fromkeys(["control_two_layer_relu", "control_diagonal_network"], control)
    figure, drawn = theory.draw(tables | {"small_initialisation": small})
    assert len(panel(figure, "a").lines) == 3 * 2 + 1
    assert len(panel(figure, "b").lines) == 3 * 2
    assert len(panel(figure, "c").lines) == 3 * 2
    residuals = drawn[(drawn["panel"] == "c") & (drawn["problem"] == "two_layer_relu")]
    assert sorted(residuals["tau"].unique()) == pytest.approx([0.1, 10])
    d = drawn[drawn["panel"] == "d"]
    assert d.groupby("regularised")["time"].count().tolist() == [4, 4]
    f = drawn[drawn["panel"] == "f"]
    assert f["fitted"].unique().tolist() == pytest.approx([10])
    assert f["test_loss"].tolist() == [2, 3, 2, 3]


def test_numbers_in_titles_have_few_digits():
    assert [_panels.tidy(value) for value in (0, 1, 0.3333, 28400)] == ["0", "1", "0.33", "28,400"]
