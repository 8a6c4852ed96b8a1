"""Measures that rebuild the networks of a run from its snapshots."""

import copy
import json
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from grokatlas import registry
from grokatlas.components.measures import (
    centroid_images,
    jacobian_rows,
    predictor_curve,
    robust_accuracy,
)
from grokatlas.engine import dataset, members
from grokatlas.engine.ensemble import generators
from grokatlas.engine.rebuilt import network, restored
from grokatlas.engine.run import Run
from tests.runs import addition, finished, mlp, schedule

CPU = torch.device("cpu")
ADDITION = addition()
MLP = mlp(12, 2, output_scale=2.0)
SPEC = {
    "task": ADDITION,
    "model": MLP,
    "loss": {"name": "cross_entropy"},
    "optimizer": {"name": "adam", "lr": 0.03, "beta1": 0.9, "beta2": 0.999, "eps": 1e-8},
    "dynamics": {"name": "gradient_training"},
    "observables": [{"name": "accuracies"}, {"name": "losses"}],
    "ensemble": {"seed": [4, 1]},
    "train": schedule(30, every=10, snapshots=[0, 10, 30]),
}


def _run(**changes):
    return finished(copy.deepcopy(SPEC) | changes)


@pytest.fixture(scope="module")
def run():
    return _run()


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("split_seed", [0, "member"])
def test_restored_members_have_the_losses_that_were_logged(dtype, split_seed):
    ensemble = {"model.output_scale": [2.0, 0.5], "seed": [4, 1]}
    train = SPEC["train"] | {"dtype": dtype}
    task = ADDITION | {"split_seed": split_seed}
    run = _run(ensemble=ensemble, train=train, task=task)
    history, seen = run.history, []
    for one in restored(run):
        row = (history["member"] == one.member) & (history["step"] == one.step)
        for part in ("train", "test"):
            outputs = one.outputs(one.data[f"{part}_inputs"])
            assert str(outputs.dtype) == f"torch.{dtype}"
            loss = torch.nn.functional.cross_entropy(outputs, one.data[f"{part}_targets"])
            assert float(loss) == pytest.approx(history[f"{part}_loss"][row].item(), rel=1e-5)
        seen.append((one.step, one.member, one.seed))
    assert seen == [(s, k, [4, 1, 4, 1][k]) for s in (0, 10, 30) for k in range(4)]


class _Fixed(torch.nn.Module):
    """A trained weight beside a drawn one that is not trained."""

    def __init__(self, generator):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.randn(3, generator=generator, dtype=torch.float64))
        fixed = torch.randn(3, generator=generator, dtype=torch.float64)
        self.register_buffer("fixed", fixed)

    def forward(self, inputs):
        return inputs[:, 0]


def test_drawn_buffers_are_those_of_training(monkeypatch):
    spec = copy.deepcopy(SPEC)
    data = dataset.make([ADDITION])
    module = SimpleNamespace(build=lambda *, data, generator, **_: _Fixed(generator))
    real = registry.load

    def load(block, name):
        return module if block == "model" else real(block, name)

    monkeypatch.setattr("grokatlas.registry.load", load)
    trained = Run(spec, data, CPU).constants["fixed"]
    for place, (member, generator) in enumerate(
        zip(members.of(spec), generators([4, 1]), strict=True)
    ):
        again = network(spec, data, member, generator).constants["fixed"]
        assert torch.equal(again, trained[place])


def test_jacobian_rows_are_cosines_written_out(run):
    found = jacobian_rows.build(samples=4)(run)
    assert len(found) == 6
    for one, row in zip(restored(run), found.itertuples(), strict=True):
        assert (row.member, row.step) == (one.member, one.step)
        cosines = []
        for x in one.data["train_inputs"][:4]:
            jacobian = torch.func.jacrev(lambda z, one=one: one.outputs(z[None])[0])(x).flatten(1)
            similar = torch.nn.functional.cosine_similarity(jacobian, x.flatten()[None])
            cosines.append([float(similar.min()), float(similar.max())])
        expected = np.mean(cosines, axis=0)
        assert [row.row_alignment_min, row.row_alignment_max] == pytest.approx(expected)
        assert row.others_over_own == pytest.approx(_others_over_own(one, 4))


def _others_over_own(one, samples):
    own, others = [], []
    for x, label in zip(
        one.data["train_inputs"][:samples], one.data["train_targets"], strict=False
    ):
        jacobian = torch.func.jacrev(lambda z: one.outputs(z[None])[0])(x).flatten(1)
        for c, product in enumerate(jacobian @ x.flatten()):
            (own if c == label else others).append(float(product))
    return np.mean(others) / np.mean(own)


def test_theorem_2_of_a_network_of_one_output_is_not_a_number():
    run = _run(task=ONE_INPUT, loss=MSE, observables=[{"name": "losses"}])
    assert jacobian_rows.build(samples=4)(run)["others_over_own"].isna().all()


ONE_INPUT = {
    "name": "one_sample",
    "point": [1.0],
    "target": 2.0,
    "test_points": 9,
    "test_seed": 0,
}
MSE = {"name": "mse", "reduction": "sample_mean", "half": False}


def test_curve_is_sorted_and_is_the_network():
    run = _run(task=ONE_INPUT, loss=MSE, observables=[{"name": "losses"}])
    found = predictor_curve.build()(run)
    for one in restored(run):
        rows = found[(found["member"] == one.member) & (found["step"] == one.step)]
        assert rows.loc[rows["part"] == "train", ["input", "target"]].values.tolist() == [[1, 2]]
        part = rows[rows["part"] == "test"]
        assert part["input"].tolist() == sorted(run.data.test_inputs[:, 0])
        inputs = torch.tensor(part["input"].to_numpy())[:, None]
        np.testing.assert_allclose(part["output"], one.outputs(inputs)[:, 0].detach())
        np.testing.assert_allclose(part["target"], 2 * part["input"])


def test_a_curve_of_features_is_against_their_variable():
    task = {"name": "fourier_regression", "frequencies": 3, "data_seed": "member"}
    task |= {"cosine_frequencies": [2], "cosine_coefficients": [1.5]}
    task |= {"sine_frequencies": [1], "sine_coefficients": [-0.5]}
    task |= {"train_points": 4, "test_points": 12}
    model = {"name": "diagonal_linear", "init_variance": 0.1}
    run = _run(task=task, model=model, loss=MSE, observables=[{"name": "losses"}])
    found = predictor_curve.build()(run)
    wave = 2**0.5 * (1.5 * np.cos(2 * found["input"]) - 0.5 * np.sin(found["input"]))
    np.testing.assert_allclose(found["target"], wave, atol=1e-12)
    last = found[(found["member"] == 1) & (found["step"] == 30) & (found["part"] == "train")]
    order = np.argsort(run.data.extras["train_positions"][1])
    weights = run.snapshots[30]["u"][1] * run.snapshots[30]["v"][1]
    np.testing.assert_allclose(last["output"], run.data.train_inputs[1][order] @ weights)


def test_a_curve_needs_one_coordinate(run):
    with pytest.raises(ValueError, match="one coordinate"):
        predictor_curve.build()(run)


EPSILON = 0.06
ATTACK = {
    "epsilon": EPSILON,
    "iterations": 20,
    "restarts": 1,
    "points": 400,
    "attack_seed": 0,
    "inputs": "pixels",
    "attacked": "pixels",
    "pixel_mean": None,
    "pixel_std": None,
}
MEAN, STD = [0.4], [0.25]


def _linear(inputs, labels, scale=1.0, shift=0.0):
    """A finished run of a linear classifier of two classes, as a function of (x - shift)/scale."""
    weight = np.random.default_rng(3).standard_normal((2, 12))
    spec = copy.deepcopy(SPEC)
    spec["model"] = MLP | {"hidden_layers": 1, "width": 12, "bias": True, "output_scale": 1.0}
    spec["ensemble"] = {"seed": [0]}
    # relu(z + 100) - 100 = z wherever these inputs go
    bias = -weight @ np.full(12, 100.0) - weight.sum(1) / 2
    arrays = {
        "layers.0.weight": np.eye(12)[None] / scale,
        "layers.0.bias": np.full((1, 12), 100.0 - shift / scale),
        "layers.1.weight": weight[None],
        "layers.1.bias": bias[None],
    }
    data = dataset.Dataset(inputs, labels, inputs, labels, outputs=2)
    return SimpleNamespace(spec=spec, data=data, snapshots={5: arrays}), weight


@pytest.fixture(scope="module")
def pixels():
    random = np.random.default_rng(0)
    inputs = random.uniform(0, 1, (400, 1, 3, 4))
    weight = np.random.default_rng(3).standard_normal((2, 12))
    margins = (inputs.reshape(400, -1) - 0.5) @ (weight[1] - weight[0])
    labels = (margins > 0).astype(np.int64)
    labels[:40] = 1 - labels[:40]  # a tenth is wrong before any attack
    return inputs, labels


def _worst(inputs, labels, weight, epsilon):
    """Which points no change within epsilon and [0, 1] misleads: exact for two classes."""
    flat = inputs.reshape(len(inputs), -1)
    toward = (weight[1] - weight[0]) * np.where(labels == 1, -1, 1)[:, None]
    moved = np.clip(flat + epsilon * np.sign(toward), 0, 1)
    return ((moved - 0.5) @ (weight[1] - weight[0]) > 0) == (labels == 1)


def test_the_attack_finds_the_worst_case_of_a_linear_model(pixels):
    run, weight = _linear(*pixels)
    (row,) = robust_accuracy.build(**ATTACK)(run).itertuples()
    assert (row.member, row.step, row.clean_accuracy) == (0, 5, 0.9)
    expected = _worst(*pixels, weight, EPSILON).mean()
    assert 0.1 < expected < 0.8
    assert row.robust_accuracy == pytest.approx(expected, abs=0.0026)  # float32: one point of 400


def test_a_model_of_normalised_inputs_is_attacked_in_pixels(pixels):
    normalised = ((pixels[0] - MEAN) / STD, pixels[1])
    # the same function of pixels
    run, _ = _linear(*normalised, scale=1 / STD[0], shift=-MEAN[0] / STD[0])
    keywords = ATTACK | {"inputs": "normalised", "pixel_mean": MEAN, "pixel_std": STD}
    (row,) = robust_accuracy.build(**keywords)(run).itertuples()
    (plain,) = robust_accuracy.build(**ATTACK)(_linear(*pixels)[0]).itertuples()
    assert row.clean_accuracy == plain.clean_accuracy == 0.9
    assert row.robust_accuracy == pytest.approx(plain.robust_accuracy, abs=0.0026)


def test_the_authors_variant_cuts_normalised_inputs_off(pixels):
    run, weight = _linear(*pixels)
    keywords = ATTACK | {"attacked": "normalised", "pixel_mean": MEAN, "pixel_std": STD}
    (row,) = robust_accuracy.build(**keywords)(run).itertuples()
    flat = (pixels[0].reshape(400, -1) - MEAN) / STD
    toward = (weight[1] - weight[0]) * np.where(pixels[1] == 1, -1, 1)[:, None]
    moved = np.clip(np.clip(flat, 0, 1) + EPSILON * np.sign(toward), 0, 1) * STD + MEAN
    after = ((moved - 0.5) @ (weight[1] - weight[0]) > 0) == (pixels[1] == 1)
    before = _worst(*pixels, weight, 0)
    assert (after & ~before).any()  # what the cut sets right does not count
    assert row.clean_accuracy == before.mean() == 0.9
    assert row.robust_accuracy == pytest.approx((after & before).mean(), abs=0.0026)


def test_more_restarts_never_help_the_model(run):
    keywords = ATTACK | {"epsilon": 0.3, "points": 10, "iterations": 5}
    few, many = (
        robust_accuracy.build(**keywords | {"restarts": restarts})(run)["robust_accuracy"]
        for restarts in (1, 4)
    )
    assert (many <= few + 1e-12).all()


def test_pixel_statistics_are_asked_for():
    with pytest.raises(ValueError, match="pixel_mean and pixel_std"):
        robust_accuracy.build(**ATTACK | {"attacked": "normalised"})


def test_centroid_images_are_gradients_of_the_summed_outputs(run):
    found = centroid_images.build(points=[2, 0])(run)
    one = next(restored(run))
    rows = found[(found["member"] == one.member) & (found["step"] == one.step)]
    assert rows["point"].tolist() == [2, 0]
    for row in rows.itertuples():
        point = one.data["train_inputs"][row.point].clone().requires_grad_()
        one.outputs(point[None]).sum().backward()
        np.testing.assert_allclose(json.loads(row.input), point.detach().flatten(), rtol=1e-5)
        np.testing.assert_allclose(
            json.loads(row.centroid), point.grad.flatten(), rtol=1e-5, atol=1e-8
        )
        cosine = torch.cosine_similarity(point.detach().flatten(), point.grad.flatten(), dim=0)
        assert row.alignment == pytest.approx(float(cosine))
        assert row.label == one.data["train_targets"][row.point]
        assert row.shape == "x".join(map(str, point.shape))


def test_centroid_images_of_points_that_are_not_there_are_refused(run):
    with pytest.raises(ValueError, match=r"centroid_images\.points must be less than 15"):
        centroid_images.build(points=[99])(run)
