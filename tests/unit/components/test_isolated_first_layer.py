"""Equation 21 of arXiv 2511.01938 and the zero-loss set it moves on."""

import numpy as np
import pytest
import torch

from grokatlas.components.dynamics import isolated_first_layer
from grokatlas.engine import dataset, training
from tests.runs import addition, mlp, schedule

RATE = 0.01
FIRST, SECOND = isolated_first_layer.FIRST, isolated_first_layer.SECOND
TASK = addition(7, "summed", pairs="unordered", train_fraction=0.7)
SPEC = {
    "task": TASK,
    "model": mlp(64, bias=False, init_law="normal_fan_in"),
    "loss": {"name": "mse", "reduction": "sample_mean", "half": False},
    "dynamics": {"name": "isolated_first_layer", "rate": RATE},
    "observables": [{"name": "losses"}, {"name": "accuracies"}],
    "ensemble": {"seed": [0]},
    "train": schedule(100, every=10, snapshots=[0, 1, 100]),
}


@pytest.fixture(scope="module")
def data():
    return dataset.make([TASK])


@pytest.fixture(scope="module")
def result(data):
    return training.train(SPEC, data, torch.device("cpu"))


@pytest.fixture(scope="module")
def arrays(data):
    """X ``[N, D]`` and one-hot Y ``[N, C]``."""
    return data.train_inputs, np.eye(7)[data.train_targets]


def _layers(result, step):
    """E ``[D, H]`` and W ``[H, C]``."""
    return (result.snapshots[f"{step:010d}/{key}"][0].T for key in (FIRST, SECOND))


@pytest.mark.parametrize("step", [0, 100])
def test_second_layer_is_the_least_norm_interpolant(result, arrays, step):
    inputs, targets = arrays
    first, second = _layers(result, step)
    hidden = np.maximum(inputs @ first, 0)
    np.testing.assert_allclose(second, np.linalg.pinv(hidden) @ targets, rtol=1e-8, atol=1e-10)
    assert np.abs(hidden @ second - targets).max() < 1e-10


def test_training_loss_is_zero_throughout(result):
    assert result.history["train_loss"].max() < 1e-20
    assert result.history["train_accuracy"].min() == 1.0


def test_update_is_equation_21_written_out(result, arrays):
    inputs, targets = arrays
    (before, _), (after, _) = _layers(result, 0), _layers(result, 1)
    hidden = np.maximum(inputs @ before, 0)
    a = np.linalg.inv(hidden @ hidden.T)
    active = (inputs @ before > 0).astype(float)
    change = inputs.T @ ((a @ targets @ targets.T @ a @ hidden) * active) - before
    np.testing.assert_allclose(after - before, RATE * change, rtol=1e-8, atol=1e-12)


@pytest.mark.parametrize("change", [{"bias": True}, {"hidden_layers": 2}])
def test_another_network_is_refused(data, change):
    spec = SPEC | {"model": SPEC["model"] | change}
    with pytest.raises(ValueError, match="hidden_layers 1, bias false"):
        training.train(spec, data, torch.device("cpu"))


def test_fewer_hidden_units_than_samples_are_refused(data):
    spec = SPEC | {"model": SPEC["model"] | {"width": 5}}
    with pytest.raises(ValueError, match="cannot fit 19 training samples with 5 hidden units"):
        training.train(spec, data, torch.device("cpu"))


def test_what_has_another_number_of_classes_or_no_labels_is_refused(data):
    dynamics = isolated_first_layer.build(None, None, rate=RATE)
    first = torch.zeros(5, 7)
    with pytest.raises(ValueError, match="as many classes as an input has entries"):
        dynamics.init({FIRST: first, SECOND: torch.zeros(3, 5)})
    with pytest.raises(ValueError, match="labels, not real targets"):
        dynamics.update({FIRST: first}, (torch.zeros(2, 7), torch.zeros(2, 7)))
