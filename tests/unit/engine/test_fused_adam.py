"""Fused steps: pure and mapped outside of a trace, in place within one."""

import pytest
import torch

from grokatlas.engine.trace import fused_adam
from grokatlas.engine.trace.in_place import operations
from grokatlas.engine.trace.tracing import fast, trace

RANDOM = torch.Generator().manual_seed(0)
RATES = (0.01, 0.9, 0.99, 1e-8)
SHAPES = [(5, 3), (7,), ()]


def _lists(*members: int) -> tuple:
    """Parameters, gradients and moments of three tensors, the gradients in another order."""
    lists = [
        [torch.randn((*members, *shape), generator=RANDOM, dtype=torch.float64) for shape in SHAPES]
        for _ in range(4)
    ]
    lists[1][0] = lists[1][0].mT.contiguous().mT
    lists[3] = [tensor.square() for tensor in lists[3]]
    return tuple(lists)


def _step(number: int) -> torch.Tensor:
    return torch.tensor(float(number), dtype=torch.float64)


def _state() -> dict:
    params, grads, first, second = _lists()
    return {"p": params[0], "g": grads[0], "m": first[0], "v": second[0]}


def _copied(state: dict) -> dict:
    return {key: value.clone() for key, value in state.items()}


def _moved(state: dict) -> list[torch.Tensor]:
    lists = ([state[key]] for key in "pgmv")
    return fused_adam.adam(*lists, _step(3), *RATES)


def test_outside_of_a_trace_arguments_stay_and_results_are_fresh():
    lists = _lists()
    before = [[tensor.clone() for tensor in tensors] for tensors in lists]
    moved = fused_adam.adam(*lists, _step(1), *RATES)
    for tensors, kept in zip(lists, before, strict=True):
        assert all(torch.equal(a, b) for a, b in zip(tensors, kept, strict=True))
    given = {tensor.data_ptr() for tensors in lists for tensor in tensors}
    assert not given & {tensor.data_ptr() for tensor in moved}


@pytest.mark.parametrize("shared", [False, True])
def test_members_move_as_each_alone(shared):
    params, grads, first, second = _lists(4)
    if shared:  # members that share gradients
        grads = [grad[0] for grad in grads]
    axes = (0, None if shared else 0, 0, 0, 0)
    mapped = torch.func.vmap(lambda *given: fused_adam.adam(*given, *RATES), in_dims=axes)
    together = mapped(params, grads, first, second, _step(2).expand(4))
    for member in range(4):
        own = [[tensor[member] for tensor in tensors] for tensors in (params, first, second)]
        its_grads = grads if shared else [grad[member] for grad in grads]
        alone = fused_adam.adam(own[0], its_grads, own[1], own[2], _step(2), *RATES)
        for found, expected in zip(together, alone, strict=True):
            torch.testing.assert_close(found[member], expected, rtol=1e-14, atol=0)


def test_a_trace_writes_over_what_it_was_given():
    def program(state: dict) -> dict:
        moved = _moved(state)
        return {"p": moved[0], "g": state["g"], "m": moved[1], "v": moved[2]}

    state = _state()
    expected = program(_copied(state))
    memory = {key: value.data_ptr() for key, value in state.items()}
    module = trace(program, (state,), 0)
    assert [node.target for node in operations(module)].count(fused_adam.adam_) == 1
    result = module(state)
    for key, value in result.items():
        assert torch.equal(value, expected[key]), key
    assert {key: result[key].data_ptr() for key in "pmv"} == {key: memory[key] for key in "pmv"}


def _also_the_old(state: dict) -> dict:
    return {"p": _moved(state)[0], "m": state["p"] * 2, "v": state["m"], "g": state["g"]}


def _read_after(state: dict) -> dict:
    p, m, v = _moved(state)
    return {"p": p - state["p"], "m": m, "v": v + state["v"].sum(), "g": state["g"]}


def _same_twice(state: dict) -> dict:
    twice = [state["p"], state["p"]]
    grads, first, second = ([state[key], state[key] + 1] for key in "gmv")
    moved = fused_adam.adam(twice, grads, first, second, _step(1), *RATES)
    return {"p": moved[0], "g": moved[1], "m": moved[2], "v": moved[5]}


def _of_views(state: dict) -> dict:
    lists = ([state[key].T] for key in "pgmv")
    moved = fused_adam.adam(*lists, _step(1), *RATES)
    return dict(zip("pmv", moved, strict=True)) | {"g": state["p"]}


def _turned(state: dict) -> dict:
    own = [[state[key].T * 2] for key in "pmv"]  # its own memory, in another order
    moved = fused_adam.adam(own[0], [state["g"].T], own[1], own[2], _step(1), *RATES)
    return dict(zip("pmv", moved, strict=True)) | {"g": state["g"]}


def _two_steps(state: dict) -> dict:
    moved = _moved(state)
    again = dict(zip("pmv", moved, strict=True)) | {"g": state["g"]}
    return dict(zip("pmv", _moved(again), strict=True)) | {"g": moved[0]}


@pytest.mark.parametrize("given", [0, None])
@pytest.mark.parametrize(
    "program", [_also_the_old, _read_after, _same_twice, _of_views, _turned, _two_steps]
)
def test_what_is_needed_afterwards_is_copied_first(program, given):
    state = _state()
    expected = program(_copied(state))
    handed = _copied(state)
    result = fast(trace(program, (handed,), given))(*handed.values())
    for key, value in result.items():
        torch.testing.assert_close(value, expected[key], rtol=1e-14, atol=0)
    if given is None:
        assert all(torch.equal(handed[key], state[key]) for key in state)
