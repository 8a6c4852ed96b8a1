"""The one-layer transformer against the formulas of its source, written head by head."""

import numpy as np
import pytest
import torch

from grokatlas.components.models import transformer
from grokatlas.engine import dataset
from grokatlas.engine.run import Run
from tests.runs import addition, schedule

TASK = addition(7, "tokens")
SMALL = {
    "dimension": 12,
    "heads": 3,
    "head_dimension": 5,
    "width": 16,
    "embedding": "learned",
    "unembedding": "learned",
    "dropout": None,
    "weight_noise": None,
}
PUBLISHED = SMALL | {"dimension": 128, "heads": 4, "head_dimension": 32, "width": 512}
TABLES = ("embedding", "unembedding")


def _data(tokens, vocabulary):
    targets = np.zeros(len(tokens), dtype=int)
    return dataset.Dataset(tokens, targets, tokens, targets, vocabulary, vocabulary)


def _prompts(modulus, samples=9):
    """Prompts (a, b, =) of addition modulo `modulus`."""
    numbers = np.random.RandomState(0).randint(0, modulus, (samples, 2))
    return _data(np.insert(numbers, 2, modulus, axis=1), modulus + 1)


def _build(data, seed=0, **keywords):
    return transformer.build(data=data, generator=torch.Generator().manual_seed(seed), **keywords)


def _source(weights, tokens):
    """All positions with a causal mask, one sample and one head at a time; last logits."""
    logits = []
    for sample in tokens:
        stream = np.stack([weights["embedding"][t] for t in sample]) + weights["position"]
        mixed = []
        for query, key, value in zip(*(weights[k] for k in ("query", "key", "value")), strict=True):
            scores = (stream @ query.T) @ (stream @ key.T).T / np.sqrt(len(query))
            scores[np.triu_indices(len(sample), 1)] = -np.inf
            attention = np.exp(scores - scores.max(axis=1, keepdims=True))
            attention /= attention.sum(axis=1, keepdims=True)
            mixed.append(attention @ (stream @ value.T))
        stream = stream + np.concatenate(mixed, axis=1) @ weights["attention_out"].T
        hidden = np.maximum(stream @ weights["mlp_in"].T + weights["mlp_in_bias"], 0)
        stream = stream + hidden @ weights["mlp_out"].T + weights["mlp_out_bias"]
        logits.append((stream @ weights["unembedding"])[-1])
    return np.stack(logits)


def _with_biases(model):
    """The model, its biases no longer zero."""
    for name in ("mlp_in_bias", "mlp_out_bias"):
        getattr(model, name).data.copy_(torch.linspace(-1, 1, len(getattr(model, name))))
    return model


def test_forward_is_the_source_written_out():
    data = _prompts(11)
    model = _with_biases(_build(data, **SMALL))
    weights = {key: value.numpy() for key, value in model.state_dict().items()}
    outputs = model(torch.from_numpy(data.train_inputs)).detach()
    assert outputs.shape == (9, 12)
    np.testing.assert_allclose(outputs, _source(weights, data.train_inputs), rtol=1e-11, atol=1e-13)


def test_published_size_has_its_shapes_and_laws():
    model = _build(_prompts(113), **PUBLISHED)
    shapes = {key: tuple(value.shape) for key, value in model.named_parameters()}
    assert shapes == {
        "embedding": (114, 128),
        "position": (3, 128),
        "query": (4, 32, 128),
        "key": (4, 32, 128),
        "value": (4, 32, 128),
        "attention_out": (128, 128),
        "mlp_in": (512, 128),
        "mlp_in_bias": (512,),
        "mlp_out": (128, 512),
        "mlp_out_bias": (128,),
        "unembedding": (128, 114),
    }
    for key, value in model.named_parameters():
        if key.endswith("bias"):
            assert not value.any()
            continue
        variance = 1 / 114 if key == "unembedding" else 1 / 128
        error = variance * (2 / value.numel()) ** 0.5
        assert abs(value.var().item() - variance) < 4 * error, key
        assert abs(value.mean().item()) < 4 * (variance / value.numel()) ** 0.5, key


@pytest.mark.parametrize("fixed", [("embedding",), ("unembedding",), TABLES, ()])
def test_a_fixed_matrix_is_neither_trained_nor_decayed(fixed):
    keywords = SMALL | dict.fromkeys(fixed, "fixed")
    spec = {
        "task": TASK,
        "model": {"name": "transformer"} | keywords,
        "loss": {"name": "cross_entropy"},
        "dynamics": {"name": "gradient_training"},
        "optimizer": {"name": "gd", "lr": 0.1},
        "penalties": [{"name": "l2", "weight": 0.1, "squared": True}],
        "ensemble": {"seed": [0, 1]},
        "train": schedule(5, every=5, snapshots=[0, 5]),
    }
    data = dataset.make([TASK])
    run = Run(spec, data, torch.device("cpu"))
    before = {key: value.clone() for key, value in run.constants.items()}
    assert set(before) == set(fixed)
    assert not set(fixed) & set(run.parameters())
    started = {key: value.clone() for key, value in run.parameters().items()}
    for _ in range(5):
        run.move(1)
    for key, value in run.constants.items():
        assert torch.equal(value, before[key])
        for member, seed in enumerate(spec["ensemble"]["seed"]):
            model = _build(data, seed, **keywords)
            assert torch.equal(value[member], getattr(model, key))
    for key, value in run.parameters().items():
        assert not torch.equal(value, started[key]), key


def test_gradient_of_the_embedding_repeats_on_several_threads():
    data = _prompts(96, samples=4000)
    model = _build(data, **SMALL | {"dimension": 64})
    tokens = torch.from_numpy(data.train_inputs)
    weights = torch.randn(4000, 3, 64, generator=torch.Generator().manual_seed(1))
    table = model.embedding.detach().float().requires_grad_()

    def gradient(threads):
        torch.set_num_threads(threads)
        features = torch.func.functional_call(_Embed(model), {"model.embedding": table}, (tokens,))
        return torch.autograd.grad((features * weights).sum(), table)[0]

    before = torch.get_num_threads()
    found = [gradient(threads) for threads in (1, *[4] * 10)]
    torch.set_num_threads(before)
    assert all(torch.equal(found[0], other) for other in found)


class _Embed(torch.nn.Module):
    """`embed` as the forward pass."""

    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, tokens):
        return self.model.embed(tokens)
