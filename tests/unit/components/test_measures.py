import cmath
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from grokatlas.components.measures import (
    cost,
    descent_bounds,
    fourier_features,
    grokking_times,
    reached_steps,
    recovered_singular_values,
    recovery_times,
    truth,
)
from grokatlas.components.tasks import matrix_completion, sparse_recovery


def _times(train, test, steps=(0, 10, 20, 30), order=None):
    frames = [
        pd.DataFrame({"member": member, "step": steps, "train_accuracy": a, "test_accuracy": b})
        for member, (a, b) in enumerate(zip(train, test, strict=True))
    ]
    history = pd.concat(frames, ignore_index=True)
    history = history.iloc[order] if order else history
    measure = grokking_times.build(train_accuracy=1.0, test_accuracy=0.9)
    return measure(SimpleNamespace(history=history)).set_index("member")


def test_times_are_the_first_steps_at_the_levels():
    found = _times([[0, 1, 0.5, 1]], [[0, 0, 0.9, 1]])
    assert found.loc[0].to_dict() == {"t1": 10, "t2": 20, "test_accuracy": 1}


def test_a_level_never_reached_has_no_time():
    found = _times([[0, 0.5, 0.99, 0.999]], [[0, 0, 0, 0.89]])
    assert np.isnan(found.loc[0, "t1"])
    assert np.isnan(found.loc[0, "t2"])
    assert found.dtypes[["t1", "t2"]].tolist() == [np.float64, np.float64]


def test_a_level_reached_at_once_has_time_zero():
    assert _times([[1, 1, 1, 1]], [[1, 1, 1, 1]])["t1"].tolist() == [0]


def test_members_have_their_own_times():
    found = _times([[0, 1, 1, 1], [0, 0, 0, 1]], [[0, 0, 0, 0], [0.95, 0, 0, 0]])
    assert found["t1"].tolist() == [10, 30]
    assert found["t2"].isna().tolist() == [True, False]


def test_rows_of_the_history_may_stand_in_any_order():
    found = _times([[0, 1, 1, 1]], [[0, 0, 0.9, 0.8]], order=[3, 1, 0, 2])
    assert found.loc[0].to_dict() == {"t1": 10, "t2": 20, "test_accuracy": 0.8}


@pytest.mark.parametrize("modulus", [5, 7])
def test_fourier_features_are_the_discrete_transform_written_out(modulus):
    weights = np.random.RandomState(0).standard_normal((2, 6, modulus))  # [M, H, p]
    run = SimpleNamespace(snapshots={0: {"first": weights}, 9: {"first": 2 * weights}})
    found = fourier_features.build(parameter="first")(run)
    assert len(found) == 2 * 2 * (modulus - 1) ** 2
    for member in (0, 1):
        features = []
        for k in range(1, (modulus - 1) // 2 + 1):
            total = sum(
                cmath.exp(-2j * cmath.pi * j * k / modulus) * weights[member, :, j]
                for j in range(modulus)
            )
            features += [(total / modulus).real, (total / modulus).imag]
        for step in (0, 9):
            rows = found[(found["member"] == member) & (found["step"] == step)]
            assert len(rows) == (modulus - 1) ** 2
            for row in rows.itertuples():
                one, other = features[row.feature], features[row.other]
                scale = 2 if step == 9 else 1
                assert row.norm == pytest.approx(scale * np.linalg.norm(one), rel=1e-12)
                assert row.cosine == pytest.approx(_cosine(one, other), abs=1e-12)
                absolute = _cosine(abs(one), abs(other))
                assert row.absolute_cosine == pytest.approx(absolute, abs=1e-12)


def _cosine(first, second):
    return first @ second / np.linalg.norm(first) / np.linalg.norm(second)


def _recovery(train, test, **changes):
    """The row of one member whose errors were logged every ten steps, in any order."""
    steps = 10 * np.arange(len(train))
    columns = {"member": 0, "step": steps, "train_error": train, "test_error": test}
    history = pd.DataFrame(columns).sample(frac=1, random_state=0)
    keywords = {"train_error": 0.1, "test_error": 0.2, "band": 0.05, "last": 3, "run_length": 2}
    measure = recovery_times.build(**keywords | changes)
    return measure(SimpleNamespace(history=history)).loc[0].to_dict()


def test_recovery_times_are_the_first_logged_steps_below_the_levels():
    found = _recovery([1, 0.1, 0.09, 0.2, 0], [1, 1, 1, 0.2, 0.19])
    assert (found["t1"], found["t2"]) == (20, 40)
    never = _recovery([1, 1, 1], [1, 1, 1])
    assert np.isnan([never["t1"], never["t2"]]).all()


def test_an_error_has_settled_when_it_is_near_its_final_value_twice_in_a_row():
    errors = [9, 1.0, 3, 1.049, 0.951, 1.2, 1, 1, 1]  # passes by at step 10
    found = _recovery([9] * 9, errors)
    assert found["final_test_error"] == 1
    assert found["t2_settled"] == 30
    assert _recovery([9] * 9, errors, run_length=1)["t2_settled"] == 10
    assert _recovery([9] * 9, errors, run_length=3)["t2_settled"] == 60
    assert _recovery([9] * 9, errors, band=0.01)["t2_settled"] == 60
    assert found["t1_settled"] == 0
    assert found["final_train_error"] == 9


def test_the_final_value_is_the_mean_of_the_last_ones():
    found = _recovery([1, 1, 1, 1], [8, 1, 2, 6])
    assert found["final_test_error"] == 3
    assert np.isnan(found["t2_settled"])


def test_a_history_shorter_than_the_run_of_records_has_not_settled():
    assert np.isnan(_recovery([1], [1])["t2_settled"])


def _truth(data):
    return truth.build()(SimpleNamespace(data=data, history=pd.DataFrame({"member": [0, 0]})))


def test_truth_of_the_published_sparse_instance():
    keywords = {"features": 100, "nonzeros": 5, "train_points": 30, "signal_to_noise": None}
    row = _truth(sparse_recovery.build(**keywords, instance_seed=1)).iloc[0]
    assert row["truth_l1_norm"] == pytest.approx(0.2909, abs=1e-4)
    assert row["least_squares_distance"] == pytest.approx(0.06955, abs=1e-5)
    assert row["truth.80"] != 0
    assert (row[[f"truth.{k}" for k in range(100)]] != 0).sum() == 5


def test_truth_of_a_matrix_is_by_singular_values():
    data = matrix_completion.build(
        rows=3,
        columns=3,
        rank=1,
        truth="normalised",
        train_points=9,
        leverage_share=0.0,
        test_entries="all",
        instance_seed=0,
    )
    row = _truth(data).iloc[0]
    assert row["truth_nuclear_norm"] == pytest.approx(10)
    assert row["truth_singular_values.0"] == pytest.approx(10)
    assert row["least_squares_distance"] == pytest.approx(0)  # every entry is observed


def _recovered(extras, per_member=True):
    history = pd.DataFrame(
        {
            "member": [1, 0, 1, 0],
            "step": [0, 10, 10, 0],
            "singular_values.0": [9.0, 3.0, 5.0, 9.0],
            "singular_values.1": [9.0, 1.0, 0.5, 9.0],
        }
    )
    data = SimpleNamespace(extras=extras, per_member=per_member)
    measure = recovered_singular_values.build()
    return measure(SimpleNamespace(history=history, data=data)).set_index(["member", "place"])


def test_final_singular_values_stand_beside_the_members_own_truth():
    found = _recovered({"singular_values": np.array([[3.0, 1.0], [4.0, 0.0]])})
    assert found["final_value"].to_dict() == {(0, 0): 3, (0, 1): 1, (1, 0): 5, (1, 1): 0.5}
    assert found["true_value"].to_dict() == {(0, 0): 3, (0, 1): 1, (1, 0): 4, (1, 1): 0}


def test_members_of_one_instance_have_one_truth():
    found = _recovered({"singular_values": np.array([3.0, 1.0])}, per_member=False)
    assert found["true_value"].tolist() == [3, 1, 3, 1]


@pytest.mark.parametrize("extras", [{}, {"singular_values": np.ones((2, 3))}])
def test_recovered_singular_values_need_truth_and_observable(extras):
    with pytest.raises(ValueError, match="recovered_singular_values needs"):
        _recovered(extras)


def test_levels_are_reached_at_their_first_logged_steps():
    steps = {"member": [0, 0, 0, 1, 1, 1], "step": [10, 0, 20, 0, 10, 20]}
    history = pd.DataFrame(steps | {"test_accuracy": [0.2, 0.1, 0.9, 0.3, 0.1, 0.1]})
    measure = reached_steps.build(column="test_accuracy", levels=[0.2, 0.85])
    found = measure(SimpleNamespace(history=history)).set_index(["member", "level"])["step"]
    assert found[0].to_dict() == {0.2: 10, 0.85: 20}
    assert found[1, 0.2] == 0
    assert np.isnan(found[1, 0.85])


def test_levels_of_a_column_that_is_not_logged_are_refused():
    history = pd.DataFrame({"member": [0], "step": [0], "train_loss": [1.0]})
    measure = reached_steps.build(column="test_accuracy", levels=[0.5])
    with pytest.raises(ValueError, match="'test_accuracy' is not logged; logged: train_loss"):
        measure(SimpleNamespace(history=history))


def _cost(**changes):
    manifest = {
        "device": {"type": "cpu", "threads": 2},
        "host": {"cpu": "some processor"},
        "members": 2,
        "train_seconds": 7200.0,
        "updates": {"count": 4, "seconds": 2.0},
        "peak_memory_mb": 300.0,
    }
    return cost.build()(SimpleNamespace(manifest=manifest | changes))


def test_the_cost_of_a_run_is_what_its_manifest_says():
    found = _cost()
    assert found["member"].tolist() == [0, 1]
    assert found.loc[1, ["processor", "threads"]].tolist() == ["some processor", 2]
    assert found.loc[0, ["hours", "update_seconds", "memory_mb"]].tolist() == [2.0, 0.5, 300.0]


def test_the_processor_is_the_gpu_where_there_is_one():
    device = {"type": "cuda", "name": "some GPU", "threads": 1}
    assert set(_cost(device=device)["processor"]) == {"some GPU"}


def test_an_update_costs_nothing_known_where_one_move_was_all():
    assert _cost(updates={"count": 0, "seconds": 0.0})["update_seconds"].isna().all()


def _bounds(dynamics, steps, init=10.0, seed=1):
    keywords = {"features": 100, "nonzeros": 5, "train_points": 30, "signal_to_noise": 1e8}
    data = sparse_recovery.build(**keywords, instance_seed=seed)
    model = {"name": "linear", "init": init, "negative_slope": 1.0}
    spec = {"ensemble": {"seed": [0]}, "dynamics": dynamics, "model": model, "task": {}}
    history = pd.DataFrame({"member": 0, "step": steps})
    return data, descent_bounds.build()(SimpleNamespace(spec=spec, data=data, history=history))


def _descended(data, start, gradient, steps, rate=0.1):
    """The iterates of descent written out, as relative errors of training and test."""
    inputs, targets, truth = data.train_inputs, data.train_targets[:, 0], data.extras["truth"]
    found, weights = [], np.full(inputs.shape[1], start)
    for step in range(max(steps) + 1):
        if step in steps:
            residual = np.linalg.norm(inputs @ weights - targets) / np.linalg.norm(targets)
            found.append((residual, np.linalg.norm(weights - truth) / np.linalg.norm(truth)))
        slope = inputs.T @ (inputs @ weights - targets) + gradient(weights)
        weights = weights - rate * slope
    return np.array(found).T


@pytest.mark.parametrize("weight", [1e-3, 0.1])
def test_ridge_stays_within_its_bounds_and_comes_to_the_lower_one(weight):
    steps = [0, 1, 10, 100, 1000, 3000]
    dynamics = {"name": "linear_descent", "rate": 0.1, "l2": weight, "data_scale": "sum"}
    data, bounds = _bounds(dynamics, steps)
    _, test = _descended(data, 10.0, lambda weights: weight * weights, steps)
    assert (test <= bounds["test_error_above"] * (1 + 1e-9)).all()
    assert bounds["test_error_above"].iloc[0] < 1.01 * test[0]
    inputs, own = data.train_inputs, data.extras["truth"]
    unseen = np.linalg.norm(own - np.linalg.pinv(inputs) @ inputs @ own) / np.linalg.norm(own)
    np.testing.assert_allclose(bounds["test_error_below"], unseen)
    dynamics |= {"rate": 0.05, "data_scale": "mean"}
    assert _bounds(dynamics, steps)[1]["test_error_above"].iloc[3] > bounds.iloc[3, 2]


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_an_l1_regularised_run_fits_at_least_as_fast_as_its_bound(seed):
    steps = list(range(400))
    dynamics = {"name": "subgradient_descent", "rate": 0.1, "l1": 1e-5, "l2": 0.0}
    data, bounds = _bounds(dynamics, steps, init=1e-6, seed=seed)
    train, _ = _descended(data, 1e-6, lambda weights: 1e-5 * np.sign(weights), steps)
    bound = bounds["train_error_above"].to_numpy()
    assert bound[0] == pytest.approx(train[0])
    assert (train[1:] < bound[1:]).all()
    assert (np.diff(bound) <= 0).all()
    curvatures = np.linalg.svd(data.train_inputs, compute_uv=False) ** 2
    equal = 1e-5 * 10 / curvatures.min() ** 0.5  # |X a - y| where |H| may be |G|
    assert bound[-1] == pytest.approx(equal / np.linalg.norm(data.train_targets), rel=0.05)


@pytest.mark.parametrize(
    ("changed", "problem"),
    [
        ({"name": "gradient_training"}, "needs linear_descent"),
        ({"l2": 0.1}, "without l2"),
    ],
)
def test_other_descents_have_no_bounds(changed, problem):
    dynamics = {"name": "subgradient_descent", "rate": 0.1, "l1": 1e-5, "l2": 0.0} | changed
    with pytest.raises(ValueError, match=problem):
        _bounds(dynamics, [0, 1])
    with pytest.raises(ValueError, match="given start"):
        _bounds(dynamics, [0, 1], init="normal")
