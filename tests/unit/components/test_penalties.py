"""Penalties where values and gradients are known."""

import pytest
import torch

from grokatlas.components.penalties import jacobian, l1, nuclear

FORMS = ["norm", "half_square"]


def _randn(*shape, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(shape, generator=generator, dtype=torch.float64)


class _Squared:
    """``f(x) = W x^2``, with the Jacobian ``2 W diag(x)``; tokens are embedded first."""

    def __call__(self, params, inputs):
        return self.features(params, inputs).square() @ params["weight"].T

    def features(self, params, inputs):
        return inputs if inputs.is_floating_point() else params["embedding"][inputs]


PARAMS = {"weight": _randn(3, 4, seed=1), "embedding": _randn(5, 4, seed=2)}
INPUTS = _randn(6, 4, seed=3)
MODEL = _Squared()


def _norms(inputs):
    """Frobenius norms of the Jacobians of all samples."""
    jacobians = 2 * PARAMS["weight"] * inputs[:, None, :]
    return torch.linalg.matrix_norm(jacobians)


def test_l1_is_the_sum_of_absolute_values_and_rests_at_zero():
    params = {"a": torch.tensor([3.0, -2.0, 0.0]), "b": torch.tensor([[-1.0]])}
    penalty = l1.build(weight=0.5)
    assert penalty(params, None, None) == 3.0
    gradients = torch.func.grad(penalty)(params, None, None)
    assert gradients["a"].tolist() == [0.5, -0.5, 0.0]
    assert gradients["b"].tolist() == [[-0.5]]


def test_nuclear_is_of_matrices_alone():
    params = {"a": _randn(3, 5), "bias": _randn(7), "b": _randn(4, 2), "kernel": _randn(2, 2, 3)}
    expected = sum(torch.linalg.svdvals(params[key]).sum() for key in ("a", "b"))
    torch.testing.assert_close(nuclear.build(weight=0.1)(params, None, None), 0.1 * expected)


@pytest.mark.parametrize("scale", [1.0, 1e-6, 0.0])
def test_nuclear_has_a_gradient_where_singular_values_repeat(scale):
    params = {"a": scale * torch.eye(4, dtype=torch.float64)}
    found = torch.func.grad(nuclear.build(weight=1.0))(params, None, None)["a"]
    expected = torch.eye(4, dtype=torch.float64) * (scale > 0)
    torch.testing.assert_close(found, expected, rtol=0, atol=1e-14)


def test_nuclear_of_a_model_without_matrices_is_refused():
    with pytest.raises(ValueError, match="a matrix among its parameters"):
        nuclear.build(weight=1.0)({"bias": _randn(3)}, None, None)


@pytest.mark.parametrize("form", FORMS)
def test_exact_jacobian_penalty_is_its_definition(form):
    norms = _norms(INPUTS)
    expected = 0.1 * (norms if form == "norm" else norms.square() / 2).mean()
    penalty = jacobian.build(weight=0.1, form=form, projections=None)
    torch.testing.assert_close(penalty(PARAMS, MODEL, INPUTS), expected)
    # a penalty that is given no noise is exact
    unseen = jacobian.build(weight=0.1, form=form, projections=2)
    torch.testing.assert_close(unseen(PARAMS, MODEL, INPUTS), expected)


@pytest.mark.parametrize("projections", [1, 3])
def test_squared_estimate_of_the_jacobian_is_unbiased(projections):
    penalty = jacobian.build(weight=2.0, form="half_square", projections=projections)
    shape = penalty.noise_shape(tuple(INPUTS.shape), (6, 3))
    assert shape == (projections, 6, 3)
    draws = 4000
    noise = _randn(draws, *shape, seed=4)
    values = torch.func.vmap(lambda each: penalty.given(each)(PARAMS, MODEL, INPUTS))(noise)
    error = values.std() / draws**0.5
    assert abs(values.mean() - _norms(INPUTS).square().mean()) < 4 * error
    assert error < 0.02 * values.mean()


@pytest.mark.parametrize("projections", [1, None])
def test_jacobian_of_zero_rests_at_the_floor(projections):
    penalty = jacobian.build(weight=1.0, form="norm", projections=projections)
    if projections:
        penalty = penalty.given(_randn(1, 6, 3))
    zero = {"weight": torch.zeros(3, 4, dtype=torch.float64)}
    gradient, value = torch.func.grad_and_value(penalty)(zero, MODEL, INPUTS)
    assert value.item() == pytest.approx(1e-4)
    assert torch.equal(gradient["weight"], zero["weight"])


def test_tokens_are_differentiated_by_their_embeddings():
    tokens = torch.tensor([0, 3, 3, 1])
    penalty = jacobian.build(weight=1.0, form="norm", projections=None)
    expected = _norms(PARAMS["embedding"][tokens]).mean()
    torch.testing.assert_close(penalty(PARAMS, MODEL, tokens), expected)
