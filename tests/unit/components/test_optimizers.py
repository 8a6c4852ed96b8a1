"""Optimizers where a step is known in closed form."""

import pytest
import torch

from grokatlas.components.optimizers import adam, adamw, gd, sgd, switched_adam
from grokatlas.engine.ensemble import Mapped

ADAM = {"lr": 0.01, "beta1": 0.9, "beta2": 0.999, "eps": 1e-20}
SGD = {"lr": 0.1, "momentum": 0.9, "weight_decay": 0.0, "nesterov": False}


def _path(optimizer, start, grads):
    """The parameters after each gradient, without the start."""
    params, found = {"p": start}, []
    state = optimizer.init(params)
    for grad in grads:
        params, state = optimizer.update(params, {"p": grad}, state)
        found.append(params["p"])
    return torch.stack(found)


def _row(*values, dtype=torch.float64):
    return torch.tensor(values, dtype=dtype)


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
def test_adam_moves_by_lr_while_the_gradient_stays(dtype):
    # m / c_1 = g and v / c_2 = g^2 at every step: only exact if corrections are
    steps = 10
    grad = _row(3.0, -0.2, dtype=dtype)
    found = _path(adam.build(**ADAM), torch.zeros_like(grad), [grad] * steps)
    count = torch.arange(1, steps + 1, dtype=dtype)[:, None]
    tolerance = {torch.float64: 1e-13, torch.float32: 1e-6}[dtype]
    torch.testing.assert_close(found, -0.01 * count * grad.sign(), rtol=tolerance, atol=0)


def test_adam_in_float32_follows_the_one_of_torch():
    params = {"p": torch.linspace(-1e-3, 1e-3, 8)}
    theirs = torch.nn.Parameter(params["p"].clone())
    reference = torch.optim.Adam([theirs], lr=1e-3, betas=(0.9, 0.9999), eps=1e-8)
    ours = adam.build(lr=1e-3, beta1=0.9, beta2=0.9999, eps=1e-8)
    state = ours.init(params)
    for step in range(200):
        grad = torch.cos(torch.arange(8) + 0.3 * step)
        params, state = ours.update(params, {"p": grad}, state)
        theirs.grad = grad
        reference.step()
        torch.testing.assert_close(params["p"], theirs.detach(), rtol=2e-6, atol=1e-8)


def test_members_of_one_adam_each_have_their_rates():
    rates = {"lr": _row(0.01, 0.02), "beta1": _row(0.9, 0.5), "beta2": _row(0.99, 0.9)}
    start, grads = torch.ones(2, 3, dtype=torch.float64), _row(0.5, -2.0, 1e-3)

    def move(hyper, params):
        optimizer = adam.build(**hyper, eps=1e-8)
        moved, _ = optimizer.update(params, {"p": grads}, optimizer.init(params))
        return moved

    found = Mapped(move, (0, 0))(rates, {"p": start})["p"]
    for member in range(2):
        own = {key: float(value[member]) for key, value in rates.items()}
        alone = _path(adam.build(**own, eps=1e-8), start[member], [grads])[0]
        torch.testing.assert_close(found[member], alone, rtol=1e-14, atol=0)


def test_decoupled_decay_without_gradient_is_geometric():
    found = _path(
        adamw.build(**ADAM, weight_decay=0.5, decay="decoupled"), _row(2.0), [_row(0.0)] * 4
    )
    torch.testing.assert_close(found[:, 0], 2.0 * (1 - 0.01 * 0.5) ** _row(1, 2, 3, 4))


def test_coupled_decay_is_the_gradient_of_half_the_square():
    # of another factor the first entry would turn its sign, and Adam its step
    start, grad = _row(2.0, -1.0), _row(-1.5, 0.1)
    coupled = _path(adamw.build(**ADAM, weight_decay=0.5, decay="coupled"), start, [grad])
    plain = _path(adam.build(**ADAM), start, [_row(-0.5, -0.4)])
    torch.testing.assert_close(coupled, plain)


@pytest.mark.parametrize("decay", ["coupled", "decoupled"])
def test_adamw_without_decay_is_adam(decay):
    grads = [_row(0.3, 0.1), _row(-0.2, 0.4)]
    without = _path(adam.build(**ADAM), _row(2.0, -1.0), grads)
    assert torch.equal(
        _path(adamw.build(**ADAM, weight_decay=0.0, decay=decay), _row(2.0, -1.0), grads), without
    )


def test_momentum_sums_a_constant_gradient_geometrically():
    found = _path(sgd.build(**SGD), _row(0.0), [_row(1.0)] * 3)
    # buffers 1, 1.9, 2.71
    torch.testing.assert_close(found[:, 0], -0.1 * _row(1.0, 2.9, 5.61))


def test_nesterov_looks_one_buffer_ahead():
    found = _path(sgd.build(**SGD | {"nesterov": True}), _row(0.0), [_row(1.0)] * 2)
    # moves 1 + 0.9 * 1, then 1 + 0.9 * 1.9
    torch.testing.assert_close(found[:, 0], -0.1 * _row(1.9, 1.9 + 2.71))


def test_sgd_without_momentum_and_decay_is_gradient_descent_and_keeps_no_buffer():
    optimizer = sgd.build(**SGD | {"momentum": 0.0})
    assert optimizer.init({"p": _row(1.0)}) == {"buffer": {}}
    grads = [_row(0.3, 0.1), _row(-0.2, 0.4)]
    assert torch.equal(
        _path(optimizer, _row(2.0, -1.0), grads), _path(gd.build(lr=0.1), _row(2.0, -1.0), grads)
    )


def test_nesterov_without_momentum_is_refused():
    with pytest.raises(ValueError, match="give a momentum above 0"):
        sgd.build(**SGD | {"momentum": 0.0, "nesterov": True})


def test_an_emptied_denominator_and_a_new_memory_act_from_the_switch_on():
    grads = [_row(4.0), _row(4.0), _row(0.1), _row(0.1)]
    keywords = ADAM | {"beta1": 0.0, "switch": 2}
    emptied = switched_adam.build(**keywords, beta2_after=0.999, empty=True)
    short = switched_adam.build(**keywords, beta2_after=0.0, empty=False)
    plain = _path(adam.build(**ADAM | {"beta1": 0.0}), _row(0.0), grads)
    for optimizer in (emptied, short):
        path = _path(optimizer, _row(0.0), grads)
        torch.testing.assert_close(path[:2], plain[:2])
        # what is remembered is 0.1 alone, so that the steps have the size lr again
        torch.testing.assert_close(path.diff(dim=0), torch.full_like(path[1:], -0.01))
    assert plain.diff(dim=0)[-1] > -1e-3
