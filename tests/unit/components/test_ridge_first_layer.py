"""The first layer with a ridge second layer (arXiv 2511.01938, eq. 16 to 18)."""

import pytest
import torch

from grokatlas.components.dynamics import isolated_first_layer, ridge_first_layer
from tests.unit.components.test_joint_layers import BATCH, FIRST, INPUTS, SECOND, START, TARGETS

RATE, DECAY = 0.01, 1e-3


def _layers(weight_decay):
    dynamics = ridge_first_layer.build(None, None, rate=RATE, weight_decay=weight_decay)
    state = {FIRST: START}
    return dynamics.update(state, BATCH)[FIRST], dynamics.parameters(state, BATCH)[SECOND]


def _objective(first, second, weight_decay):
    """Loss and weight decay for ``first [H, D]`` and ``second [C, H]``."""
    errors = (torch.relu(INPUTS @ first.T) @ second.T - TARGETS).square().sum() / len(INPUTS)
    return errors + weight_decay * (first.square().sum() + second.square().sum())


def test_the_second_layer_is_where_the_gradient_of_the_regularised_loss_vanishes():
    second = _layers(DECAY)[1].requires_grad_()
    (gradient,) = torch.autograd.grad(_objective(START, second, DECAY), second)
    assert gradient.abs().max() < 1e-11
    assert second.abs().max() > 0.01


def test_a_step_descends_the_loss_that_is_minimised_over_the_second_layer():
    first = START.clone().requires_grad_()
    hidden = torch.relu(INPUTS @ first.T)
    gram = hidden.T @ hidden + DECAY * len(INPUTS) * torch.eye(16, dtype=torch.float64)
    second = torch.linalg.solve(gram, hidden.T @ TARGETS).T
    (gradient,) = torch.autograd.grad(_objective(first, second, DECAY), first)
    moved = (_layers(DECAY)[0] - START) / RATE
    torch.testing.assert_close(moved, -gradient / (2 * DECAY), rtol=1e-8, atol=1e-10)


def test_weak_weight_decay_is_equation_21():
    isolated = isolated_first_layer.build(None, None, rate=RATE)
    limit = isolated.update({FIRST: START}, BATCH)[FIRST]
    far, near = (
        (_layers(weight_decay)[0] - limit).norm() / (limit - START).norm()
        for weight_decay in (1e-1, 1e-8)
    )
    assert near < 1e-4
    assert far > 0.05


def test_another_network_or_task_is_refused():
    dynamics = ridge_first_layer.build(None, None, rate=RATE, weight_decay=DECAY)
    with pytest.raises(ValueError, match="hidden_layers 1, bias false"):
        dynamics.init({FIRST: START})
    with pytest.raises(ValueError, match="as many classes as an input has entries"):
        dynamics.init({FIRST: START, SECOND: torch.zeros(3, 16)})
    with pytest.raises(ValueError, match="labels, not real targets"):
        dynamics.update({FIRST: START}, (INPUTS, TARGETS))
