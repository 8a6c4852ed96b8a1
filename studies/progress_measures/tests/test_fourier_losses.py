"""The measure against a network whose logits are known. Run `python -m pytest` in this folder."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from grokatlas.components.measures import fourier_losses

P = 11


@pytest.fixture
def restored(monkeypatch):
    """A function that gives the measure one member with these logits ``[p^2, p]``."""

    def give(logits, task="modular_addition"):
        def outputs(inputs):
            signs = torch.zeros(len(inputs), 1)
            return torch.cat([logits[inputs[:, 0] * P + inputs[:, 1]], signs], 1)

        train = torch.tensor([[0, 0, P], [3, 4, P], [10, 10, P]])
        each = SimpleNamespace(member=0, step=5, outputs=outputs, data={"train_inputs": train})
        monkeypatch.setattr(fourier_losses, "restored", lambda run: [each])
        spec = {"task": {"name": task, "modulus": P, "encoding": "tokens_equals"}}
        return fourier_losses.build(least_share=0.1)(SimpleNamespace(spec=spec)).iloc[0]

    return give


def angles(frequency):
    """2 pi k (a + b - c) / p, ``[p^2, p]``."""
    a, b, c = np.indices((P, P, P))
    return torch.tensor(2 * math.pi * frequency * (a + b - c) / P).reshape(P * P, P)


def test_logits_of_two_frequencies_are_all_restricted_and_nothing_is_left(restored):
    logits = 3 * angles(2).cos() + 2 * angles(5).cos()
    row = restored(logits)
    labels = torch.arange(P * P) // P + torch.arange(P * P) % P
    expected = torch.nn.functional.cross_entropy(logits, labels % P)
    assert row["keys"] == 2
    assert row["restricted_loss"] == pytest.approx(float(expected))
    assert row["excluded_loss"] == pytest.approx(math.log(P))
    assert row["explained"] == pytest.approx(1.0)


def test_what_depends_on_one_number_is_no_key_and_a_bias_is_put_back(restored):
    a = torch.arange(P * P) // P
    alone = torch.cos(2 * math.pi * 3 * (a[:, None] - torch.arange(P)) / P)
    bias = torch.linspace(0, 1, P).double()
    row = restored(angles(2).cos() + alone + bias)
    assert row["keys"] == 1
    assert row["explained"] == pytest.approx(0.5)
    labels = (a + torch.arange(P * P) % P) % P
    kept = torch.nn.functional.cross_entropy(angles(2).cos() + bias, labels)
    assert row["restricted_loss"] == pytest.approx(float(kept))
    places, sums = torch.tensor([0, 3 * P + 4, 10 * P + 10]), torch.tensor([0, 7, 9])
    left = torch.nn.functional.cross_entropy((alone + bias)[places], sums)
    assert row["excluded_loss"] == pytest.approx(float(left))


def test_another_task_is_refused(restored):
    with pytest.raises(ValueError, match="needs the task modular_addition"):
        restored(angles(2).cos(), "digits")
