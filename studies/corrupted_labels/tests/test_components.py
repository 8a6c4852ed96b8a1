"""The components against closed forms. Run `python -m pytest` in the folder of the study."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from grokatlas.components.measures import pruning
from grokatlas.components.models import quadratic_mlp
from grokatlas.components.observables import corrupted_accuracies

P = 11


def made(width=5, **keywords):
    data = SimpleNamespace(vocabulary=None, input_shape=(2, P), outputs=P)
    generator = torch.Generator().manual_seed(0)
    return quadratic_mlp.build(data=data, generator=generator, width=width, **keywords)


def test_the_model_squares_its_hidden_units():
    model = made(dropout=None)
    inputs = torch.eye(P, dtype=torch.float64)[torch.tensor([[1, 2], [3, 3]])]
    summed = inputs.flatten(1).numpy() @ model.first.detach().numpy().T
    expected = summed**2 @ model.second.detach().numpy().T
    np.testing.assert_allclose(model(inputs).detach().numpy(), expected)


def test_weights_have_the_published_deviation():
    model = made(width=4000, dropout=None)
    expected = math.sqrt(0.25) / 8000 ** (1 / 3)
    for weight in (model.first, model.second):
        assert float(weight.detach().std()) == pytest.approx(expected, rel=0.02)


def test_a_dropped_unit_is_0_before_it_is_squared_and_the_others_are_scaled():
    model = made(dropout=0.5)
    inputs = torch.eye(P, dtype=torch.float64)[torch.tensor([[1, 2]])]
    noise = torch.tensor([-1.0, 1.0, -1.0, 1.0, -1.0], dtype=torch.float64)
    hidden = 2 * (inputs.flatten(1) @ model.first.T) * torch.tensor([0, 1, 0, 1, 0])
    expected = hidden.square() @ model.second.T
    torch.testing.assert_close(model(inputs, noise), expected)


def test_points_are_told_apart_by_their_labels():
    outputs = torch.eye(4, dtype=torch.float64)  # says 0, 1, 2, 3
    extras = {
        "corrupted": torch.tensor([False, False, True, True]),
        "true_targets": torch.tensor([0, 1, 2, 0]),
    }
    view = SimpleNamespace(
        train_outputs=outputs, extras=extras, data={"train_targets": torch.tensor([0, 2, 1, 3])}
    )
    found = corrupted_accuracies.build()(view)
    assert {name: float(value) for name, value in found.items()} == {
        "uncorrupted_accuracy": 0.5,
        "corrupted_accuracy": 0.5,
        "recovered_accuracy": 0.5,
    }
    assert all(value.dtype == torch.float64 for value in found.values())
    view.train_outputs = outputs * math.nan
    assert all(value.isnan() for value in corrupted_accuracies.build()(view).values())


@pytest.fixture
def pruned(monkeypatch):
    """The rows of a network of two periodic units, which know the rule, and one that is one-hot."""
    tokens = np.arange(P)
    wave = np.cos(2 * math.pi * 3 * tokens / P)
    spike = np.eye(P)[4]
    first = np.stack([np.tile(wave, 2), np.tile(spike, 2), np.tile(wave, 2)])
    second = np.stack([wave, 3 * spike, wave], 1)
    inputs = torch.eye(P)[torch.tensor([[4, 4], [0, 0]])]
    data = {f"{part}_inputs": inputs for part in ("train", "test")}
    data |= {f"{part}_targets": torch.tensor([4, 0]) for part in ("train", "test")}
    params = {"first": torch.tensor(first), "second": torch.tensor(second)}
    each = SimpleNamespace(member=0, step=9, params=params, data=data)
    monkeypatch.setattr(pruning, "restored", lambda run: [each])
    extras = {"corrupted": np.array([True, False])}
    run = SimpleNamespace(
        spec={"model": {"name": "quadratic_mlp"}},
        data=SimpleNamespace(extras=extras, per_member=False),
    )
    return pruning.build()(run)


def test_ratios_are_1_for_one_frequency_and_least_for_a_spike(pruned):
    low = pruned[pruned["order"] == "low"]
    count = P // 2 + 1
    assert low["ratio"].tolist() == pytest.approx([1 / count, 1, 1])
    assert low["first_ratio"].tolist() == pytest.approx([1 / count, 1, 1])
    assert pruned[pruned["order"] == "high"]["ratio"].tolist() == pytest.approx([1, 1, 1 / count])


def test_without_the_unit_that_memorises_the_corrupted_label_is_lost(pruned):
    low = pruned[pruned["order"] == "low"]
    assert low["pruned"].tolist() == [0, 1, 2]
    assert low["corrupted_accuracy"].tolist() == [1, 0, 0]
    assert low["uncorrupted_accuracy"].tolist() == [1, 1, 1]
    assert low["test_accuracy"].tolist() == [1, 0.5, 0.5]


def test_another_model_is_refused():
    run = SimpleNamespace(spec={"model": {"name": "mlp"}}, data=SimpleNamespace(extras={}))
    with pytest.raises(ValueError, match="quadratic_mlp"):
        pruning.build()(run)
