"""The l2 radius of a linear map is known, and an attack finds it."""

from types import SimpleNamespace

import numpy as np
import pytest
import torch

from grokatlas.components.measures import l2_radius
from grokatlas.engine.rebuilt import RebuiltMember

WEIGHT = torch.tensor(np.random.RandomState(1).standard_normal((4, 3)))


def rows(monkeypatch, network, inputs, labels, levels=(0.97, 1.03), weight=WEIGHT):
    data = {"test_inputs": torch.tensor(np.array(inputs), dtype=torch.float64)}
    data["test_targets"] = torch.tensor(labels)
    one = RebuiltMember(1, 3, 7, lambda p, x: network(p["w"], x), {"w": weight}, data)
    monkeypatch.setattr(l2_radius, "restored", lambda run: iter([one]))
    build = l2_radius.build(
        levels=list(levels), iterations=30, restarts=5, points=50, attack_seed=0
    )
    return build(SimpleNamespace())


def linear(weight, x):
    return x @ weight.T


def points(count=20):
    inputs = np.random.RandomState(0).standard_normal((count, 3))
    return inputs, (inputs @ WEIGHT.numpy().T).argmax(1)


def test_a_linear_map_falls_at_its_radius_and_not_before(monkeypatch):
    found = rows(monkeypatch, linear, *points())
    assert found["robust_share"].tolist() == [1.0, 0.0]
    assert found[["member", "step", "clean_accuracy"]].iloc[0].tolist() == [1, 7, 1.0]


def test_the_radius_is_the_least_distance_to_another_class(monkeypatch):
    inputs, labels = points()
    weight = WEIGHT.numpy()
    shares = []
    for x, own in zip(inputs, labels, strict=True):
        ways = [weight[own] - weight[j] for j in range(4) if j != own]
        shares.append(min(v @ x / np.linalg.norm(v) for v in ways) / np.linalg.norm(x))
    found = rows(monkeypatch, linear, inputs, labels)["radius_share"]
    np.testing.assert_allclose(found, np.mean(shares))


def test_where_rows_are_aligned_with_the_input_the_radius_is_its_norm(monkeypatch):
    x = np.array([1.0, 2.0, -1.0])
    weight = torch.tensor(np.outer([1.0, -0.5, -0.5], x))
    found = rows(monkeypatch, linear, [x], [0], weight=weight)
    np.testing.assert_allclose(found["radius_share"], 1.0)


def test_a_boundary_nearer_than_that_of_the_linear_map_is_found(monkeypatch):
    """The second class grows twenty times faster beyond a plane that is near."""

    def bent(weight, x):
        other = x[:, 1] + 20 * torch.relu(x[:, 1] - x[:, 2])
        return torch.stack([x[:, 0], other, -9 * x[:, 0]], 1)

    inputs = [[2.0, 0.0, 0.5]]
    found = rows(monkeypatch, bent, inputs, [0], levels=(0.2, 0.9))
    assert found["robust_share"].tolist() == [1.0, 0.0]


def test_points_that_are_wrong_are_not_attacked(monkeypatch):
    inputs, labels = points()
    found = rows(monkeypatch, linear, inputs, (labels + 1) % 4)
    assert found["robust_share"].isna().all()
    assert (found["clean_accuracy"] == 0).all()


def test_a_network_with_biases_is_refused(monkeypatch):
    with pytest.raises(ValueError, match="without biases"):
        rows(monkeypatch, lambda weight, x: x @ weight.T + 1, *points())


def test_two_outputs_are_refused(monkeypatch):
    with pytest.raises(ValueError, match="three or more outputs"):
        rows(monkeypatch, lambda weight, x: x @ weight.T[:, :2], *points())
