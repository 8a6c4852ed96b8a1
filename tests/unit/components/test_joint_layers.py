"""Both layers on the zero-loss set: closed forms, and the two dynamics that it contains."""

import numpy as np
import pytest
import torch

from grokatlas.components.dynamics import isolated_first_layer, joint_layers, riemannian_flow

FIRST, SECOND = isolated_first_layer.FIRST, isolated_first_layer.SECOND
RANDOM = np.random.RandomState(0)
INPUTS = torch.from_numpy(RANDOM.standard_normal((6, 4)))
LABELS = torch.tensor([0, 3, 1, 2, 0, 1])
TARGETS = torch.nn.functional.one_hot(LABELS, 4).double()
START = torch.from_numpy(RANDOM.standard_normal((16, 4)))
HIDDEN = torch.relu(INPUTS @ START.T)
LEAST = (torch.linalg.pinv(HIDDEN) @ TARGETS).T
UNSEEN = torch.from_numpy(RANDOM.standard_normal((4, 16)))
UNSEEN = UNSEEN - UNSEEN @ torch.linalg.pinv(HIDDEN) @ HIDDEN
BATCH = INPUTS, LABELS


def _moved(first, second, batch, steps=1, rate=1e-3, ratio=1.0):
    dynamics = joint_layers.build(None, None, rate=rate, ratio=ratio)
    state = dynamics.init({FIRST: first, SECOND: second})
    for _ in range(steps):
        state = dynamics.update(state, batch)
    return dynamics.parameters(state, batch)


@pytest.mark.parametrize("first", [3.0, 0.2])
def test_one_unit_follows_the_hyperbola_to_its_point_of_least_norm(first):
    """On w e = 1 the difference of squares obeys d' = -2 d."""
    batch = torch.ones(1, 1).double(), torch.ones(1, 1).double()
    weights = torch.tensor([[first]]).double(), torch.tensor([[1 / first]]).double()
    difference = float(weights[0] ** 2 - weights[1] ** 2)
    errors = []
    for rate in (1e-3, 5e-4):
        after = _moved(*weights, batch, steps=round(0.5 / rate), rate=rate)
        found = float(after[FIRST] ** 2 - after[SECOND] ** 2)
        errors.append(abs(found / (difference * np.exp(-1)) - 1))
        assert float(after[FIRST] * after[SECOND]) == pytest.approx(1, abs=1e-12)
    assert errors[1] < 3e-3
    assert errors[0] / errors[1] == pytest.approx(2, rel=0.1)  # of Euler's method


def _network(params, inputs):
    return torch.relu(inputs @ params[FIRST].T) @ params[SECOND].T


def test_equal_rates_are_the_riemannian_flow_of_the_norm():
    start = {FIRST: START, SECOND: LEAST + UNSEEN}
    keywords = {"corrections": 2, "fast_steps": 0, "fast_rate": 0.0}
    flow = riemannian_flow.build(_network, None, rate=1e-4, **keywords)
    expected = flow.update(flow.init(start), (INPUTS, TARGETS))["params"]
    after = _moved(*start.values(), BATCH, rate=1e-4)
    for name, before in start.items():
        velocity, other = ((each[name] - before) / 1e-4 for each in (after, expected))
        assert (velocity - other).norm() / other.norm() < 1e-3


def test_a_fast_second_layer_is_equation_21():
    limit = isolated_first_layer.build(None, None, rate=1e-4).update({FIRST: START}, BATCH)[FIRST]
    far, near = (
        (_moved(START, LEAST, BATCH, rate=1e-4, ratio=ratio)[FIRST] - limit).norm()
        / (limit - START).norm()
        for ratio in (1.0, 1e6)
    )
    assert near < 1e-4
    assert far > 0.05


def test_what_no_sample_sees_decays_at_the_second_layer_s_rate():
    """Where the first layer hardly moves, and the sum of squares of what is unseen with it."""
    after = _moved(START, LEAST + UNSEEN, BATCH, rate=1e-4, ratio=10.0)
    left = (after[SECOND] * UNSEEN).sum() / UNSEEN.square().sum()
    assert float(left) == pytest.approx(1 - 1e-3, abs=1e-5)


@pytest.mark.parametrize("targets", [LABELS, TARGETS])
def test_every_step_ends_on_the_zero_loss_set(targets):
    after = _moved(START, torch.zeros(4, 16).double(), (INPUTS, targets), steps=3, rate=0.05)
    assert (_network(after, INPUTS) - TARGETS).abs().max() < 1e-12
    assert (after[FIRST] - START).abs().max() > 1e-3


def test_another_network_is_refused_and_too_few_units_are_not_numbers():
    dynamics = joint_layers.build(None, None, rate=0.1, ratio=1.0)
    with pytest.raises(ValueError, match="hidden_layers 1, bias false"):
        dynamics.init({FIRST: START})
    narrow = _moved(torch.zeros(16, 4).double(), LEAST, BATCH)
    assert torch.isnan(narrow[SECOND]).all()
