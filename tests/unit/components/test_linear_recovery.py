"""Truths and measurements of the task, its descent under the nuclear norm, and its convex fits."""

from types import SimpleNamespace

import numpy as np
import pytest
import torch

from grokatlas.components.dynamics import matrix_sensing_descent, subgradient_descent
from grokatlas.components.measures import _least_nuclear, convex_recovery
from grokatlas.components.tasks import linear_recovery
from grokatlas.engine import dataset

POINTS = [3, 60, 80]
TASK = {"rows": 10, "columns": 10, "nonzeros": 5, "rank": 2, "blocks": 5, "train_points": POINTS}
LIMITS = {"tolerance": 1e-8, "iterations": 20_000}


def _task(truth: str = "low_rank", seed: int = 2, **changes):
    return linear_recovery.build(**TASK | {"truth": truth, "instance_seed": seed} | changes)


@pytest.mark.parametrize(
    ("truth", "rank", "nonzeros", "values"),
    [
        ("sparse", 5, 5, 6),
        ("low_rank", 2, 100, 100),
        ("gaussian", 10, 100, 100),
        ("block_constant", 5, 100, 25),
    ],
)
def test_each_truth_has_its_structure_and_norm_1(truth, rank, nonzeros, values):
    matrix = _task(truth).extras["truth"]
    assert np.linalg.matrix_rank(matrix) <= rank
    assert (matrix != 0).sum() == nonzeros
    assert len(np.unique(matrix)) == values
    assert np.linalg.norm(matrix) == pytest.approx(1)
    if truth == "block_constant":
        assert (matrix[:2, :2] == matrix[0, 0]).all()
        assert matrix[0, 0] != matrix[0, 2]


def test_blocks_need_not_divide_the_sides():
    matrix = _task("block_constant", rows=5, columns=7, nonzeros=1, blocks=3).extras["truth"]
    assert len(np.unique(matrix)) == 9


def test_seeds_of_one_instance_see_more_and_more_of_the_same_measurements():
    few, some, many, other = (_task(seed=seed) for seed in (3, 4, 5, 6))
    assert [int(each.extras["samples"][0]) for each in (few, some, many)] == POINTS
    assert [int(each.extras["instance"][0]) for each in (few, some, many, other)] == [1, 1, 1, 2]
    for each in (few, some):
        samples = each.extras["samples"][0]
        np.testing.assert_array_equal(each.train_inputs[:samples], many.train_inputs[:samples])
        assert (each.train_inputs[samples:] == 0).all()
        assert (each.train_targets[samples:] == 0).all()
        np.testing.assert_array_equal(each.extras["truth"], many.extras["truth"])
    assert (many.train_inputs != other.train_inputs).any()
    np.testing.assert_allclose(
        many.train_inputs @ many.extras["truth"].ravel(), many.train_targets[:, 0]
    )
    assert dataset.make(
        [{"name": "linear_recovery", "truth": "sparse", "instance_seed": s} | TASK for s in (0, 1)]
    ).per_member


def test_every_kind_is_seen_through_the_same_measurements():
    first, second = _task("sparse"), _task("gaussian")
    np.testing.assert_array_equal(first.train_inputs, second.train_inputs)
    assert first.train_inputs.std() == pytest.approx(0.1, rel=0.05)


def test_what_does_not_fit_into_the_matrix_is_refused():
    with pytest.raises(ValueError, match="rank 11 is not allowed: must be at most 10"):
        _task(rank=11)


def _data(task):
    return torch.tensor(task.train_inputs), torch.tensor(task.train_targets)


def _start(value: float, members: int = 1) -> dict:
    return {"weight": torch.full((members, 1, 100), value, dtype=torch.float64)}


def test_sensing_step_written_out():
    x, y = _data(_task())
    a = torch.randn(1, 100, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    dynamics = matrix_sensing_descent.build(None, None, rate=0.1, weight=0.4, rows=10)
    after = dynamics.update(dynamics.init({"weight": a}), (x, y))["weight"].numpy()[0]
    left, _, right = np.linalg.svd(a.numpy().reshape(10, 10))
    gradient = x.numpy().T @ (x.numpy() @ a.numpy()[0] - y.numpy()[:, 0])
    expected = a.numpy()[0] - 0.1 * (gradient + 0.4 * (left @ right).ravel())
    np.testing.assert_allclose(after, expected, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("start", [1e-6, 10.0])
def test_sensing_advance_equals_looped_update(start):
    """Both starts have rank one: Newton's iteration cannot begin, a step of LAPACK can."""
    train = _data(_task())
    keywords = {"rate": 0.3, "weight": 1e-3, "rows": 10}
    dynamics = matrix_sensing_descent.build(None, None, **keywords)
    state = {"weight": _start(start)["weight"][0]}
    for _ in range(40):
        state = dynamics.update(state, train)
    slow = state["weight"]
    fast = matrix_sensing_descent.advance(_start(start), train, 40, **keywords)["weight"][0]
    # the second polar factor is that of any completion of rank one: only its norm is settled
    assert float((fast - slow).norm()) < 40 * 2 * 0.3 * 1e-3 * 10**0.5
    after = matrix_sensing_descent.advance(_start(start), train, 1, **keywords)
    state = {"weight": after["weight"][0]}
    for _ in range(40):
        state = dynamics.update(state, train)
    again = matrix_sensing_descent.advance(after, train, 40, **keywords)["weight"][0]
    torch.testing.assert_close(again, state["weight"], rtol=0, atol=1e-8)


def test_a_row_count_that_does_not_divide_the_weights_is_refused():
    dynamics = matrix_sensing_descent.build(None, None, rate=0.1, weight=0.1, rows=3)
    with pytest.raises(ValueError, match="cannot make 3 rows of 100 weights"):
        dynamics.init({"weight": torch.ones(1, 100)})


def test_the_nuclear_norm_recovers_rank_2_and_l1_does_not():
    task = _task(seed=2)  # 80 measurements
    train, truth = _data(task), task.extras["truth"].ravel()
    keywords = {"rate": 0.4, "weight": 2e-3}
    after = matrix_sensing_descent.advance(_start(1e-6), train, 5000, **keywords, rows=10)
    assert np.linalg.norm(after["weight"][0, 0].numpy() - truth) < 0.02
    other = subgradient_descent.advance(_start(1e-6), train, 5000, rate=0.4, l1=2e-3, l2=0.0)
    assert np.linalg.norm(other["weight"][0, 0].numpy() - truth) > 0.2


def test_least_nuclear_norm_with_one_free_entry_has_a_closed_form():
    """Of [[1, a], [b, x]] with ab < 1 it is x = ab, of rank one."""
    known = np.eye(4)[:3]
    found, gap = _least_nuclear.solved(known, np.array([1.0, 0.5, 0.5]), (2, 2), **LIMITS)
    np.testing.assert_allclose(found, [[1, 0.5], [0.5, 0.25]], atol=1e-4)
    assert gap <= 1e-8


def test_no_matrix_that_fits_is_below_the_found_one():
    random = np.random.RandomState(1)
    x, y = random.standard_normal((7, 12)), random.standard_normal(7)
    found, _ = _least_nuclear.solved(x, y, (3, 4), **LIMITS)
    np.testing.assert_allclose(x @ found.ravel(), y, atol=1e-9)
    free = np.linalg.svd(x)[2][7:]
    for scale in (1e-3, 1e-1, 1.0):
        for _ in range(20):
            moved = found + scale * (random.standard_normal(5) @ free).reshape(3, 4)
            assert np.linalg.norm(moved, "nuc") >= np.linalg.norm(found, "nuc") * (1 - 1e-7)


def test_a_solver_that_is_stopped_early_says_so():
    with pytest.raises(ValueError, match="relative gap of 1e-09 in 1 iterations: it is"):
        _least_nuclear.solved(np.eye(4)[:3], np.ones(3), (2, 2), tolerance=1e-9, iterations=1)


def _measured(norm: str, truth: str, start: float, seed: int = 2) -> dict:
    run = SimpleNamespace(
        data=_task(truth, seed), snapshots={0: {"weight": np.full((1, 1, 100), start)}}
    )
    (row,) = convex_recovery.build(norm=norm, **LIMITS)(run).to_dict("records")
    return row


def test_the_minimiser_is_the_truth_where_the_norm_fits_it():
    for norm, truth in (("l1", "sparse"), ("nuclear", "low_rank")):
        row = _measured(norm, truth, 0.0)
        assert row["minimiser_error"] < 1e-3
        assert (row["samples"], row["instance"]) == (80, 0)
    assert _measured("l1", "low_rank", 0.0)["minimiser_error"] > 0.1
    assert _measured("l2", "sparse", 0.0)["minimiser_error"] > 0.1


def test_the_distance_is_what_the_data_leave_of_start_and_truth():
    """In l2: the part of ``A_0 - A*`` in the null space of X; in l1 its largest entry."""
    task = _task("gaussian")
    free = np.linalg.svd(task.train_inputs)[2][80:]
    for start in (0.0, 10.0):
        left = free.T @ (free @ (start - task.extras["truth"].ravel()))
        row = _measured("l2", "gaussian", start)
        assert row["distance"] == pytest.approx(np.linalg.norm(left))
        assert _measured("l1", "gaussian", start)["distance"] == pytest.approx(np.abs(left).max())
        spectral = np.linalg.norm(left.reshape(10, 10), 2)
        assert _measured("nuclear", "gaussian", start)["distance"] == pytest.approx(spectral)


def test_another_task_or_no_first_snapshot_is_refused():
    measure = convex_recovery.build(norm="l1", **LIMITS)
    with pytest.raises(ValueError, match="needs the task linear_recovery"):
        measure(SimpleNamespace(data=SimpleNamespace(extras={}), snapshots={}))
    with pytest.raises(ValueError, match="snapshots"):
        measure(SimpleNamespace(data=_task(), snapshots={}))
