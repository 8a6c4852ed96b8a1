"""Two factors under weight decay follow the interpolator of least hypentropy."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from grokatlas.components.measures import hypentropy_path
from grokatlas.components.tasks import sparse_recovery

BETA, RATE = 1e-4, 0.02
DATA = sparse_recovery.build(
    features=6, nonzeros=1, train_points=3, signal_to_noise=None, instance_seed=1
)


def trained(first, second, steps, beta=BETA):
    """The logged factors of gradient descent, written out."""
    inputs, targets, rows = DATA.train_inputs, DATA.train_targets[:, 0], []
    for step in range(max(steps) + 1):
        if step in steps:
            values = {f"parameters.factors.{k}": v for k, v in enumerate([*first, *second])}
            rows.append({"member": 0, "step": step} | values)
        slope = inputs.T @ (inputs @ (first * second) - targets)
        first, second = (
            first - RATE * (slope * second + beta * first),
            second - RATE * (slope * first + beta * second),
        )
    return pd.DataFrame(rows)


def measured(history, fitted=0.05, beta=BETA, **changes):
    spec = {
        "ensemble": {"seed": [0]},
        "model": {"name": "hadamard_product", "depth": 2},
        "optimizer": {"name": "gd", "lr": RATE},
        "penalties": [{"name": "l2", "squared": True, "weight": beta / 2}],
    }
    data = SimpleNamespace(
        train_inputs=DATA.train_inputs, train_targets=DATA.train_targets, per_member=False
    )
    run = SimpleNamespace(spec=spec | changes, data=data, history=history)
    return hypentropy_path.build(fitted=fitted)(run)


@pytest.mark.parametrize("beta", [0.0, BETA])
def test_training_from_any_start_is_on_the_predicted_path(beta):
    random = np.random.RandomState(3)
    start = random.standard_normal((2, 6))
    found = measured(trained(*start, steps=[0, 20_000, 60_000], beta=beta), beta=beta)
    assert found["step"].tolist() == [20_000, 60_000]
    assert (found["distance"] < 0.02).all()
    assert (found["distance_l2"] > 0.1).all()


def test_without_the_decay_of_the_start_the_path_is_another():
    start, beta = (np.full(6, 0.4), np.zeros(6)), 2e-4
    history = trained(*start, steps=[0, 250_000], beta=beta)
    (right,) = measured(history, beta=beta)["distance"]
    (wrong,) = measured(history, beta=0.0)["distance"]
    assert 10 * right < 0.1 < wrong


def test_its_ends_are_the_least_l2_and_the_least_l1_norm():
    path = hypentropy_path._Path(DATA.train_inputs, DATA.train_targets[:, 0])
    for size, end, other in ((1e4, path.least, path.sparse), (1e-9, path.sparse, path.least)):
        found = path.predict(np.full(6, size), np.full(6, size))
        assert np.linalg.norm(found - end) < 0.05 * np.linalg.norm(other - end)


def test_what_cannot_be_fitted_has_no_prediction():
    """Where the second part vanishes the vector has one sign, and these targets need two."""
    path = hypentropy_path._Path(np.eye(2), np.array([1.0, -1.0]))
    assert np.isnan(path.predict(np.ones(2), np.zeros(2))).all()


def test_steps_that_are_not_fitted_are_left_out():
    history = trained(np.ones(6), np.zeros(6), steps=[0, 1])
    assert measured(history).empty
    assert len(measured(history, fitted=2.0)) == 2


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"model": {"name": "hadamard_product", "depth": 3}}, "two factors"),
        ({"penalties": [{"name": "l1", "weight": 1.0}]}, "no penalty but l2"),
        ({"penalties": [{"name": "l2", "squared": False, "weight": 1.0}]}, "squared l2"),
    ],
)
def test_other_runs_are_refused(changes, message):
    history = trained(np.ones(6), np.zeros(6), steps=[0, 1])
    with pytest.raises(ValueError, match=message):
        measured(history, **changes)


def test_the_parameters_have_to_be_logged():
    history = trained(np.ones(6), np.zeros(6), steps=[0, 1])
    with pytest.raises(ValueError, match="observable parameters, from step 0"):
        measured(history[history["step"] > 0])
