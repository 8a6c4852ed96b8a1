"""Measures on and near the zero-loss set of `geometry`, and the network that starts there."""

import copy
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from grokatlas.components.dynamics.isolated_first_layer import IsolatedFirstLayer
from grokatlas.components.gradients import scale
from grokatlas.components.measures import first_layer_drift, orthogonality, zero_loss_distance
from grokatlas.components.models import fitted_mlp
from grokatlas.engine import dataset
from grokatlas.engine.dataset import Dataset
from tests.runs import addition, data_of, finished, schedule

FIRST, SECOND = first_layer_drift.FIRST, first_layer_drift.SECOND
MSE = {"name": "mse", "reduction": "sample_mean", "half": False}
HYPERBOLA = {
    "task": {"name": "one_sample", "point": [1.0], "target": 1.0, "test_points": 1, "test_seed": 0},
    "model": {"name": "hadamard_product", "depth": 2, "init": 1.0},
    "loss": MSE,
    "ensemble": {"seed": [0]},
    "train": {"dtype": "float64"},
}
ADDITION = addition(5, "summed", pairs="unordered", train_fraction=0.7)
RATE, DECAY = 0.05, 1e-4
NETWORK = {
    "task": ADDITION,
    "model": {"name": "fitted_mlp", "width": 64},
    "loss": MSE,
    "penalties": [{"name": "l2", "squared": True, "weight": DECAY}],
    "gradients": [{"name": "scale", "parameter": FIRST}],
    "optimizer": {"name": "gd", "lr": RATE},
    "dynamics": {"name": "gradient_training"},
    "observables": [{"name": "losses"}],
    "ensemble": {"gradients.0.factor": [1.0, 0.01], "model.excess": [0.0, 1.0], "seed": [0]},
    "train": schedule(1001, every=500, snapshots=[0, 1, 100, 1000, 1001]),
}


def _finished(spec, snapshots):
    return SimpleNamespace(spec=spec, data=data_of(spec), snapshots=snapshots, history=None)


def _on_hyperbola(*points):
    snapshots = {step: {"factors": np.array([[point]]).swapaxes(1, 2)} for step, point in points}
    return orthogonality.build(corrections=50)(_finished(HYPERBOLA, snapshots)).set_index("step")


@pytest.fixture(scope="module")
def trained():
    return finished(NETWORK)


@pytest.fixture(scope="module")
def arrays():
    """X ``[N, D]`` and one-hot Y ``[N, C]``."""
    data = dataset.make([ADDITION])
    return data.train_inputs, np.eye(5)[data.train_targets]


@pytest.mark.parametrize("distance", [1e-6, -1e-3, 0.2])
def test_cosine_and_bound_on_the_hyperbola_are_the_closed_form(distance):
    nearest = np.array([2.5, 0.4])
    normal = nearest[::-1] / np.linalg.norm(nearest)
    point = nearest + distance * normal
    row = _on_hyperbola((7, point)).loc[7]
    expected = abs(distance) * (2.5**2 - 0.4**2) / (2.5**2 + 0.4**2) / np.linalg.norm(point)
    assert row["distance"] == pytest.approx(abs(distance), rel=1e-5)
    assert row["cosine"] == pytest.approx(expected, rel=1e-5)
    assert row["bound"] == pytest.approx(abs(distance) / np.linalg.norm(point), rel=1e-5)
    assert row["lipschitz"] == pytest.approx(1, rel=1e-6)
    assert row["singular_value"] == pytest.approx(np.linalg.norm(point))
    assert row["residual"] == pytest.approx(abs(point.prod() - 1))
    assert row["available"] == 1


def test_a_point_of_the_set_has_no_direction_of_the_gradient():
    rows = _on_hyperbola((0, [2.0, 0.5]), (3, [2.0, 0.6]))
    assert np.isnan(rows.loc[0, "cosine"])
    assert rows.loc[0, "residual"] == 0
    assert rows.loc[3, "cosine"] > 0


def test_the_gradient_of_a_trained_network_keeps_the_bound(trained, arrays):
    found = orthogonality.build(corrections=20)(trained)
    found = found[found["step"] > 0].dropna()
    assert len(found) >= 12
    assert (found["cosine"] <= found["bound"]).all()
    assert (found["cosine"] > found["bound"] / 100).all()
    assert found["lipschitz"].max() <= np.linalg.norm(arrays[0], 2)  # no kink in between
    assert found["available"].unique() == [2 * 5 * 64 - 10 * 5]


def _distance(*points):
    snapshots = {step: {"factors": np.array([[point]]).swapaxes(1, 2)} for step, point in points}
    return zero_loss_distance.build(corrections=50)(_finished(HYPERBOLA, snapshots))


def test_the_distance_is_that_of_the_nearest_point():
    nearest = np.array([2.5, 0.4])
    normal = nearest[::-1] / np.linalg.norm(nearest)
    row = _distance((7, nearest + 0.1 * normal)).iloc[0]
    assert (row["distance"], row["nearest"]) == (pytest.approx(0.1, rel=1e-6), 1)


def test_where_the_nearest_point_does_not_settle_the_distance_is_of_another_one():
    rows = _distance((0, [2.0, 0.5]), (1, [0.1, 0.1])).set_index("step")
    assert rows.loc[0, ["distance", "nearest"]].tolist() == [pytest.approx(0, abs=1e-14), 0]
    far = np.hypot(0.9, 0.9)  # (1, 1) is the nearest point
    assert rows.loc[1, "distance"] >= far - 1e-9


@pytest.mark.parametrize("measure", [orthogonality, zero_loss_distance])
def test_distances_are_of_squared_error(measure):
    spec = HYPERBOLA | {"loss": {"name": "cross_entropy"}}
    with pytest.raises(ValueError, match="needs loss mse"):
        measure.build(corrections=5)(_finished(spec, {}))


def test_a_step_of_equation_21_is_the_isolated_drift(trained, arrays):
    rate = 2 * RATE * DECAY
    start = {key: torch.from_numpy(trained.snapshots[0][key][:1]) for key in (FIRST, SECOND)}
    batch = trained.data.train_inputs, trained.data.train_targets
    moved = IsolatedFirstLayer(rate).update(
        {FIRST: start[FIRST][0]}, tuple(map(torch.from_numpy, batch))
    )
    spec = copy.deepcopy(NETWORK)
    spec["ensemble"] = {"gradients.0.factor": [1.0], "model.excess": [0.0], "seed": [0]}
    after = {FIRST: moved[FIRST][None].numpy(), SECOND: start[SECOND].numpy()}
    before = {key: value.numpy() for key, value in start.items()}
    found = first_layer_drift.build(span=1)(_finished(spec, {4: before, 5: after}))
    found = found.set_index("prediction")
    assert found.loc["isolated", ["difference", "pull_difference"]].max() < 1e-6
    assert found.loc["isolated", "cosine"] == pytest.approx(1)
    assert found.loc["joint", "pull_difference"] > 0.1
    assert found["slow_time"].unique() == [4 * rate]
    assert found["excess"].max() < 1e-10
    assert found["kinked"].unique() == [0]


@pytest.mark.parametrize("ratio", [1.0, 7.0])
def test_the_joint_pull_is_the_projection_of_the_decay(arrays, ratio):
    random = np.random.RandomState(0)
    inputs = arrays[0]
    first, second = (torch.from_numpy(random.standard_normal(s)) for s in ((5, 20), (20, 3)))

    def outputs(first, second):
        return (torch.relu(torch.from_numpy(inputs) @ first) @ second).flatten()

    parts = torch.func.jacrev(outputs, argnums=(0, 1))(first, second)
    jacobian = torch.cat([part.flatten(1) for part in parts], 1)
    rates = torch.cat([torch.ones(first.numel()), torch.full((second.numel(),), ratio)]).double()
    point = torch.cat([first.flatten(), second.flatten()])
    wanted = jacobian @ (rates * point)
    multiplier = torch.linalg.solve((jacobian * rates) @ jacobian.T, wanted)
    expected = (jacobian.T @ multiplier)[: first.numel()].view_as(first)
    found = first_layer_drift.joint_pull(inputs, first.numpy(), second.numpy(), ratio)
    np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-10)


def test_trained_networks_drift_as_both_layers_do_and_as_equation_21_if_one_is_faster(trained):
    found = first_layer_drift.build(span=1)(trained)
    assert sorted(found["step"].unique()) == [0, 1000]
    late = found[found["step"] == 1000].set_index(["member", "prediction"])
    for member in range(4):  # rates 1, 1, 0.01, 0.01 of E; excess 0, 1, 0, 1
        assert late.loc[(member, "joint"), "difference"] < 5e-3
        assert late.loc[(member, "isolated"), "cosine"] > 0.9
    assert late.loc[(0, "isolated"), "difference"] > 0.05
    assert late.loc[(2, "isolated"), "difference"] < 0.02
    assert late.loc[(3, "isolated"), "difference"] > 0.05
    assert late.loc[(2, "isolated"), "excess"] < 0.01
    assert late.loc[(3, "isolated"), "excess"] > 0.5


@pytest.mark.parametrize(
    "changes",
    [
        {"optimizer": {"name": "adam", "lr": 0.1}},
        {"penalties": [{"name": "l1", "weight": 0.1}]},
        {"penalties": []},
        {"gradients": [{"name": "clip_norm", "max_norm": 1.0}]},
        {"updates": [{"name": "norm_cap", "max_norm": 1.0, "parameters": ["*"]}]},
        {"model": {"name": "mlp", "output_scale": 2.0}},
    ],
)
def test_the_drift_of_another_descent_is_refused(changes):
    with pytest.raises(ValueError, match="first_layer_drift needs loss mse"):
        first_layer_drift.build(span=1)(_finished(NETWORK | changes, {}))


def _built(excess, width=64, **data):
    made = dataset.make([ADDITION])
    data = Dataset(**vars(made) | data)
    generator = torch.Generator().manual_seed(3)
    model = fitted_mlp.build(data=data, generator=generator, width=width, excess=excess)
    return [layer.weight.detach().numpy().T for layer in model.layers]


def test_a_fitted_network_starts_on_the_zero_loss_set(arrays):
    inputs, targets = arrays
    (first, least), (same, drawn) = _built(0.0), _built(1.0)
    np.testing.assert_array_equal(first, same)
    hidden = np.maximum(inputs @ first, 0)
    for second in (least, drawn):
        np.testing.assert_allclose(hidden @ second, targets, atol=1e-12)
    np.testing.assert_allclose(least, np.linalg.pinv(hidden) @ targets, atol=1e-12)
    assert np.linalg.norm(drawn) > 1.05 * np.linalg.norm(least)
    half = _built(0.5)[1]
    np.testing.assert_allclose(half, (least + drawn) / 2, atol=1e-12)


def test_a_fitted_network_needs_units_enough_and_one_training_set(arrays):
    with pytest.raises(ValueError, match=r"width 9 is not allowed: .* 10 training samples"):
        _built(0.0, width=9)
    with pytest.raises(ValueError, match="one training set"):
        _built(0.0, per_member=True)


def test_scale_is_a_step_size_of_its_own():
    params = {"a": torch.ones(2), "b": torch.ones(3)}
    link = scale.build(parameter="b", factor=0.25)
    changed, _ = link.update(params, params, link.init(params))
    assert changed["a"].tolist() == [1, 1]
    assert changed["b"].tolist() == [0.25] * 3
    assert params["b"].tolist() == [1, 1, 1]
    with pytest.raises(ValueError, match="no parameter 'c' to scale; one of a, b"):
        scale.build(parameter="c", factor=0.25).init(params)
