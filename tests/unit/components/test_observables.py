"""Observables against closed forms."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from scipy.stats import kstest
from torch import nn

from grokatlas.components.observables import (
    centroid,
    fourier_gini,
    gradient_ratio,
    jacobian,
    noisy_accuracy,
    nonzeros,
    norms,
    ntk,
    relative_errors,
    singular_values,
    slow_time,
    squared_errors,
)
from grokatlas.engine.network import Network
from grokatlas.engine.observed import Observed


def _normal(*shape, seed=0):
    return torch.from_numpy(np.random.default_rng(seed).standard_normal(shape))


class _Net(nn.Module):
    """``relu(x W^T) V^T``, with a buffer."""

    def __init__(self, inputs=4, hidden=7, outputs=3):
        super().__init__()
        self.w = nn.Parameter(_normal(hidden, inputs, seed=1))
        self.v = nn.Parameter(_normal(outputs, hidden, seed=2))
        self.register_buffer("fixed", _normal(6, 5, seed=3))

    def forward(self, inputs):
        return torch.relu(inputs @ self.w.T) @ self.v.T


class _Linear(nn.Module):
    def __init__(self, weight):
        super().__init__()
        self.weight = nn.Parameter(weight)

    def forward(self, inputs):
        return inputs @ self.weight.T


class _Tokens(nn.Module):
    """The sum of all entries of the embedded tokens, times 2; ``[N, 1]``."""

    def __init__(self):
        super().__init__()
        self.table = nn.Parameter(_normal(5, 3))

    def embed(self, tokens):
        return self.table[tokens]

    def forward(self, inputs):
        features = inputs if inputs.is_floating_point() else self.embed(inputs)
        return 2 * features.flatten(1).sum(1, keepdim=True)


def _mse(params, model, inputs, targets):
    return (model(params, inputs) - targets).square().sum()


def _view(model, inputs, targets, penalties=(), extras=None, dynamics=None, step=0):
    params = {key: value.detach() for key, value in model.named_parameters()}
    network = Network(model, dict(model.named_buffers()))
    data = {
        "train_inputs": inputs,
        "train_targets": targets,
        "test_inputs": inputs,
        "test_targets": targets,
    }
    taken = torch.tensor(float(step))
    return Observed(params, network, _mse, list(penalties), data, extras or {}, dynamics, taken)


def _given(outputs, targets):
    """A view of a model whose outputs are these."""
    return _view(_Linear(torch.eye(outputs.shape[1])), outputs, targets)


def test_norms():
    view = _view(_Net(), _normal(2, 4), _normal(2, 3))
    view.params["bias"] = torch.tensor([3.0, -4.0], dtype=torch.float64)
    seen = norms.build(orders=["l1", "l2", "nuclear"])(view)
    w, v = (view.params[k].numpy() for k in "wv")
    flat = np.concatenate([w.ravel(), v.ravel(), [3, -4]])
    assert float(seen["l1_norm"]) == pytest.approx(np.abs(flat).sum())
    assert float(seen["l2_norm"]) == pytest.approx(np.linalg.norm(flat))
    nuclear = np.linalg.norm(w, "nuc") + np.linalg.norm(v, "nuc")
    assert float(seen["nuclear_norm"]) == pytest.approx(nuclear)


def test_nonzeros_counts_entries_above_the_threshold():
    model = _Linear(torch.tensor([[0.0, 1e-3, -1e-2, 2e-3]]))
    view = _view(model, _normal(2, 4).float(), _normal(2, 1).float())
    assert float(nonzeros.build(threshold=1e-3)(view)["l0_norm"]) == 2
    assert float(nonzeros.build(threshold=0.0)(view)["l0_norm"]) == 3


def test_relative_errors_of_a_linear_model_on_unit_vectors_are_those_of_its_weights():
    weights, truth = _normal(1, 9), _normal(9, 1, seed=4)
    view = _view(_Linear(weights), torch.eye(9, dtype=torch.float64), truth)
    seen = relative_errors.build()(view)
    difference = weights[0] - truth[:, 0]
    assert float(seen["test_error"]) == pytest.approx(float(difference.norm() / truth.norm()))
    assert float(seen["test_deviation"]) == pytest.approx(float(difference.abs().mean()))
    assert seen["train_error"] == seen["test_error"]


def test_relative_errors_refuse_labels():
    with pytest.raises(ValueError, match="real targets"):
        relative_errors.build()(_given(_normal(2, 3).float(), torch.tensor([0, 1])))


@pytest.mark.parametrize("threshold", [0.0, 0.5])
def test_gradient_ratio(threshold):
    weight = torch.tensor([[0.8, -0.3, -1.2]], dtype=torch.float64)
    inputs, targets = _normal(5, 3, seed=1), _normal(5, 1, seed=2)

    def lasso(params, model, inputs):
        return 0.1 * params["weight"].abs().sum()

    def ridge(params, model, inputs):
        return 0.2 * params["weight"].square().sum()

    view = _view(_Linear(weight), inputs, targets, [lasso, ridge])
    seen = gradient_ratio.build(threshold=threshold)(view)
    loss = 2 * inputs.T @ (inputs @ weight[0] - targets[:, 0])
    kept = weight if threshold == 0 else torch.tensor([[0.8, 0.0, -1.2]], dtype=torch.float64)
    penalty = 0.1 * kept.sign() + 0.4 * kept
    assert float(seen["gradient_ratio"]) == pytest.approx(float(penalty.norm() / loss.norm()))


@pytest.mark.parametrize("entry", [math.nan, math.inf])
def test_decompositions_of_a_member_that_diverged_are_no_numbers(entry):
    weight = _normal(2, 3)
    weight[0, 1] = entry
    views = [_view(_Linear(w), _normal(4, 3), _normal(4, 2)) for w in (_normal(2, 3), weight)]
    builds = [
        (norms.build(orders=["nuclear"]), "nuclear_norm"),
        (singular_values.build(parameters=["weight"]), "singular_values"),
        (jacobian.build(samples=3), "jacobian_pc1"),
    ]
    for observe, column in builds:
        sound, diverged = (observe(view)[column] for view in views)
        assert sound.isfinite().all()
        assert diverged.isnan().all()
        assert diverged.shape == sound.shape


def test_gradient_ratio_refuses_what_has_no_gradient():
    class Noisy:
        def noise_shape(self, inputs, outputs):
            return (1,)

    view = _view(_Linear(_normal(1, 3)), _normal(5, 3), _normal(5, 1))
    with pytest.raises(ValueError, match="at least one penalty"):
        gradient_ratio.build(threshold=0.0)(view)
    view.penalties = [lambda params, model, inputs: params["weight"].sum(), Noisy()]
    with pytest.raises(ValueError, match="draws noise"):
        gradient_ratio.build(threshold=0.0)(view)


@pytest.mark.parametrize("parameters", [["w"], ["u", "v"]])
def test_singular_values_and_distance_to_the_truth(parameters):
    tensors = {"w": _normal(5, 4), "u": _normal(5, 2), "v": _normal(4, 2, seed=1)}
    truth = _normal(5, 4, seed=2)
    view = _view(_Linear(tensors["w"]), _normal(3, 4), _normal(3, 5), extras={"truth": truth})
    view.params = tensors
    seen = singular_values.build(parameters=parameters)(view)
    matrix = tensors["w"] if parameters == ["w"] else tensors["u"] @ tensors["v"].T
    expected = np.linalg.svd(matrix.numpy(), compute_uv=False)
    np.testing.assert_allclose(seen["singular_values"], expected, atol=1e-12)
    distance = (matrix - truth).numpy()
    assert float(seen["nuclear_distance"]) == pytest.approx(np.linalg.norm(distance, "nuc"))
    assert float(seen["spectral_distance"]) == pytest.approx(np.linalg.norm(distance, 2))


def test_singular_values_name_what_there_is():
    view = _view(_Net(), _normal(2, 4), _normal(2, 3))
    with pytest.raises(ValueError, match="no matrix 'x' among the parameters; it has w, v"):
        singular_values.build(parameters=["x"])(view)
    with pytest.raises(ValueError, match="one matrix or two"):
        singular_values.build(parameters=["w", "w", "v"])


def _jacobians(view, samples):
    """``[samples, C, D]`` by autograd, one sample at a time."""
    points = view.data["train_inputs"][:samples]
    function = torch.func.jacrev(lambda x: view.model(view.params, x[None])[0])
    return torch.stack([function(x) for x in points])


def test_centroid_is_the_sum_of_the_rows_of_the_jacobian():
    view = _view(_Net(), _normal(6, 4), _normal(6, 3))
    seen = centroid.build(samples=5)(view)
    centroids = _jacobians(view, 5).sum(1).numpy()
    points = view.data["train_inputs"][:5].numpy()
    inner = (centroids * points).sum(1)
    sizes = np.linalg.norm(centroids, axis=1)
    cosines = inner / sizes / np.linalg.norm(points, axis=1)
    expected = {
        "centroid_alignment_mean": cosines.mean(),
        "centroid_alignment_min": cosines.min(),
        "centroid_alignment_max": cosines.max(),
        "centroid_inner_product_mean": inner.mean(),
        "centroid_norm_mean": sizes.mean(),
        "centroid_reciprocal_norm_mean": (1 / sizes).mean(),
        "probe_alignment": cosines[0],
        "probe_inner_product": inner[0],
        "probe_norm": sizes[0],
    }
    assert {key: float(value) for key, value in seen.items()} == pytest.approx(expected)


def test_centroid_of_tokens_is_in_their_embedding():
    tokens = torch.tensor([[0, 1], [2, 2], [4, 3]])
    model = _Tokens()
    seen = centroid.build(samples=3)(_view(model, tokens, _normal(3, 1)))
    features = model.table.detach()[tokens].flatten(1)
    cosines = features.sum(1) / features.norm(dim=1) / 6**0.5
    assert float(seen["centroid_alignment_mean"]) == pytest.approx(float(cosines.mean()))
    assert float(seen["probe_norm"]) == pytest.approx(2 * 6**0.5)


def test_a_dead_network_has_alignment_zero():
    model = _Linear(torch.zeros(2, 3, dtype=torch.float64))
    seen = centroid.build(samples=2)(_view(model, _normal(2, 3), _normal(2, 2)))
    assert float(seen["centroid_alignment_mean"]) == 0
    dead = jacobian.build(samples=2)(_view(model, _normal(2, 3), _normal(2, 2)))
    assert float(dead["jacobian_pc1"]) == float(dead["jacobian_norm"]) == 0


def test_jacobian_share_and_norm():
    view = _view(_Net(), _normal(6, 4), _normal(6, 3))
    seen = jacobian.build(samples=4)(view)
    sigma = np.linalg.svd(_jacobians(view, 4).numpy(), compute_uv=False)
    shares = sigma[:, 0] ** 2 / (sigma**2).sum(1)
    assert 1 / 3 < shares.mean() < 1
    assert float(seen["jacobian_pc1"]) == pytest.approx(shares.mean())
    norm = np.sqrt((sigma**2).sum(1)).mean()
    assert float(seen["jacobian_norm"]) == pytest.approx(norm)


def test_a_jacobian_of_rank_one_has_share_one():
    model = _Linear(torch.outer(_normal(3), _normal(5, seed=1)))
    seen = jacobian.build(samples=2)(_view(model, _normal(4, 5), _normal(4, 3)))
    assert float(seen["jacobian_pc1"]) == pytest.approx(1)


@pytest.mark.parametrize("probe", [0, 3])
def test_ntk_is_the_mean_of_kernels_written_out(probe):
    inputs, labels = _normal(6, 4), torch.tensor([0, 1, 1, 0, 1, 0])
    view = _view(_Net(outputs=1), inputs, labels)
    seen = ntk.build(probe=probe)(view)

    def gradient(place):
        found = torch.func.grad(lambda p: view.model(p, inputs[place][None])[0, 0])(view.params)
        return torch.cat([found[key].flatten() for key in sorted(found)])

    kernel = torch.stack([gradient(probe) @ gradient(j) for j in range(6)])
    residuals = labels - torch.sigmoid(view.train_outputs[:, 0])
    assert float(seen["ntk_mean"]) == pytest.approx(float(kernel.mean()))
    assert float(seen["ntk_residual_mean"]) == pytest.approx(float((kernel * residuals).mean()))


def test_ntk_residual_is_the_first_change_under_gradient_descent():
    inputs, labels = _normal(6, 4), torch.tensor([0, 1, 1, 0, 1, 0])
    view = _view(_Net(outputs=1), inputs, labels)
    seen = ntk.build(probe=0)(view)

    def loss(params):
        outputs = view.model(params, inputs)[:, 0]
        return nn.functional.binary_cross_entropy_with_logits(outputs, labels.double())

    rate = 1e-6
    slope = torch.func.grad(loss)(view.params)
    moved = {key: value - rate * slope[key] for key, value in view.params.items()}
    change = view.model(moved, inputs[:1]) - view.model(view.params, inputs[:1])
    assert float(seen["ntk_residual_mean"]) == pytest.approx(float(change) / rate, rel=1e-3)


def test_ntk_refuses_more_outputs_and_a_probe_out_of_range():
    with pytest.raises(ValueError, match="one output"):
        ntk.build(probe=0)(_view(_Net(), _normal(2, 4), _normal(2, 3)))
    with pytest.raises(ValueError, match="probe 2 must be less"):
        ntk.build(probe=2)(_view(_Net(outputs=1), _normal(2, 4), _normal(2, 1)))


def _gini(weight, tokens=None, parameters=("weight",), **tensors):
    view = _view(_Linear(weight), _normal(2, weight.shape[1]), _normal(2, len(weight)))
    view.params |= tensors
    tokens = tokens or len(weight)
    build = fourier_gini.build(label="x", parameters=list(parameters), tokens=tokens)
    return float(build(view)["fourier_gini_x"])


def test_gini_of_one_frequency_and_of_all():
    angles = 2 * torch.pi * torch.arange(7, dtype=torch.float64) / 7
    one = torch.stack([torch.cos(2 * angles), torch.sin(2 * angles)], dim=1)
    assert _gini(one) == pytest.approx(1 - 2 / 7)  # frequencies 2 and 5 = -2 are equal
    assert _gini(torch.ones(7, 2, dtype=torch.float64)) == pytest.approx(1 - 1 / 7)
    assert _gini(torch.eye(7, dtype=torch.float64)) == pytest.approx(0, abs=1e-12)


def test_gini_is_the_mean_difference_of_the_norms():
    weight = _normal(9, 4)
    norms_ = np.linalg.norm(np.fft.fft(weight[:8].numpy(), axis=0), axis=1)
    differences = np.abs(norms_[:, None] - norms_[None]).mean()
    assert _gini(weight, tokens=8) == pytest.approx(differences / 2 / norms_.mean())


def test_gini_of_a_product_and_of_a_buffer():
    unembedding, out = _normal(3, 6), _normal(3, 8, seed=1)
    product = _gini(_normal(6, 2), 6, ["u", "o"], u=unembedding, o=out)
    assert product == pytest.approx(_gini(unembedding.T @ out))
    view = _view(_Net(), _normal(2, 4), _normal(2, 3))
    seen = fourier_gini.build(label="fixed", parameters=["fixed"], tokens=5)(view)
    expected = _gini(view.model.constants["fixed"], tokens=5)
    assert float(seen["fourier_gini_fixed"]) == pytest.approx(expected)


def test_gini_names_what_there_is():
    view = _view(_Net(), _normal(2, 4), _normal(2, 3))
    with pytest.raises(ValueError, match="no matrix 'x' in the model; it has fixed, w, v"):
        fourier_gini.build(label="a", parameters=["x"], tokens=1)(view)
    with pytest.raises(ValueError, match="tokens 8 is more than the 7 rows"):
        fourier_gini.build(label="a", parameters=["w"], tokens=8)(view)


def test_slow_time_is_that_of_the_dynamics_regulariser():
    dynamics = SimpleNamespace(rate=0.5, l1=1e-3, l2=0.1)
    view = _view(_Linear(_normal(1, 3)), _normal(5, 3), _normal(5, 1), dynamics=dynamics, step=40)
    seen = slow_time.build(weight="l1")(view)
    assert float(seen["fast_time"]) == pytest.approx(20)
    assert float(seen["slow_time"]) == pytest.approx(0.02)
    with pytest.raises(ValueError, match="no keyword 'weight'"):
        slow_time.build(weight="weight")(view)


def test_squared_errors_leave_derivatives_out():
    outputs, derivatives = _normal(4, 2).float(), _normal(4, 2, seed=1).float()
    values = outputs + 3
    plain = squared_errors.build()(_given(outputs, values))
    both = torch.stack([values, derivatives], dim=2)
    assert float(plain["test_squared_error"]) == pytest.approx(9)
    assert squared_errors.build()(_given(outputs, both)) == plain
    with pytest.raises(ValueError, match="real targets"):
        squared_errors.build()(_given(outputs, torch.tensor([0, 1, 1, 0])))


def _heard(amplitudes, spared, step=3, seed=0):
    """What a linear model of many inputs sees: its inputs under noise, one for each amplitude."""
    seen, inputs = [], _normal(50, 4, 5)
    targets = torch.arange(50) % 2

    def model(params, noisy):
        seen.append((noisy - inputs).flatten(1))
        return noisy.flatten(1)[:, :2]

    view = SimpleNamespace(
        params={},
        model=model,
        data={"test_inputs": inputs, "test_targets": targets},
        step=torch.tensor(step, dtype=torch.float64),
    )
    build = noisy_accuracy.build(amplitudes=amplitudes, spared=spared, noise_seed=seed)
    return seen, build(view)["noisy_accuracy"], (inputs.flatten(1)[:, :2].argmax(1) == targets)


def test_noise_spares_the_first_coordinates_and_scales_one_draw():
    seen, found, right = _heard([0.0, 0.5, 2.0], spared=3)
    none, half, double = seen
    assert not none.any()
    assert found[0] == right.double().mean()
    assert not double[:, :3].any()
    assert double[:, 3:].all()
    torch.testing.assert_close(4 * half, double)


def test_noise_is_standard_normal_and_new_at_each_step_and_seed():
    draws = [
        noisy_accuracy.normal(20_000, seed, torch.tensor(step, dtype=torch.float64))
        for seed, step in ((0, 0), (0, 1), (1, 0))
    ]
    for draw in draws:
        assert kstest(draw.numpy(), "norm").pvalue > 1e-3
        assert abs(np.corrcoef(draw[1:], draw[:-1])[0, 1]) < 0.03
    assert np.abs(np.corrcoef(torch.stack(draws).numpy()) - np.eye(3)).max() < 0.03


def test_noise_starts_from_the_published_generator():
    words = noisy_accuracy._mixed(torch.arange(1, 4) * noisy_accuracy.GOLDEN)
    published = [0xE220A8397B1DCDAF, 0x6E789E6AA1B965F4, 0x06C45D188009454F]
    assert [int(word) % 2**64 for word in words] == published
