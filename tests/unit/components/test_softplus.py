"""Smooth units on the zero-loss set, beside ReLU and the flow of the norm; units at kinks."""

from types import SimpleNamespace

import numpy as np
import pytest
import torch

from grokatlas.components.dynamics import joint_layers, joint_softplus_layers, riemannian_flow
from grokatlas.components.dynamics.isolated_first_layer import FIRST, SECOND
from grokatlas.components.models import fitted_mlp, fitted_softplus_mlp
from grokatlas.components.observables import kinks
from grokatlas.components.tasks import modular_addition

TASK = {"modulus": 5, "pairs": "unordered", "encoding": "summed", "train_fraction": 0.6}
DATA = modular_addition.build(**TASK, split_seed=0)
INPUTS, LABELS = torch.from_numpy(DATA.train_inputs).double(), torch.from_numpy(DATA.train_targets)
TARGETS = torch.nn.functional.one_hot(LABELS, DATA.outputs).double()


def _data():
    named = ("train_inputs", "train_targets", "outputs")
    return SimpleNamespace(per_member=False, **{name: getattr(DATA, name) for name in named})


def _fitted(module=fitted_softplus_mlp, **keywords):
    generator = torch.Generator().manual_seed(0)
    return module.build(data=_data(), generator=generator, width=40, **keywords)


def _moved(sharpness, params, rate=1e-4, ratio=1.0):
    model = SimpleNamespace(constants={"sharpness": torch.tensor(sharpness).double()})
    dynamics = joint_softplus_layers.build(model, None, rate=rate, ratio=ratio)
    return dynamics.update(dynamics.init(params), (INPUTS, LABELS))


def _params(network):
    return {name: value.detach().double() for name, value in network.named_parameters()}


@pytest.mark.parametrize("sharpness", [2.0, 50.0])
def test_the_network_fits_its_training_set_with_the_first_layer_of_its_twin(sharpness):
    network = _fitted(sharpness=sharpness)
    assert (network(INPUTS) - TARGETS).abs().max() < 1e-9
    assert torch.equal(_params(network)[FIRST], _params(_fitted(fitted_mlp, excess=0.0))[FIRST])


def test_softplus_is_that_of_the_library_and_comes_to_relu():
    values = torch.linspace(-3, 3, 101, dtype=torch.float64)
    ours = fitted_softplus_mlp.softplus(values, torch.tensor(4.0).double())
    torch.testing.assert_close(ours, torch.nn.functional.softplus(values, beta=4.0))
    sharp = fitted_softplus_mlp.softplus(values, torch.tensor(1e6).double())
    torch.testing.assert_close(sharp, torch.relu(values), atol=1e-6, rtol=0)


def test_the_flow_is_that_of_the_norm_on_the_zero_loss_set():
    network = _fitted(sharpness=5.0)
    start = _params(network)

    def outputs(params, inputs):
        hidden = fitted_softplus_mlp.softplus(inputs @ params[FIRST].T, network.sharpness)
        return hidden @ params[SECOND].T

    rate = 1e-7  # at 1e-4 steps of first and fourth order differ by a tenth
    keywords = {"corrections": 2, "fast_steps": 0, "fast_rate": 0.0}
    flow = riemannian_flow.build(outputs, None, rate=rate, **keywords)
    expected = flow.update(flow.init(start), (INPUTS, TARGETS))["params"]
    after = _moved(5.0, start, rate)
    for name, before in start.items():
        velocity, other = ((each[name] - before) / rate for each in (after, expected))
        assert (velocity - other).norm() / other.norm() < 1e-3
    assert (outputs(after, INPUTS) - TARGETS).abs().max() < 1e-10


def test_a_faster_second_layer_moves_as_the_flow_of_its_own_metric():
    """With P = diag(1, ratio): P (J^T mu - theta), where mu keeps the outputs."""
    start, ratio = _params(_fitted(sharpness=4.0)), 3.0
    shapes = [start[name].shape for name in (FIRST, SECOND)]
    sizes = [shape.numel() for shape in shapes]

    def outputs(flat):
        first, second = (
            each.view(shape) for each, shape in zip(flat.split(sizes), shapes, strict=True)
        )
        hidden = torch.nn.functional.softplus(INPUTS @ first.T, beta=4.0, threshold=100.0)
        return (hidden @ second.T).flatten()

    theta = torch.cat([start[name].flatten() for name in (FIRST, SECOND)])
    metric = torch.cat([torch.ones(sizes[0]), torch.full((sizes[1],), ratio)]).double()
    jacobian = torch.func.jacrev(outputs)(theta)
    multiplier = torch.linalg.solve(jacobian * metric @ jacobian.T, jacobian @ (metric * theta))
    expected = metric * (jacobian.T @ multiplier - theta)
    after = _moved(4.0, start, 1e-7, ratio)
    moved = torch.cat([(after[name] - start[name]).flatten() for name in (FIRST, SECOND)]) / 1e-7
    assert (moved - expected).norm() / expected.norm() < 1e-3


def test_sharp_units_move_as_relu_does():
    start = _params(_fitted(fitted_mlp, excess=0.0))
    relu = joint_layers.build(None, None, rate=1e-4, ratio=1.0).update(start, (INPUTS, LABELS))
    near, far = (
        max(float((_moved(sharpness, start)[name] - relu[name]).norm()) for name in start)
        for sharpness in (1e7, 3.0)
    )
    assert near < 1e-6 < far


def test_a_network_without_a_sharpness_is_refused():
    dynamics = joint_softplus_layers.build(SimpleNamespace(constants={}), None, rate=1, ratio=1)
    with pytest.raises(ValueError, match="needs model fitted_softplus_mlp"):
        dynamics.init({})


def test_preactivations_are_counted_within_a_share_of_their_size():
    weight = torch.tensor([[1.0], [-1.0], [0.0], [0.05]], dtype=torch.float64)
    view = SimpleNamespace(
        params={FIRST: weight}, data={"train_inputs": torch.ones(3, 1, dtype=torch.float64)}
    )
    size = float(np.sqrt((2 + 0.05**2) / 4))
    for within, share in ((0.01, 0.25), (0.06, 0.25), (0.06 / size, 0.5), (2.0, 1.0)):
        seen = kinks.build(within=within)(view)["share_at_kinks"]
        assert float(seen) == share
    view.params["layers.0.bias"] = weight
    with pytest.raises(ValueError, match="without biases"):
        kinks.build(within=0.1)(view)
