"""The flow of the norm on the zero-loss set (arXiv 2505.20172) against closed forms."""

import itertools

import numpy as np
import pytest
import torch

from grokatlas.components.dynamics import riemannian_flow
from tests.tiers import every, exhaustive

KEYWORDS = {"rate": 0.05, "corrections": 2, "fast_steps": 0, "fast_rate": 0.0}


def linear(params, inputs):
    return inputs @ params["weight"].T


def product(params, inputs):
    return inputs * params["factors"].prod()


def _network(params, inputs):
    return torch.tanh(inputs @ params["first"]) @ params["second"]


def _loss(params, model, inputs, targets):
    return (model(params, inputs) - targets).square().sum() / 2


def _random(*shape: int, seed: int = 0) -> torch.Tensor:
    return torch.tensor(np.random.RandomState(seed).standard_normal(shape))


def _moved(model, params, batch, steps, **changes):
    dynamics = riemannian_flow.build(model, _loss, **KEYWORDS | changes)
    state = dynamics.init(params)
    for _ in range(steps):
        state = dynamics.update(state, batch)
    assert int(state["step"]) == steps
    return dynamics.parameters(state, batch)


ONE = (torch.ones(1, 1, dtype=torch.float64), torch.ones(1, 1, dtype=torch.float64))


def _factors(first: float) -> dict:
    return {"factors": torch.tensor([first, 1 / first], dtype=torch.float64)}


def test_linear_regression_keeps_the_row_space_and_forgets_the_null_space():
    x, y, start = _random(3, 7), _random(3, 2, seed=1), _random(2, 7, seed=2)
    rows = torch.linalg.pinv(x) @ x
    least_norm = (torch.linalg.pinv(x) @ y).T
    outside = start - start @ rows
    after = _moved(linear, {"weight": least_norm + outside}, (x, y), 40)["weight"]
    expected = least_norm + np.exp(-40 * 0.05) * outside
    torch.testing.assert_close(after, expected, rtol=0, atol=1e-6)
    assert (x @ after.T - y).abs().max() < 1e-12


@pytest.mark.parametrize("first", every(3, [3.0, -3.0, 0.2]))
def test_two_factors_follow_the_hyperbola_to_its_point_of_least_norm(first):
    """On w1 w2 = 1, s = |w|^2 obeys s' = -2 s + 8 / s: s^2 = 4 + (s0^2 - 4) exp(-4 tau)."""
    start = _factors(first)
    s0 = float(start["factors"].square().sum())
    for steps in (10, 40):
        after = _moved(product, start, ONE, steps, rate=0.01)["factors"]
        s = np.sqrt(4 + (s0**2 - 4) * np.exp(-4 * 0.01 * steps))
        assert float(after.square().sum()) == pytest.approx(s, rel=1e-8)
        assert float(after.prod()) == pytest.approx(1, abs=1e-12)
    end = _moved(product, start, ONE, 300)["factors"]
    np.testing.assert_allclose(end.numpy(), np.sign(first), rtol=1e-9)


def test_the_error_falls_with_the_fourth_power_of_the_rate():
    s0 = float(_factors(3.0)["factors"].square().sum())
    exact = np.sqrt(4 + (s0**2 - 4) * np.exp(-4))
    errors = []
    for steps in (10, 20):
        after = _moved(product, _factors(3.0), ONE, steps, rate=1 / steps)["factors"]
        errors.append(abs(float(after.square().sum()) - exact))
    assert 10 < errors[0] / errors[1] < 24


def test_a_network_stays_on_the_zero_loss_set_and_its_norm_falls():
    x, y = _random(4, 2), _random(4, 2, seed=1)
    start = {"first": _random(2, 8, seed=2), "second": _random(8, 2, seed=3)}
    on_set = _moved(_network, start, (x, y), 1, rate=1e-9, corrections=20)
    norms = [sum(value.square().sum() for value in on_set.values())]
    params = on_set
    for _ in range(5):
        params = _moved(_network, params, (x, y), 10)
        assert (_network(params, x) - y).abs().max() < 1e-10
        norms.append(sum(value.square().sum() for value in params.values()))
    assert all(after < before for before, after in itertools.pairwise(norms))


def test_velocity_is_the_part_of_minus_w_that_moves_no_output():
    x, y = _random(4, 2), _random(4, 2, seed=1)
    start = {"first": _random(2, 8, seed=2), "second": _random(8, 2, seed=3)}
    after = _moved(_network, start, (x, y), 1, rate=1e-6, corrections=0)
    velocity = {key: (after[key] - start[key]) / 1e-6 for key in start}
    jacobian = torch.func.jacrev(lambda params: _network(params, x))(start)
    tangent = sum(torch.tensordot(jacobian[key], velocity[key], 2) for key in start)
    assert tangent.abs().max() < 1e-5
    rest = {key: velocity[key] + start[key] for key in start}
    inner = sum((rest[key] * velocity[key]).sum() for key in start)
    assert abs(inner) < 1e-4, "what is left out is orthogonal to what is kept"


def test_repeated_samples_change_nothing():
    x, y = _random(3, 7), _random(3, 1, seed=1)
    start = {"weight": _random(1, 7, seed=2)}
    twice = (torch.cat([x, x[:1]]), torch.cat([y, y[:1]]))
    once = _moved(linear, start, (x, y), 20)["weight"]
    torch.testing.assert_close(_moved(linear, start, twice, 20)["weight"], once)


@exhaustive
def test_the_fast_phase_is_gradient_descent_on_the_loss():
    x, y, start = _random(3, 7), _random(3, 1, seed=1), _random(1, 7, seed=2)
    fast = {"fast_steps": 500, "fast_rate": 0.05}
    weight = start
    for _ in range(500):
        weight = weight - 0.05 * (x @ weight.T - y).T @ x
    found = _moved(linear, {"weight": start}, (x, y), 500, **fast)["weight"]
    torch.testing.assert_close(found, weight, rtol=0, atol=1e-12)
    later = _moved(linear, {"weight": start}, (x, y), 540, **fast)["weight"]
    rows = torch.linalg.pinv(x) @ x
    expected = weight @ rows + np.exp(-2) * (start - start @ rows)
    torch.testing.assert_close(later, expected, rtol=0, atol=1e-6)


def test_labels_are_refused():
    dynamics = riemannian_flow.build(linear, _loss, **KEYWORDS)
    state = dynamics.init({"weight": torch.ones(2, 3)})
    with pytest.raises(ValueError, match="real targets"):
        dynamics.update(state, (torch.ones(4, 3), torch.zeros(4, dtype=torch.int64)))
