import pytest
import torch

from grokatlas.engine.ensemble import Mapped, generators, select, stack


def _energy(params: dict, inputs: torch.Tensor) -> torch.Tensor:
    return torch.relu(inputs @ params["weight"].T).square().mean() + params["bias"].abs().sum()


def _step(params: dict, inputs: torch.Tensor) -> dict:
    grads = torch.func.grad(_energy)(params, inputs)
    return {key: value - 0.1 * grads[key] for key, value in params.items()}


@pytest.fixture
def params():
    generator = torch.Generator().manual_seed(0)
    return {
        "weight": torch.randn(3, 4, 5, generator=generator, dtype=torch.float64),
        "bias": torch.randn(3, 2, generator=generator, dtype=torch.float64),
    }


@pytest.mark.parametrize(("dim", "shape"), [(None, (6, 5)), (0, (3, 6, 5))])
def test_traced_equals_untraced(params, dim, shape):
    inputs = torch.linspace(-1, 1, torch.Size(shape).numel(), dtype=torch.float64).reshape(shape)
    mapped = Mapped(_step, (0, dim))
    untraced = torch.func.vmap(_step, in_dims=(0, dim))
    for _ in range(3):
        expected = untraced(params, inputs)
        params = mapped(params, inputs)
        for key, value in params.items():
            torch.testing.assert_close(value, expected[key], rtol=1e-14, atol=1e-14)


def test_a_new_shape_is_traced_anew(params):
    mapped = Mapped(_step, (0, None))
    for samples in (6, 2, 6):
        inputs = torch.full((samples, 5), 1.0 + samples, dtype=torch.float64)
        expected = torch.func.vmap(_step, in_dims=(0, None))(params, inputs)
        torch.testing.assert_close(mapped(params, inputs), expected)


def test_the_trace_holds_no_values_of_its_first_call(params):
    mapped = Mapped(_step, (0, None))
    inputs = torch.ones(6, 5, dtype=torch.float64)
    mapped(params, inputs)
    other = {key: -2 * value for key, value in params.items()}
    expected = torch.func.vmap(_step, in_dims=(0, None))(other, 3 * inputs)
    torch.testing.assert_close(mapped(other, 3 * inputs), expected)


def test_results_carry_no_graph(params):
    params = {key: value.requires_grad_() for key, value in params.items()}
    moved = Mapped(_step, (0, None))(params, torch.ones(6, 5, dtype=torch.float64))
    assert not any(value.requires_grad for value in moved.values())


def test_a_generator_depends_on_its_own_seed_alone():
    first, second = generators([5, 9])
    (alone,) = generators([9])
    torch.rand(10, generator=first)
    assert torch.equal(torch.rand(4, generator=second), torch.rand(4, generator=alone))


def test_stack_puts_members_first():
    trees = [{"a": torch.full((2, 3), k), "b": torch.tensor(k)} for k in range(4)]
    stacked = stack(trees)
    assert stacked["a"].shape == (4, 2, 3)
    assert stacked["b"].tolist() == [0, 1, 2, 3]


def test_one_tensor_given_twice_stays_two_arguments():
    mapped = Mapped(lambda a, b: {"difference": a - b}, (0, 0))
    same = torch.ones(2, 3)
    mapped(same, same)
    assert mapped(same, 3 * same)["difference"].tolist() == [[-2.0] * 3] * 2


def test_select_keeps_places_of_every_tensor():
    tree = {"a": torch.arange(4), "b": {"c": torch.arange(8).reshape(4, 2)}, "d": {}}
    chosen = select(tree, [2, 0])
    assert chosen["a"].tolist() == [2, 0]
    assert chosen["b"]["c"].tolist() == [[4, 5], [0, 1]]
