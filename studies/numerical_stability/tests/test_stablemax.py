"""The loss against its formula. Run `python -m pytest` in the folder of the study."""

import math

import pytest
import torch

from grokatlas.components.losses import stablemax


def score(z):
    return z + 1 if z >= 0 else 1 / (1 - z)


def test_value_and_gradient_are_those_of_the_equation():
    outputs = torch.tensor([[0.5, -2.0, 0.25], [-1.0, 3.0, -0.5]], dtype=torch.float64)
    labels = torch.tensor([1, 0])
    gradient, value = torch.func.grad_and_value(stablemax.build())(outputs, labels)
    rows = [[score(z) for z in row] for row in outputs.tolist()]
    losses = [-math.log(row[y] / sum(row)) for row, y in zip(rows, labels.tolist(), strict=True)]
    assert float(value) == pytest.approx(sum(losses) / 2)
    # s' is 1 above 0 and s^2 below
    slopes = [[1.0 if z >= 0 else score(z) ** 2 for z in row] for row in outputs.tolist()]
    expected = [
        [
            slope * (1 / sum(row) - (1 / row[c] if c == y else 0)) / 2
            for c, slope in enumerate(of_row)
        ]
        for row, of_row, y in zip(rows, slopes, labels.tolist(), strict=True)
    ]
    torch.testing.assert_close(gradient, torch.tensor(expected, dtype=torch.float64))


def test_a_point_that_is_right_by_far_still_has_a_gradient():
    outputs = torch.tensor([[1e6, 0.0]], dtype=torch.float32)
    gradient = torch.func.grad(stablemax.build())(outputs, torch.tensor([0]))
    assert float(gradient.abs().min()) > 0
