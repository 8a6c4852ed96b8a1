"""Optimizers where a step is known in closed form."""

import pytest
import torch

from grokatlas.components.optimizers import adam, muon, sgd
from tests.conformance.examples.optimizer import REFERENCES

MUON = {"lr": 0.02, "momentum": 0.9, "weight_decay": 0.1, "beta1": 0.9, "beta2": 0.99, "eps": 1e-8}
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


@pytest.mark.parametrize(
    ("shapes", "parameters"),
    [
        ({"wide": (3, 7), "tall": (7, 3), "vector": (4,)}, ["*"]),
        ({"wide": (3, 7)}, ["*"]),  # nothing for Adam
        ({"heads": (2, 3, 5), "kernel": (4, 2, 3, 3), "vector": (4,)}, ["*"]),
        ({"moved": (3, 7), "left": (7, 3)}, ["mov*"]),
    ],
)
def test_muon_takes_each_parameter_as_the_matrix_that_it_is(shapes, parameters):
    generator = torch.Generator().manual_seed(0)
    params = {k: torch.randn(s, generator=generator).double() for k, s in shapes.items()}
    ours = muon.build(parameters=parameters, **MUON)
    theirs = {key: torch.nn.Parameter(_as_torch(value)) for key, value in params.items()}
    left = [value for key, value in theirs.items() if key == "left"]
    moved = [value for key, value in theirs.items() if key != "left"]
    steps = [REFERENCES["muon"](moved, parameters=parameters, **MUON).step]
    if left:
        betas = (MUON["beta1"], MUON["beta2"])
        steps.append(torch.optim.AdamW(left, 0.02, betas, eps=1e-8, weight_decay=0.1).step)
    state = ours.init(params)
    for _ in range(5):
        grads = {key: torch.sin(3 * value) for key, value in params.items()}
        for key, grad in grads.items():
            theirs[key].grad = _as_torch(grad)
        params, state = ours.update(params, grads, state)
        for step in steps:
            step()
    for key, value in params.items():
        torch.testing.assert_close(_as_torch(value), theirs[key].detach(), rtol=1e-12, atol=1e-12)


def _as_torch(value):
    """A parameter with two axes at most, as ``torch.optim.Muon`` wants it."""
    whole = value.flatten(0, 1) if value.ndim == 3 else value
    return (whole.flatten(1) if whole.ndim > 1 else whole).clone()
