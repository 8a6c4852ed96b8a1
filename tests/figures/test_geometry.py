"""The figures of `geometry` on synthetic tables, compared as data."""

import numpy as np
import pandas as pd
import pytest

from grokatlas.papers.geometry import (
    fig1,
    fig2,
    fig3,
    fig4,
    isolation,
    orthogonality,
    ridge,
    theorem,
)


def history(members: int, steps: int, weights: int, prefix: str = "weight") -> pd.DataFrame:
    """Rows of a toy's history with made-up, recognisable values."""
    rows = []
    for member in range(members):
        for step in range(steps):
            row = {"record": "history", "member": member, "step": step}
            row |= {f"parameters.{prefix}.{k}": member + step / 10 + k for k in range(weights)}
            rows.append(row | {"train_loss": 10.0**-step, "test_loss": 2.0**-step})
    return pd.DataFrame(rows)


def test_fig1_draws_every_decay_and_returns_the_rows():
    table = history(3, 5, 2)
    table["penalties.0.weight"] = table["member"].map({0: 0.2, 1: 0.01, 2: 0.1})
    figure, drawn = fig1.draw({"two_weights": table})
    plane, _, train, test = figure.axes
    assert [axes.get_xscale() for axes in (train, test)] == ["log", "log"]
    assert [axes.get_yscale() for axes in (train, test)] == ["log", "log"]
    assert [text.get_text() for text in plane.get_legend().texts] == [
        "$\\lambda$ = 0.01",
        "$\\lambda$ = 0.1",
        "$\\lambda$ = 0.2",
    ]
    assert len(train.lines) == 3
    np.testing.assert_allclose(train.lines[0].get_ydata(), [0.1, 0.01, 0.001, 0.0001])
    assert len(drawn) == len(table)
    line = plane.lines[0].get_xydata()
    np.testing.assert_allclose(line.sum(axis=1), 2)


def test_the_disc_of_fig2_lies_in_the_zero_loss_plane_around_the_solution():
    coordinates = np.stack(fig2.disc(2.0))
    np.testing.assert_allclose(coordinates.sum(axis=0), 3)
    distance = np.linalg.norm(coordinates - 1, axis=0)
    np.testing.assert_allclose(distance.max(axis=1), 2)


def test_fig2_draws_four_trajectories():
    figure, drawn = fig2.draw({"three_weights": history(4, 5, 3)})
    axes = figure.axes[0]
    assert len([line for line in axes.lines if len(line.get_data_3d()[0]) == 5]) == 4
    assert drawn["member"].nunique() == 4


def test_fig3_has_a_panel_for_each_case_with_its_own_weights():
    curved = history(5, 4, 2, "factors").assign(case="curved")
    singular = history(6, 4, 2, "factors").assign(case="singular")
    leaky = history(6, 4, 2, "weight").assign(case="leaky_relu")
    table = pd.concat([curved, singular, leaky], ignore_index=True)
    figure, drawn = fig3.draw({"zero_loss_sets": table})
    assert len(figure.axes) == 3
    assert drawn.groupby("case").size().to_dict() == {
        "curved": 20,
        "leaky_relu": 24,
        "singular": 24,
    }
    assert drawn[["w1", "w2"]].notna().all(axis=None)
    for axes, members in zip(figure.axes, (5, 6, 6), strict=True):
        paths = [line for line in axes.lines if len(line.get_xdata()) == 4]
        assert len(paths) == members


@pytest.fixture
def isolated() -> pd.DataFrame:
    rows = []
    for case, seed in (("own_split", 0), ("own_split", 1), ("one_split", 0), ("one_split", 1)):
        for step in (0, 10, 20):
            row = {"record": "history", "case": case, "seed": seed, "step": step}
            row |= {"task.modulus": 5, "train_accuracy": 1.0, "train_loss": 1e-20}
            rows.append(row | {"test_accuracy": step / (20 if case == "own_split" else 40)})
        for step in (0, 20):
            for feature in range(4):
                for other in range(4):
                    same = float(feature == other)
                    row = {"record": "fourier_features", "case": case, "seed": seed, "step": step}
                    row |= {"feature": feature, "other": other, "norm": 1.0 + seed + step}
                    rows.append(row | {"cosine": same, "absolute_cosine": 0.6 * (1 - same) + same})
    return pd.DataFrame(rows)


def test_fig4_shows_every_run_and_two_pairs_of_matrices(isolated):
    figure, drawn = fig4.draw({"isolated_dynamics": isolated})
    accuracy, norms, *matrices = figure.axes
    runs = [line for line in accuracy.lines if len(line.get_xdata()) == 3]
    solid = [line for line in runs if line.get_linestyle() == "-"]
    assert len(runs) == 4
    assert len(solid) == 2
    np.testing.assert_allclose(solid[0].get_ydata(), [0, 0.5, 1])
    assert len(norms.lines) == 4
    images = [axes.images[0].get_array() for axes in matrices if axes.images]
    assert len(images) == 4
    np.testing.assert_allclose(images[0], np.eye(4))
    np.testing.assert_allclose(images[2], 0.6 + 0.4 * np.eye(4))
    assert drawn.groupby("record").size().to_dict() == {"fourier_features": 64, "history": 12}


def test_orthogonality_draws_the_points_that_were_found_and_counts_the_others():
    rows = []
    for case in ("hyperbola", "relu_network"):
        for decay in (1e-4, 1e-2):
            for step in (0, 1, 10):
                found = step > 0 and not (case == "relu_network" and decay == 1e-2 and step == 10)
                row = {"record": "orthogonality", "case": case, "seed": 0, "step": step}
                row |= {"penalties.0.weight": decay, "residual": 0.1, "available": 3}
                row |= {"lipschitz": 1.0, "singular_value": 2.0}
                distance = decay * step if found else np.nan
                row |= {"distance": distance, "cosine": distance / 4, "bound": distance / 2}
                rows.append(row)
    figure, drawn = orthogonality.draw({"orthogonality": pd.DataFrame(rows)})
    hyperbola, network = figure.axes
    for axes in (hyperbola, network):
        assert (axes.get_xscale(), axes.get_yscale()) == ("log", "log")
    points = [line for line in hyperbola.lines if line.get_marker() == "o"]
    np.testing.assert_allclose(points[1].get_xdata(), [0.01, 0.1])
    np.testing.assert_allclose(points[1].get_ydata(), [0.0025, 0.025])
    (bound,) = [line for line in network.lines if line.get_marker() == "_"]
    np.testing.assert_allclose(bound.get_ydata(), np.array([1e-4, 1e-3, 1e-2]) / 2)
    assert not hyperbola.texts
    assert network.texts[0].get_text().startswith("1 of 4 points left out")
    assert len(drawn) == len(rows)


@pytest.fixture
def drifts() -> pd.DataFrame:
    rows = []
    for decay in (1e-3, 1e-2):
        for step in (2, 20, 200):
            for factor, excess in ((0.01, 0.0), (1.0, 1.0), (1.0, 0.0)):
                for seed in (0, 1):
                    for prediction in ("isolated", "joint"):
                        row = {"record": "first_layer_drift", "seed": seed, "step": step}
                        row |= {"penalties.0.weight": decay, "gradients.0.factor": factor}
                        row |= {"model.excess": excess, "slow_time": 0.1 * decay * step}
                        row |= {"prediction": prediction, "cosine": 0.9, "pull_cosine": 0.8}
                        row |= {"difference": decay * (1 + seed), "pull_difference": factor}
                        rows.append(row | {"excess": excess, "kinked": 0.0})
    return pd.DataFrame(rows)


def test_isolation_compares_at_the_last_slow_time_that_all_reached(drifts):
    assert isolation.last_common(drifts.round({"slow_time": 9})) == pytest.approx(0.02)
    assert isolation.variants(drifts) == [(1.0, 0.0), (1.0, 1.0), (0.01, 0.0)]
    figure, drawn = isolation.draw({"isolation": drifts})
    assert len(drawn) == len(drifts)
    cosine, difference, time, pull_cosine, pull_difference, _ = figure.axes
    assert cosine.get_title(loc="left") == "a  drift at slow time 0.02"
    curves = [line for line in difference.lines if len(line.get_xdata()) == 2]
    assert len(curves) == 12  # three variants, two predictions, two seeds
    np.testing.assert_allclose(curves[0].get_xdata(), [1e-3, 1e-2])
    np.testing.assert_allclose(curves[0].get_ydata(), [1e-3, 1e-2])
    np.testing.assert_allclose(curves[1].get_ydata(), [2e-3, 2e-2])
    fastest = [line for line in pull_difference.lines if len(line.get_xdata()) == 2][8:]
    np.testing.assert_allclose(fastest[0].get_ydata(), [0.01, 0.01])
    np.testing.assert_allclose(pull_cosine.lines[0].get_ydata(), 0.8)
    slow = [line for line in time.lines if len(line.get_xdata()) == 3]
    assert len(slow) == 8  # two weight decays, two predictions, two seeds
    np.testing.assert_allclose(slow[0].get_xdata(), [2e-4, 2e-3, 2e-2])
    assert [line.get_linestyle() for line in slow[:4:2]] == ["-", ":"]


def test_isolation_without_a_common_slow_time_draws_no_curve_against_weight_decay(drifts):
    apart = drifts.assign(slow_time=drifts["slow_time"] + drifts["penalties.0.weight"])
    figure, _ = isolation.draw({"isolation": apart})
    assert not [line for line in figure.axes[1].lines if len(line.get_xdata())]


def test_theorem_draws_the_largest_loss_and_distance_of_each_trajectory():
    rows = []
    for case, column in (("hyperbola", "dynamics"), ("relu_network", "penalties")):
        name = "dynamics.weight_decay" if column == "dynamics" else "penalties.0.weight"
        for member, decay in enumerate((1e-4, 1e-2)):
            shared = {"case": case, "run": case, "member": member, "seed": 0, name: decay}
            shared |= {"model.init.0": 2.0, "model.init.1": 0.5} if case == "hyperbola" else {}
            for step, height in ((0, 0.0), (1, 3.0), (2, 1.0)):
                row = {"record": "history", "step": step, "l2_norm": 2.0 + step}
                rows.append(shared | row | {"train_loss": height * decay})
            for step, height in ((1, 5.0), (2, 7.0)):
                row = {"record": "zero_loss_distance", "step": step, "distance": height * decay}
                rows.append(shared | row | {"nearest": float(decay == 1e-4 or step == 1)})
    figure, drawn = theorem.draw({"theorem": pd.DataFrame(rows)})
    np.testing.assert_allclose(drawn["loss"], 3 * drawn["weight_decay"])
    np.testing.assert_allclose(drawn["bound"], 4 * drawn["weight_decay"])
    np.testing.assert_allclose(drawn["distance"], 7 * drawn["weight_decay"])
    assert drawn["nearest"].tolist() == [1, 0, 1, 0]
    distances = figure.axes[0]
    marks = [line for line in distances.lines if line.get_marker() == "o"]
    assert [len(line.get_xdata()) for line in marks] == [1, 1]
    assert marks[1].get_markerfacecolor() == "white"
    assert not [line for line in figure.axes[2].lines if line.get_markerfacecolor() == "white"]
    dashed = [line for line in figure.axes[2].lines if line.get_linestyle() == "--"]
    np.testing.assert_allclose(dashed[0].get_ydata(), [4e-4, 4e-2])


def test_ridge_draws_slow_time_and_the_ratio_to_equation_21():
    rows = []
    cells = [("zero_loss", np.nan, 1.0), ("ridge", 1e-4, 1.0), ("ridge", 1e-2, 2.0)]
    cells += [("training", np.nan, 3.0)]
    for case, decay, onset in cells:
        for step in (0, 100, 200, 300, 400):
            row = {"record": "history", "case": case, "seed": 0, "step": step, "train_loss": 0.1}
            row |= {"dynamics.weight_decay": decay, "penalties.0.weight": 1e-2}
            row |= {"dynamics.rate": 0.01, "optimizer.lr": 0.5}
            rows.append(row | {"test_accuracy": float(step >= 100 * onset)})
    figure, drawn = ridge.draw({"ridge": pd.DataFrame(rows)})
    equations, training, times = figure.axes
    assert drawn["slow_time"].max() == pytest.approx(4)
    named = [text.get_text() for text in figure.legends[0].texts]
    assert named == ["eq. 21", "$\\lambda$ = 0.0001", "$\\lambda$ = 0.01"]
    assert [line.get_linestyle() for line in equations.lines] == ["-", "-", "-"]
    assert [line.get_linestyle() for line in training.lines] == ["-", "--", "-"]
    np.testing.assert_allclose(times.lines[0].get_ydata(), [1, 2])
    np.testing.assert_allclose(times.lines[1].get_ydata(), [3])
