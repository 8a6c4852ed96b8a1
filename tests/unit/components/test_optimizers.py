"""Optimizers where a step is known in closed form."""

import pytest
import torch

from grokatlas.components.optimizers import adam, sgd

SGD = {"lr": 0.1, "momentum": 0.9, "weight_decay": 0.0, "nesterov": False}


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


def test_nesterov_without_momentum_is_refused():
    with pytest.raises(ValueError, match="give a momentum above 0"):
        sgd.build(**SGD | {"momentum": 0.0, "nesterov": True})
