"""The observable `adam_denominator` against the gradients of a loss that is linear."""

from types import SimpleNamespace

import pytest
import torch

from grokatlas.components.observables import adam_denominator
from grokatlas.engine.observed import Observed
from tests.unit.components.test_effective_step import history


def _history(optimizer, ensemble):
    return history(optimizer, ensemble, "adam_denominator")


def test_a_gradient_that_stays_is_remembered_as_it_is():
    size = 3e-3
    optimizer = SimpleNamespace(beta2=0.99)
    second, step = torch.zeros(5, dtype=torch.float64), 7
    for _ in range(step):
        second = 0.99 * second + 0.01 * size**2
    moments = {"second": {"a": second}, "step": torch.tensor(float(step), dtype=torch.float64)}
    dynamics = SimpleNamespace(optimizer=optimizer)
    state = {"optimizer": moments}
    view = Observed({}, None, None, [], {}, {}, dynamics, torch.tensor(0.0), state)
    seen = adam_denominator.build()(view)
    assert float(seen["adam_denominator"]) == pytest.approx(size, rel=1e-12)


def test_the_first_gradient_does_not_depend_on_the_memory():
    adam = {"name": "adam", "lr": 1e-3, "beta1": 0.9, "eps": 1e-8}
    found = _history(adam, {"seed": [3], "optimizer.beta2": [0.9, 0.999]})
    first = found[found["step"] == 1]["adam_denominator"]
    assert first.min() > 0
    assert first.max() == pytest.approx(first.min(), rel=1e-5)
    last = found[found["step"] == 6].sort_values("member")["adam_denominator"].to_list()
    assert abs(last[0] / last[1] - 1) > 1e-3
    assert (found[found["step"] == 0]["adam_denominator"] == 0).all()


def test_adamw_remembers_as_adam_does():
    adam = {"name": "adam", "lr": 1e-3, "beta1": 0.9, "beta2": 0.99, "eps": 1e-8}
    adamw = adam | {"name": "adamw", "weight_decay": 0.0, "decay": "decoupled"}
    both = [_history(each, {"seed": [3]})["adam_denominator"].to_list() for each in (adam, adamw)]
    assert both[0] == pytest.approx(both[1], rel=1e-6)


@pytest.mark.parametrize(
    "optimizer",
    [
        {"name": "gd"},
        {"name": "muon", "parameters": ["*"], "momentum": 0.9, "weight_decay": 0.0}
        | {"beta1": 0.9, "beta2": 0.99, "eps": 1e-8},
    ],
    ids=["gd", "muon"],
)
def test_an_optimizer_without_these_moments_is_refused(optimizer):
    with pytest.raises(ValueError, match="needs the moments of adam or adamw"):
        _history(optimizer | {"lr": 0.1}, {"seed": [0]})
