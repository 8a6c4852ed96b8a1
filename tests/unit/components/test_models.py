"""Models without hidden structure, and the MLP: their functions and the laws they start from."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from grokatlas.components.models import (
    bilinear_encoder,
    diagonal_linear,
    hadamard_product,
    linear,
    matrix,
    matrix_factorisation,
    mlp,
)
from grokatlas.engine.dataset import Dataset

MLP = {
    "width": 100,
    "hidden_layers": 1,
    "bias": "hidden",
    "init_law": "normal",
    "init_scale": 2.0,
    "output_scale": 1.0,
}


def _data(inputs, outputs=1, **more):
    targets = np.zeros((len(inputs), outputs))
    return Dataset(inputs, targets, inputs, targets, outputs=outputs, **more)


def _features(dimension, samples=6):
    return _data(np.random.RandomState(0).standard_normal((samples, dimension)))


def _pairs(rows, columns, leading=()):
    places = np.stack(np.unravel_index(np.arange(rows * columns), (rows, columns)), axis=1)
    truth = {"truth": np.zeros((*leading, rows, columns))}
    if leading:
        return _data(np.stack([places] * leading[0]), extras=truth, per_member=True)
    return _data(places, extras=truth)


def _build(module, data, seed=0, **keywords):
    return module.build(data=data, generator=torch.Generator().manual_seed(seed), **keywords)


def _moments(values):
    """Mean and variance of many draws, and their standard errors under a normal law."""
    values = torch.cat([value.detach().flatten() for value in values])
    count, variance = values.numel(), values.var().item()
    errors = (variance / count) ** 0.5, variance * (2 / count) ** 0.5
    return values.mean().item(), variance, *errors


def _assert_normal(values, variance):
    mean, found, mean_error, variance_error = _moments(values)
    assert abs(mean) < 4 * mean_error
    assert abs(found - variance) < 4 * variance_error
    values = torch.cat([value.detach().flatten() for value in values])
    beyond = (values.abs() > 2 * variance**0.5).double().mean().item()
    assert 0.03 < beyond < 0.065  # 0.0455 for a normal law, 0 for a uniform one


def test_relu_student_is_its_published_sum():
    data = _features(1)
    model = _build(mlp, data, **MLP)
    named = {key: value.detach().numpy() for key, value in model.named_parameters()}
    assert {key: value.size for key, value in named.items()} == {
        "layers.0.weight": 100,
        "layers.0.bias": 100,
        "layers.1.weight": 100,
    }
    v, b, u = (named[f"layers.{key}"].ravel() for key in ("0.weight", "0.bias", "1.weight"))
    expected = [sum(u * np.maximum(v * x + b, 0)) for x in data.train_inputs[:, 0]]
    outputs = model(torch.from_numpy(data.train_inputs)).detach().numpy()
    np.testing.assert_allclose(outputs[:, 0], expected, rtol=1e-13)


def test_relu_student_starts_at_variance_4():
    models = [_build(mlp, _features(1), seed, **MLP) for seed in range(50)]
    for name in ("layers.0.weight", "layers.0.bias", "layers.1.weight"):
        _assert_normal([dict(model.named_parameters())[name] for model in models], 4.0)


@pytest.mark.parametrize(
    ("init_law", "variances"),
    [("normal_fan_in", (1 / 30, 1 / 80)), ("normal_fan_out", (1 / 80, 1 / 50))],
)
def test_mlp_starts_at_the_variance_of_its_law(init_law, variances):
    data = _data(np.zeros((2, 30)), outputs=50)
    changes = {"width": 80, "bias": False, "init_law": init_law, "init_scale": 3.0}
    models = [_build(mlp, data, seed, **MLP | changes) for seed in range(5)]
    for layer, variance in enumerate(variances):
        _assert_normal([model.layers[layer].weight for model in models], 9 * variance)


@pytest.mark.parametrize("init_law", ["uniform_fan_in", "normal_fan_in"])
def test_mlp_draws_biases_as_torch_does(init_law):
    data = _data(np.zeros((2, 25)), outputs=400)
    changes = {"width": 400, "bias": True, "init_law": init_law, "init_scale": 1.0}
    model = _build(mlp, data, **MLP | changes)
    for layer, fan_in in zip(model.layers, (25, 400), strict=True):
        uniform = [layer.bias] if init_law == "normal_fan_in" else [layer.bias, layer.weight]
        for tensor in uniform:
            assert 0.97 * fan_in**-0.5 < tensor.abs().max() <= fan_in**-0.5
            assert tensor.min() < 0


@pytest.mark.parametrize(
    ("bias", "found"), [(True, [1, 1, 1]), (False, [0] * 3), ("hidden", [1, 1, 0])]
)
def test_mlp_has_the_biases_it_is_asked_for(bias, found):
    model = _build(mlp, _features(3), **MLP | {"bias": bias, "hidden_layers": 2})
    assert [int(layer.bias is not None) for layer in model.layers] == found


def test_diagonal_linear_is_the_product_of_its_vectors():
    data = _features(500)
    model = _build(diagonal_linear, data, init_variance=0.1)
    u, v = model.u.detach().numpy(), model.v.detach().numpy()
    outputs = model(torch.from_numpy(data.train_inputs)).detach().numpy()
    np.testing.assert_allclose(outputs[:, 0], data.train_inputs @ (u * v), rtol=1e-12, atol=1e-12)
    models = [_build(diagonal_linear, data, seed, init_variance=0.1) for seed in range(10)]
    for name in ("u", "v"):
        _assert_normal([getattr(model, name) for model in models], 0.1)


@pytest.mark.parametrize(("module", "depth"), [(hadamard_product, 3), (linear, None)])
def test_one_number_starts_every_weight(module, depth):
    more = {"depth": depth} if depth else {"negative_slope": 1.0}
    for init in (1e-2, torch.tensor(1e-2, dtype=torch.float64)):
        model = _build(module, _features(4), init=init, **more)
        (weights,) = (parameter.detach() for parameter in model.parameters())
        assert torch.equal(weights, torch.full_like(weights, 1e-2))
        weights.add_(1)  # each entry has a place of its own


def test_hadamard_product_with_several_outputs_is_refused():
    data = _data(np.zeros((6, 4)), outputs=3)
    with pytest.raises(ValueError, match="one output of a vector; the task asks for 3 outputs"):
        _build(hadamard_product, data, depth=2, init="normal")


def test_hadamard_product_follows_the_gradient_of_its_factors():
    data = _features(4)
    model = _build(hadamard_product, data, depth=3, init=[0.1 * k for k in range(12)])
    inputs = torch.from_numpy(data.train_inputs)
    (gradient,) = torch.autograd.grad(model(inputs).sum(), model.factors)
    factors = model.factors.detach().numpy()
    for factor in range(3):
        others = np.prod(np.delete(factors, factor, axis=0), axis=0)
        expected = data.train_inputs.sum(axis=0) * others
        np.testing.assert_allclose(gradient[factor], expected, rtol=1e-12, atol=1e-12)


def test_matrix_starts_at_a_multiple_of_the_identity_and_gives_its_entries():
    data = _pairs(4, 3)
    model = _build(matrix, data, init_scale=1e-6)
    assert torch.equal(model.matrix.detach(), 1e-6 * torch.eye(4, 3, dtype=torch.float64))
    model.matrix.data = torch.randn(4, 3, dtype=torch.float64)
    outputs = model(torch.from_numpy(data.train_inputs))
    assert torch.equal(outputs, model.matrix.flatten()[:, None])


def test_factorisation_gives_the_entries_of_its_product():
    data = _pairs(5, 4)
    model = _build(matrix_factorisation, data, factors=3, init_scale=0.5)
    assert (model.u.shape, model.v.shape) == ((5, 3), (4, 3))
    outputs = model(torch.from_numpy(data.train_inputs)).detach().numpy()
    product = np.einsum("ik,jk->ij", model.u.detach().numpy(), model.v.detach().numpy())
    np.testing.assert_allclose(outputs[:, 0], product.ravel(), rtol=1e-13, atol=1e-15)


def test_factorisation_starts_from_a_normal_law():
    built = [
        _build(matrix_factorisation, _pairs(20, 20), seed, factors=10, init_scale=0.5)
        for seed in range(20)
    ]
    for name in ("u", "v"):
        _assert_normal([getattr(model, name) for model in built], 0.25)


def test_gradient_of_observed_entries_is_the_masked_residual():
    pairs = np.array([[0, 1], [3, 2], [2, 0], [3, 2]])
    data = _data(pairs, extras={"truth": np.zeros((4, 3))})
    model = _build(matrix, data, init_scale=2.0)
    weights = torch.tensor([1.0, 10.0, 100.0, 1000.0], dtype=torch.float64)
    outputs = model(torch.from_numpy(pairs))[:, 0]
    (gradient,) = torch.autograd.grad((weights * outputs).sum(), model.matrix)
    expected = torch.zeros(4, 3, dtype=torch.float64)
    expected[0, 1], expected[2, 0], expected[3, 2] = 1.0, 100.0, 1010.0
    assert torch.equal(gradient, expected)


@pytest.mark.parametrize("module", [matrix, matrix_factorisation])
def test_matrices_of_members_with_their_own_truth_have_its_shape(module):
    more = {"factors": 2} if module is matrix_factorisation else {}
    model = _build(module, _pairs(5, 4, leading=(3,)), init_scale=1.0, **more)
    inputs = torch.from_numpy(_pairs(5, 4).train_inputs)
    assert model(inputs).shape == (20, 1)


@pytest.mark.parametrize(
    ("module", "keywords", "message"),
    [
        (matrix, {"init_scale": 1.0}, "index pairs"),
        (matrix_factorisation, {"factors": 2, "init_scale": 1.0}, "index pairs"),
        (hadamard_product, {"depth": 2, "init": [1.0]}, "model.init has 1 entries"),
        (linear, {"init": [1.0, 2.0], "negative_slope": 1.0}, "model.init has 2 entries"),
    ],
)
def test_unfit_data_are_refused(module, keywords, message):
    with pytest.raises(ValueError, match=message):
        _build(module, _features(3), **keywords)


def test_models_of_vectors_refuse_images_and_tokens():
    with pytest.raises(ValueError, match="vectors"):
        _build(diagonal_linear, _data(np.zeros((2, 3, 3))), init_variance=0.1)
    tokens = replace(_pairs(5, 5), vocabulary=5)
    for data in (_data(np.zeros((2, 3, 3))), tokens):
        with pytest.raises(ValueError, match="vectors"):
            _build(linear, data, init=1.0, negative_slope=1.0)
    with pytest.raises(ValueError, match="not tokens"):
        _build(mlp, tokens, **MLP)


ENCODER = {"composition": "matrix_product", "side": 2, "width": 8, "bias": True}


@pytest.mark.parametrize("embedding", ["shared", "separate"])
def test_bilinear_encoder_takes_tokens_or_their_embedding(embedding):
    tokens = np.array([[0, 1], [4, 4], [2, 0]])
    data = _data(tokens, outputs=5, vocabulary=5)
    model = _build(bilinear_encoder, data, embedding=embedding, **ENCODER)
    inputs = torch.from_numpy(tokens)
    features = model.embed(inputs)
    tables = [model.embedding[0], model.embedding[-1]]
    for position, table in enumerate(tables):
        assert torch.equal(features[:, position], table[inputs[:, position]])
    assert torch.equal(model(features), model(inputs))
    left, right = (features[:, k].reshape(-1, 2, 2).detach() for k in (0, 1))
    hidden = torch.relu(model.hidden(torch.einsum("nij,njk->nik", left, right).flatten(1)))
    torch.testing.assert_close(model(inputs), model.readout(hidden), rtol=1e-12, atol=1e-14)
