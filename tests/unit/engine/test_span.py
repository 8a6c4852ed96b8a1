"""Training in the coordinates of a span is the same training; what would not be is refused."""

import copy

import numpy as np
import pytest
import torch

from grokatlas import registry
from grokatlas.declare import signatures, train_rules
from grokatlas.engine import dataset, members, run, span, training
from tests.conformance.examples import entry
from tests.runs import begun, mlp, schedule, trained
from tests.tiers import every

CPU = torch.device("cpu")
FEATURES, SPARED, UNITS = 60, 2, 8
SPEC = {
    "task": {
        "name": "xor_clusters",
        "features": FEATURES,
        "train_points": 12,
        "test_points": 20,
        "amplitude": 0.3,
        "data_seed": 0,
    },
    "model": mlp(UNITS, init_scale=2.0),
    "loss": {"name": "mse", "reduction": "mean", "half": False},
    "optimizer": {
        "name": "sgd",
        "lr": 0.1,
        "momentum": 0.5,
        "weight_decay": 0.1,
        "nesterov": False,
    },
    "penalties": [{"name": "jacobian", "form": "norm", "projections": 1}],
    "gradients": [
        {"name": "clip_norm", "max_norm": 1.0},
        {"name": "grokfast_ema", "alpha": 0.8, "lamb": 0.1},
    ],
    "dynamics": {"name": "gradient_training"},
    "observables": [
        {"name": "losses"},
        {"name": "accuracies"},
        {"name": "centroid", "samples": 12},
        {"name": "jacobian", "samples": 12},
        {"name": "ntk", "probe": 0},
    ],
    "ensemble": {"penalties.0.weight": [0.1, 1.0], "seed": [0, 1]},
    "train": schedule(60, every=10),
}
NOISY = {"name": "noisy_accuracy", "amplitudes": [0.3], "spared": SPARED, "noise_seed": 0}


def _in_span(spec: dict) -> dict:
    return spec | {"train": spec["train"] | {"coordinates": "span"}}


def _drawn(rows: int) -> torch.Tensor:
    generator = torch.Generator().manual_seed(rows)
    return torch.randn(rows, FEATURES, generator=generator, dtype=torch.float64)


def test_training_in_the_span_is_training_in_all_coordinates():
    plain, moved = trained(SPEC).history, trained(_in_span(SPEC)).history
    assert plain["train_loss"][-1] < 0.8 * plain["train_loss"][0]
    assert set(plain) == set(moved)
    for key, column in plain.items():
        np.testing.assert_allclose(moved[key], column, rtol=1e-9, atol=1e-12, err_msg=key)


def test_a_run_in_the_span_has_as_many_inputs_as_samples_and_units():
    found = run.Run(_in_span(SPEC), dataset.make(members.tasks(SPEC)), CPU)
    assert found.data["test_inputs"].shape == (20, 32 + UNITS)
    assert found.params["layers.0.weight"].shape == (4, UNITS, 32 + UNITS)


def test_a_run_in_the_span_goes_on_where_it_was_saved():
    spec = _in_span(SPEC)
    straight, cut, again = (begun(spec) for _ in "abc")
    straight.move(13)
    cut.move(7)
    again.restore(copy.deepcopy(cut.saved()))
    again.move(6)
    for key, value in straight.parameters().items():
        assert torch.equal(value, again.parameters()[key])


def test_a_span_no_smaller_than_the_inputs_changes_nothing():
    spec = SPEC | {"model": SPEC["model"] | {"width": FEATURES - 32}}
    plain, moved = trained(spec).history, trained(_in_span(spec)).history
    for key, column in plain.items():
        np.testing.assert_array_equal(moved[key], column, err_msg=key)


@pytest.mark.parametrize("weak", [1.0, 1e-9, 0.0])
def test_the_span_keeps_every_product_of_inputs_and_weights(weak):
    """Whatever their rank: samples that stand twice or vanish, weights that are small or zero."""
    inputs, weights = _drawn(12), _drawn(UNITS)
    inputs[3], inputs[4], weights[2:] = inputs[5], 0.0, weak * weights[2:]
    found = span.Span(inputs, SPARED, UNITS)
    x, w = found.inputs(inputs), found.weights(weights)
    for one, other, whole in ((x, x, inputs @ inputs.T), (w, x, weights @ inputs.T)):
        torch.testing.assert_close(one @ other.T, whole)
    torch.testing.assert_close(w @ w.T, weights @ weights.T)
    torch.testing.assert_close(x[:, :SPARED], inputs[:, :SPARED])
    torch.testing.assert_close(w[:, :SPARED], weights[:, :SPARED])


def test_samples_of_few_and_equal_coordinates_keep_their_products():
    """A sample that stands twice, then ones along single coordinates, as amplitude 0 makes them."""
    inputs = torch.zeros(5, FEATURES, dtype=torch.float64)
    inputs[:4, :2] = torch.tensor([[1, 1], [1, 1], [1, -1], [-1, 1]])
    x = span.Span(inputs, 0, UNITS).inputs(inputs)
    torch.testing.assert_close(x @ x.T, inputs @ inputs.T)
    for seed in range(20):
        generator = torch.Generator().manual_seed(seed)
        inputs = (torch.rand(12, 30, generator=generator) < 0.15).double()
        inputs[5], inputs[7] = inputs[1], 0
        x = span.Span(inputs, 0, UNITS).inputs(inputs)
        torch.testing.assert_close(x @ x.T, inputs @ inputs.T)


def test_noise_on_the_coordinates_that_are_not_spared_has_the_same_law():
    """The products of weights with noise have mean 0 and the covariance that they had."""
    inputs, weights = _drawn(12), _drawn(UNITS)
    w = span.Span(inputs, SPARED, UNITS).weights(weights)
    torch.testing.assert_close(
        w[:, SPARED:] @ w[:, SPARED:].T, weights[:, SPARED:] @ weights[:, SPARED:].T
    )


@pytest.mark.parametrize("orders", [(SPARED,), (SPARED, 1), (0, SPARED)])
def test_as_many_coordinates_stay_as_an_observable_spares(orders):
    noisy = [NOISY | {"spared": spared} for spared in orders]
    spec = _in_span(SPEC | {"observables": noisy})
    data = dataset.make(members.tasks(spec))
    found = run.Run(spec, data, CPU).data["train_inputs"].numpy()
    np.testing.assert_array_equal(found[:, :SPARED], data.train_inputs[:, :SPARED])
    assert "noisy_accuracy.0" in trained(spec).history


def test_the_coordinates_do_not_depend_on_rounding():
    """A sample that others span has no coordinate of its own, whose direction would be chance."""
    inputs = _drawn(12)
    inputs[3], inputs[4], inputs[6] = inputs[2], 0.0, inputs[0] - 2 * inputs[5]
    turned = torch.cat([inputs[:, :SPARED], inputs[:, SPARED:].flip(1)], 1)
    one, other = (span.Span(each, SPARED, UNITS).inputs(each) for each in (inputs, turned))
    assert one.shape == (12, SPARED + 9 + UNITS)
    torch.testing.assert_close(one, other)


@pytest.mark.parametrize(
    ("change", "place"),
    [
        ({"optimizer": {"name": "adam"}}, "optimizer.name"),
        ({"model": {"name": "conv_net"}}, "model.name"),
        ({"penalties": [{"name": "jacobian"}, {"name": "l1"}]}, "penalties.1.name"),
        ({"inputs": [{"name": "accuracy_scaled_noise"}]}, "inputs.0.name"),
        ({"task": {"name": "xor_clusters", "data_seed": "member"}}, "task.data_seed"),
        ({"train": SPEC["train"] | {"snapshots": [0]}}, "train.snapshots"),
    ],
)
def test_what_a_rotation_would_change_is_refused(change, place):
    assert train_rules.why_not_span(_in_span(SPEC)) is None
    assert train_rules.why_not_span(SPEC | change) is None
    found, problem = train_rules.why_not_span(_in_span(SPEC | change))
    assert ".".join(found) == place
    assert "with train.coordinates: span" in problem


ENTRIES = [(b, n) for b in train_rules.BLOCKS for n in signatures.that_define(b, "ROTATABLE")]


@pytest.mark.parametrize(("block", "name"), every(4, ENTRIES))
def test_every_component_that_is_allowed_is_the_same_in_the_span(block, name):
    """On inputs of two axes, with three classes where the loss is of labels."""
    assert name in registry.names(block)
    classes = 3 if block == "loss" and name == "cross_entropy" else 1
    random = np.random.RandomState(0)
    arrays = {f"{part}_inputs": random.randn(10, 6, 10) for part in ("train", "test")}
    for part in ("train", "test"):
        labels = random.randint(0, max(classes, 2), 10)
        arrays[f"{part}_targets"] = labels if classes > 1 else labels[:, None].astype(float)
    data = dataset.Dataset(**arrays, outputs=classes)
    own = entry(block, name)
    penalty = {"name": "jacobian", "form": "norm", "projections": 1, "weight": 0.1}
    spec = SPEC | {"penalties": [penalty], "gradients": [], "ensemble": {"seed": [0, 1]}}
    spec["observables"] = SPEC["observables"][:4]
    listed = block in registry.LISTS
    spec = _in_span(spec | {block: [own] if listed else own})
    plain = spec | {"train": SPEC["train"]}
    found, expected = (training.train(s, data, CPU).history for s in (spec, plain))
    for key, column in expected.items():
        if not key.startswith("noisy"):
            np.testing.assert_allclose(found[key], column, rtol=1e-7, atol=1e-10, err_msg=key)
