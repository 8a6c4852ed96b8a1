"""Interpolators of least norm: known solutions, certificates, and the measure that uses them."""

from types import SimpleNamespace

import numpy as np
import pytest
import torch

from grokatlas.components.measures import _least_norm, convex_minimiser
from grokatlas.components.tasks import fourier_regression, matrix_completion
from grokatlas.engine.rebuilt import RebuiltMember

LIMITS = {"tolerance": 1e-9, "iterations": 20_000}


@pytest.mark.parametrize(
    ("corner", "free", "norm"),
    [(1.0, 1.0, 2.0), (0.5, 0.25, 1.25), (2.0, 1.0, 4.0)],  # min(ab, 1), whatever its rank
)
def test_one_free_entry_of_two_by_two_has_a_closed_form(corner, free, norm):
    """|X|_* of [[1, a], [b, x]] is (1 + a^2 + b^2 + x^2 + 2 |x - ab|)^(1/2)."""
    observed = np.array([[True, True], [True, False]])
    entries = np.array([[1.0, corner], [corner, 77.0]])
    found, gap = _least_norm.nuclear(observed, entries, **LIMITS)
    assert found[1, 1] == pytest.approx(free, abs=1e-4)
    assert np.linalg.norm(found, "nuc") == pytest.approx(norm, rel=1e-8)
    assert gap <= 1e-9


def test_a_matrix_of_rank_one_is_found_from_most_of_its_entries():
    random = np.random.RandomState(0)
    truth = np.outer(random.standard_normal(9), random.standard_normal(8))
    observed = random.uniform(size=truth.shape) < 0.8
    found, _ = _least_norm.nuclear(observed, truth, **LIMITS)
    np.testing.assert_allclose(found, truth, atol=1e-5)
    np.testing.assert_array_equal(found[observed], truth[observed])


def test_no_matrix_with_these_entries_is_below_the_found_one():
    random = np.random.RandomState(1)
    truth = random.standard_normal((7, 3)) @ random.standard_normal((3, 6))
    observed = random.uniform(size=truth.shape) < 0.5
    found, _ = _least_norm.nuclear(observed, truth, **LIMITS)
    norm = np.linalg.norm(found, "nuc")
    for scale in (1e-3, 1e-1, 1.0):
        for _ in range(20):
            moved = found + scale * np.where(observed, 0, random.standard_normal(truth.shape))
            assert np.linalg.norm(moved, "nuc") >= norm * (1 - 1e-8)


def test_a_solver_that_is_stopped_early_says_so():
    observed = np.array([[True, True], [True, False]])
    with pytest.raises(ValueError, match="relative gap of 1e-09 in 1 iterations: it is"):
        _least_norm.nuclear(observed, np.ones((2, 2)), tolerance=1e-9, iterations=1)


def test_nothing_but_zeros_has_the_zero_matrix():
    found, gap = _least_norm.nuclear(np.eye(2, dtype=bool), np.zeros((2, 2)), **LIMITS)
    assert (found == 0).all()
    assert gap == 0


def test_least_l1_norm_takes_the_larger_coefficient():
    """x + 2 y = 2 is met at the least |x| + |y| by y = 1 alone; least squares gives (.4, .8)."""
    found, gap = _least_norm.l1(np.array([[1.0, 2.0]]), np.array([2.0]))
    np.testing.assert_allclose(found, [0, 1], atol=1e-12)
    assert gap == pytest.approx(0, abs=1e-12)


def test_least_l1_norm_without_a_fit_is_an_error():
    with pytest.raises(ValueError, match="no vector of least l1 norm"):
        _least_norm.l1(np.array([[1.0], [1.0]]), np.array([0.0, 1.0]))


def finished(monkeypatch, task, network, step=5):
    """A run of one member whose network is a function of inputs."""
    parts = ("train_inputs", "train_targets", "test_inputs", "test_targets")
    data = {part: torch.from_numpy(getattr(task, part)) for part in parts}
    one = RebuiltMember(0, 0, step, lambda params, inputs: network(inputs), {}, data)
    monkeypatch.setattr(convex_minimiser, "restored", lambda run: iter([one]))
    return SimpleNamespace(snapshots={0: {}, 5: {}}, data=task)


def test_a_run_that_ends_off_the_minimiser_is_at_its_distance(monkeypatch):
    task = matrix_completion.build(
        rows=6,
        columns=5,
        rank=1,
        truth="gaussian_factors",
        train_points=24,
        leverage_share=0.0,
        test_entries="unobserved",
        instance_seed=0,
    )
    truth = torch.from_numpy(task.extras["truth"])
    run = finished(monkeypatch, task, lambda pairs: 1.5 * truth[pairs[:, 0], pairs[:, 1], None])
    (row,) = convex_minimiser.build(**LIMITS)(run).to_dict("records")
    assert row["minimiser_norm"] == pytest.approx(task.extras["singular_values"][0], rel=1e-6)
    assert row["final_norm"] == pytest.approx(1.5 * row["minimiser_norm"], rel=1e-6)
    assert row["distance"] == pytest.approx(0.5, abs=1e-4)
    assert row["test_distance"] == pytest.approx((task.test_targets**2).mean() / 4, rel=1e-3)
    assert (row["final.0"], row["minimiser.1"]) == pytest.approx((row["final_norm"], 0), abs=1e-5)


def test_coefficients_are_compared_with_those_of_least_l1_norm(monkeypatch):
    task = fourier_regression.build(
        frequencies=10,
        cosine_frequencies=[2],
        cosine_coefficients=[1.0],
        sine_frequencies=[3],
        sine_coefficients=[-0.5],
        train_points=14,
        test_points=60,
        data_seed=0,
    )
    truth = torch.from_numpy(task.extras["truth"])
    run = finished(monkeypatch, task, lambda x: (x @ (2 * truth))[:, None])
    (row,) = convex_minimiser.build(**LIMITS)(run).to_dict("records")
    assert (row["final_norm"], row["minimiser_norm"]) == pytest.approx((3, 1.5))
    assert row["distance"] == pytest.approx(1)
    assert row["test_distance"] == pytest.approx(1.25)  # |b*|^2, features are orthonormal
    assert row["minimiser_error"] == pytest.approx(0, abs=1e-12)
    bent = finished(monkeypatch, task, lambda x: torch.relu(x @ truth)[:, None])
    with pytest.raises(ValueError, match="linear in its inputs"):
        convex_minimiser.build(**LIMITS)(bent)
