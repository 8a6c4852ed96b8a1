"""Residuals of stationarity on small problems where they are known."""

from types import SimpleNamespace

import numpy as np
import pytest
import torch

from grokatlas.components.measures import kkt_residual
from grokatlas.engine.rebuilt import RebuiltMember


def row(monkeypatch, network, weights, inputs, targets):
    data = {"train_inputs": torch.tensor(inputs), "train_targets": torch.tensor(targets)}
    params = {"w": torch.tensor(weights, dtype=torch.float64)}
    one = RebuiltMember(2, 0, 7, lambda p, x: network(p["w"], x), params, data)
    monkeypatch.setattr(kkt_residual, "restored", lambda run: iter([one]))
    (found,) = kkt_residual.build()(SimpleNamespace()).to_dict("records")
    return found


def hyperbola(w, x):
    return x * w[0] * w[1]


@pytest.mark.parametrize(
    ("weights", "share"), [((1.0, 1.0), 0.0), ((-1.0, -1.0), 0.0), ((2.0, 0.5), 3.75 / 4.25)]
)
def test_on_a_hyperbola_only_the_vertices_are_stationary(monkeypatch, weights, share):
    """The tangent at (a, b) is (a, -b): the share of w along it is |a^2 - b^2| / (a^2 + b^2)."""
    found = row(monkeypatch, hyperbola, weights, [[1.0]], [[1.0]])
    assert found["tangential_share"] == pytest.approx(share, abs=1e-12)
    assert found["constraint"] == pytest.approx(0, abs=1e-12)
    assert (found["member"], found["step"]) == (2, 7)


def test_least_squares_is_stationary_in_the_row_space(monkeypatch):
    inputs = np.random.RandomState(0).standard_normal((3, 5))
    inside = inputs.T @ [1.0, -2.0, 0.5]
    outside = np.linalg.svd(inputs)[2][-1]
    targets = (inputs @ inside)[:, None]

    def linear(w, x):
        return (x @ w)[:, None]

    at = row(monkeypatch, linear, inside, inputs, targets)
    off = row(monkeypatch, linear, inside + 3 * outside, inputs, targets + 0.25)
    assert at["tangential_share"] == pytest.approx(0, abs=1e-12)
    whole = np.sqrt((inside**2).sum() + 9)
    assert off["tangential_share"] == pytest.approx(3 / whole)
    assert off["constraint"] == pytest.approx(0.25)


def test_what_is_not_finite_has_no_share(monkeypatch):
    found = row(monkeypatch, hyperbola, (float("nan"), 1.0), [[1.0]], [[1.0]])
    assert np.isnan(found["tangential_share"])


def test_labels_have_no_constraint(monkeypatch):
    with pytest.raises(ValueError, match="real targets"):
        row(monkeypatch, hyperbola, (1.0, 1.0), [[1.0]], [[1]])
