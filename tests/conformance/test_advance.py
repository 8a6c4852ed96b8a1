"""A dynamics that takes many steps in one call takes the same steps as one at a time."""

import copy
from typing import Any

import numpy as np
import pytest
import torch
from examples.runs import RUNS

from grokatlas import registry
from tests.runs import begun
from tests.tiers import every

TOLERANCE = {"float64": 1e-10, "float32": 1e-4}
CASES = [
    name
    for name, spec in RUNS.items()
    if hasattr(registry.load("dynamics", spec["dynamics"]["name"]), "advance")
]
every_run = pytest.mark.parametrize("name", CASES)
both_precisions = pytest.mark.parametrize("dtype", every(2, TOLERANCE))


def _spec(name: str, dtype: str = "float64") -> dict[str, Any]:
    """A run of six members, with two values of the first number that the dynamics takes."""
    spec = copy.deepcopy(RUNS[name])
    spec["train"]["dtype"] = dtype
    numbers = {k: v for k, v in spec["dynamics"].items() if isinstance(v, float)}
    keyword, value = next(iter(numbers.items()))
    spec["ensemble"] = {f"dynamics.{keyword}": [value, value / 2], "seed": [3, 0, 7]}
    return spec


def _state(spec: dict[str, Any], *pieces: int) -> list[torch.Tensor]:
    run = begun(spec)
    for steps in pieces:
        run.move(steps)
    return torch.utils._pytree.tree_leaves(run.groups[0].state) + list(run.parameters().values())


def test_every_dynamics_with_advance_is_found():
    names = registry.names("dynamics")
    fast = {n for n in names if hasattr(registry.load("dynamics", n), "advance")}
    assert fast == {RUNS[name]["dynamics"]["name"] for name in CASES}


@every_run
@both_precisions
def test_advance_equals_looped_update(name, dtype, monkeypatch):
    spec = _spec(name, dtype)
    fast = _state(spec, 300)
    dynamics = registry.load("dynamics", spec["dynamics"]["name"])
    monkeypatch.delattr(dynamics, "advance")
    start, slow = _state(spec), _state(spec, 300)
    tolerance = TOLERANCE[dtype]
    for first, second in zip(fast, slow, strict=True):
        assert first.dtype == second.dtype
        torch.testing.assert_close(first, second, rtol=tolerance, atol=tolerance)
    assert any(not torch.equal(*pair) for pair in zip(start, slow, strict=True)), "nothing moved"


@every_run
@both_precisions
@pytest.mark.parametrize("pieces", [(1, 299), (150, 150), (7, 0, 200, 93)])
def test_a_stretch_may_be_cut_anywhere(name, dtype, pieces):
    spec = _spec(name, dtype)
    whole, cut = _state(spec, 300), _state(spec, *pieces)
    assert all(torch.equal(*pair) for pair in zip(whole, cut, strict=True))


@every_run
def test_neither_threads_nor_members_matter(name):
    spec = _spec(name)
    company = _state(spec, 200)
    threads = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        threaded = _state(spec, 200)
    finally:
        torch.set_num_threads(threads)
    assert all(torch.equal(*pair) for pair in zip(company, threaded, strict=True))
    last = {path: values[-1:] for path, values in spec["ensemble"].items()}
    alone = _state(spec | {"ensemble": last}, 200)
    assert all(torch.equal(a[-1], b[0]) for a, b in zip(company, alone, strict=True))


@every_run
def test_advance_goes_on_from_a_saved_state(name):
    spec = _spec(name)
    first, second = begun(spec), begun(spec)
    first.move(120)
    second.restore(copy.deepcopy(first.saved()))
    first.move(80)
    second.move(80)
    for key, value in first.parameters().items():
        assert np.array_equal(value.numpy(), second.parameters()[key].numpy())


@every_run
def test_advance_leaves_its_arguments_alone(name):
    run = begun(_spec(name))
    given = torch.utils._pytree.tree_leaves((run.groups[0].state, run.data))
    before = copy.deepcopy(given)
    run.move(5)
    assert all(torch.equal(*pair) for pair in zip(before, given, strict=True))
