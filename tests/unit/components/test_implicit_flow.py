"""Gradient flow by implicit steps, against closed forms."""

import numpy as np
import torch

from grokatlas.components.dynamics import implicit_flow
from tests.unit.components.test_riemannian_flow import linear, product

RANDOM = np.random.RandomState(0)
X, Y = (torch.from_numpy(RANDOM.standard_normal(shape)) for shape in ((3, 5), (3, 2)))
START = torch.from_numpy(RANDOM.standard_normal((2, 5)))
DECAY = 0.01


def _path(model, params, batch, steps, **changes):
    keywords = {"weight_decay": DECAY, "first": 1e-3, "growth": 0.05, "iterations": 5} | changes
    dynamics = implicit_flow.build(model, None, **keywords)
    states = [dynamics.init(params)]
    for _ in range(steps):
        states.append(dynamics.update(states[-1], batch))
    return states


def test_a_step_of_a_linear_model_is_the_implicit_euler_rule():
    state = _path(linear, {"weight": START}, (X, Y), 2, first=0.3, growth=1.0)
    before, after = state[1]["params"]["weight"], state[2]["params"]["weight"]
    gradient = 2 * (X.T @ (X @ after.T - Y) / 3 + DECAY * after.T)
    torch.testing.assert_close((before - after).T / 0.6, gradient, rtol=1e-9, atol=1e-11)


def test_it_follows_the_flow_of_a_linear_model_and_ends_at_the_ridge_solution():
    hessian = 2 * (X.T @ X / 3 + DECAY * torch.eye(5, dtype=torch.float64))
    ridge = torch.linalg.solve(hessian, 2 * X.T @ Y / 3)
    states = _path(linear, {"weight": START}, (X, Y), 300, growth=0.05)
    time = sum(float(state["length"]) for state in states[:150])
    exact = ridge + torch.linalg.matrix_exp(-time * hessian) @ (START.T - ridge)
    far = (states[150]["params"]["weight"].T - exact).norm() / (START.T - ridge).norm()
    assert far < 0.02
    assert (START.T - exact).norm() > 0.2
    torch.testing.assert_close(states[-1]["params"]["weight"].T, ridge, rtol=0, atol=1e-6)


def test_labels_are_one_hot_targets():
    labels = torch.tensor([1, 0, 1])
    targets = torch.nn.functional.one_hot(labels, 2).double()
    found, wanted = (
        _path(linear, {"weight": START}, (X, y), 5)[-1]["params"]["weight"]
        for y in (labels, targets)
    )
    torch.testing.assert_close(found, wanted, rtol=0, atol=0)


def test_on_the_hyperbola_the_loss_keeps_below_the_weight_decay_of_the_start():
    start = torch.tensor([2.5, 0.4], dtype=torch.float64)
    one = torch.ones(1, 1, dtype=torch.float64)
    for weight_decay in (1e-6, 1e-2):
        states = _path(
            product, {"factors": start}, (one, one), 400, weight_decay=weight_decay, first=0.01
        )
        points = torch.stack([state["params"]["factors"] for state in states])
        losses = (points.prod(1) - 1).square()
        assert losses.max() < weight_decay * start.square().sum()
        # at rest w1 = w2 and w1^2 = 1 - weight_decay, so the loss there is its square
        torch.testing.assert_close(
            losses[-1], torch.tensor(weight_decay**2).double(), rtol=1e-3, atol=0
        )
        assert (points[-1] - 1).abs().max() < 2 * weight_decay
