"""A simplified trace gives the numbers of the program, in fewer and lighter operations."""

from unittest import TestCase

import pytest
import torch

from grokatlas.engine.trace.tracing import fast, operations_of, trace

RANDOM = torch.Generator().manual_seed(0)


def _randn(*shape: int) -> torch.Tensor:
    return torch.randn(shape, generator=RANDOM, dtype=torch.float64)


def _names(module) -> list[str]:
    calls = [node for node in module.graph.nodes if node.op == "call_function"]
    return [str(node.target).split(".")[1] for node in calls]


def _momentum(state: dict, x: torch.Tensor) -> dict:
    momentum = 0.9 * state["m"] + x.square().sqrt() - state["p"] * 3
    return {"m": momentum, "p": state["p"] - 0.1 * momentum, "kept": state["kept"]}


def _curvature(w: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    """The gradient of a penalty on a ReLU network's derivatives."""

    def penalty(w: torch.Tensor) -> torch.Tensor:
        return torch.func.grad(lambda x: (torch.relu(x @ w) @ w.T).sum())(x).square().sum()

    return torch.func.grad(penalty)(w)


def test_equal_operations_run_once():
    def program(x: torch.Tensor) -> torch.Tensor:
        return torch.relu(x @ x) + 2 * torch.relu(x @ x)

    module = trace(program, (_randn(3, 3),), None)
    assert _names(module).count("mm") == 1
    x = _randn(3, 3)
    assert torch.equal(module(x), program(x))


def test_what_depends_on_no_argument_is_computed_before():
    def program(x: torch.Tensor) -> torch.Tensor:
        return x + torch.arange(3).square().to(x.dtype)

    module = trace(program, (_randn(3),), None)
    assert _names(module) == ["add"]
    x = _randn(3)
    assert torch.equal(module(x), program(x))


TABLE = torch.tensor([1.0, 4.0, 9.0], dtype=torch.float64)


def test_a_tensor_of_a_module_is_a_constant_that_stays():
    def program(x: torch.Tensor) -> torch.Tensor:
        return (TABLE + 1) * x

    x = _randn(3)
    module = fast(trace(program, (x,), None))
    assert torch.equal(module(x), program(x))
    assert torch.equal(module(x), program(x))
    assert TABLE.tolist() == [1, 4, 9]


def test_shapes_that_do_not_fit_are_told_without_a_log():
    with TestCase().assertNoLogs("torch._subclasses.fake_tensor"), pytest.raises(RuntimeError):
        trace(lambda x: x @ torch.ones(5, 2, dtype=torch.float64), (_randn(3, 3),), None)


def _decayed(state: dict, x: torch.Tensor) -> dict:
    """A step on a mean square and a decay, whose value itself nothing needs."""

    def objective(w: torch.Tensor) -> torch.Tensor:
        return (x @ w).square().mean() / 1 + 0.5 * w.square().sum()

    return {"w": state["w"] - 0.1 * torch.func.grad(objective)(state["w"])}


def test_a_value_of_which_only_the_gradient_is_needed_is_not_computed():
    state, x = {"w": _randn(4)}, _randn(5, 4)
    module = trace(_decayed, (state, x), None)
    names = _names(module)
    assert not {"ones_like", "mean", "sum", "pow", "div", "permute"} & set(names)
    assert len(names) <= 11  # two products, and what scales and adds
    assert torch.equal(module(state, x)["w"], _decayed(state, x)["w"])


def test_what_changes_nothing_is_left_out_and_what_does_is_not():
    def program(x: torch.Tensor) -> list[torch.Tensor]:
        return [x * 1, x / 1.0, x**1.0, x.permute(0, 1) + 0, x * 2, x**2, x.permute(1, 0) / 3]

    x = _randn(3, 3)
    module = trace(program, (x,), None)
    assert sorted(_names(module)) == ["add", "div", "mul", "permute", "pow"]
    for given, expected in zip(module(x), program(x), strict=True):
        assert torch.equal(given, expected)


def test_times_one_stays_where_it_changes_the_type():
    x = torch.arange(3)
    assert trace(lambda x: x * 1.0, (x,), None)(x).dtype == torch.float32


def test_a_fast_trace_takes_leaves_and_gives_trees():
    state, x = {"m": _randn(4), "p": _randn(4), "kept": _randn(2)}, _randn(4)
    found = fast(trace(_momentum, (state, x), None))(*state.values(), x)
    expected = _momentum(state, x)
    assert found.keys() == expected.keys()
    assert all(torch.equal(found[key], value) for key, value in expected.items())
    nested = fast(trace(lambda x: {"a": (x + 1, {}), "b": [x - 1]}, (x,), None))(x)
    assert nested.keys() == {"a", "b"}
    assert torch.equal(nested["a"][0], x + 1)
    assert nested["a"][1] == {}
    assert torch.equal(nested["b"][0], x - 1)
    assert torch.equal(fast(trace(lambda x: x * 2, (x,), None))(x), x * 2)


def test_products_with_zeros_are_left_out():
    w, x = _randn(4, 4), _randn(5, 4)
    module = trace(_curvature, (w, x), None)
    assert "zeros_like" not in _names(module)
    torch.testing.assert_close(module(w, x), _curvature(w, x), rtol=0, atol=0)


def test_results_are_written_in_place_of_what_is_no_longer_needed():
    state = {"m": _randn(4), "p": _randn(4), "kept": _randn(2)}
    x = _randn(4)
    module = trace(_momentum, (state, x), 0)
    assert {"mul_", "sub_"} <= set(_names(module))
    addresses = {key: value.data_ptr() for key, value in state.items()}
    for _ in range(3):
        expected = _momentum({key: value.clone() for key, value in state.items()}, x)
        before = x.clone()
        state = module(state, x)
        for key, value in state.items():
            assert torch.equal(value, expected[key])
        assert torch.equal(x, before)
    assert state["p"].data_ptr() == addresses["p"]


def test_arguments_that_are_not_given_stay_as_they_are():
    state = {"m": _randn(4), "p": _randn(4), "kept": _randn(2)}
    saved = {key: value.clone() for key, value in state.items()}
    trace(_momentum, (state, _randn(4)), None)(state, _randn(4))
    assert all(torch.equal(saved[key], state[key]) for key in state)


def _views(state: dict) -> dict:
    doubled = state["a"] * 2
    return {"a": doubled + 1, "b": doubled.T, "c": state["b"], "d": doubled.T[0]}


def _swap(state: dict) -> dict:
    return {"a": state["b"], "b": state["a"]}


def _twice(state: dict) -> dict:
    total = state["a"] + state["b"]
    return {"a": total, "b": total}


def _read_after(state: dict) -> dict:
    changed = state["a"].sqrt()
    return {"a": changed + state["b"], "b": state["b"] + state["a"] * changed.sum()}


@pytest.mark.parametrize("program", [_views, _swap, _twice, _read_after])
def test_results_never_share_memory_and_reads_come_before_writes(program):
    state = {"a": _randn(3, 3).abs(), "b": _randn(3, 3), "c": _randn(3, 3), "d": _randn(3)}
    expected = program({key: value.clone() for key, value in state.items()})
    result = trace(program, (state,), 0)({key: value.clone() for key, value in state.items()})
    for key, value in result.items():
        assert torch.equal(value, expected[key]), key
        assert value.is_contiguous()
    memory = [value.untyped_storage().data_ptr() for value in result.values()]
    assert len(memory) == len(set(memory))


def test_a_result_never_takes_a_place_in_another_order():
    def program(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        first, turned = x * 3, x.T * 2
        return (first + turned).view(-1), first.exp()  # the sum lies as `first` does

    x = _randn(3, 3)
    for given, expected in zip(trace(program, (x,), None)(x), program(x), strict=True):
        torch.testing.assert_close(given, expected, rtol=0, atol=0)


def test_a_number_becomes_a_tensor_of_the_arguments_device():
    def program(steps: torch.Tensor) -> torch.Tensor:
        return steps + 1

    mapped = torch.func.vmap(program)
    steps = torch.arange(3, dtype=torch.float64)
    module = operations_of(lambda steps: mapped(steps), (steps.to("meta"),))
    assert {str(node.meta["val"].device) for node in module.graph.nodes if node.meta} == {"meta"}
    assert torch.equal(trace(lambda steps: mapped(steps), (steps,), None)(steps), steps + 1)
