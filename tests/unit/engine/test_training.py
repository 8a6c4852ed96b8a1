import copy

import numpy as np
import pytest
import torch

from grokatlas.engine import dataset
from tests.runs import addition, schedule, trained

TWO_WEIGHTS = {
    "task": {
        "name": "one_sample",
        "point": [1.0, 1.0],
        "target": 2.0,
        "test_points": 10,
        "test_seed": 0,
    },
    "model": {"name": "linear", "init": [-1.0, 1.0], "negative_slope": 1.0},
    "loss": {"name": "mse", "reduction": "sample_mean", "half": False},
    "penalties": [{"name": "l2", "squared": True, "weight": 0.1}],
    "optimizer": {"name": "gd", "lr": 0.1},
    "dynamics": {"name": "gradient_training"},
    "observables": [{"name": "losses"}, {"name": "parameters"}],
    "ensemble": {"seed": [0]},
    "train": schedule(40, snapshots=[0, 40]),
}
WEIGHTS = ["parameters.weight.0", "parameters.weight.1"]


def _spec(**train):
    spec = copy.deepcopy(TWO_WEIGHTS)
    spec["train"] |= train
    return spec


def test_two_weights_rest_at_the_closed_form():
    decays = [0.1, 0.2, 0.5]
    log = {"every": 1200, "first": 0}
    spec = _spec(steps=1200, log=log, snapshots=[]) | {
        "penalties": [{"name": "l2", "squared": True}],
        "ensemble": {"penalties.0.weight": decays, "seed": [0]},
    }
    history = trained(spec).history
    last = history["step"] == 1200
    for column in WEIGHTS:
        expected = [2 / (2 + decay) for decay in decays]
        np.testing.assert_allclose(history[column][last], expected, rtol=0, atol=1e-8)


def test_gradient_descent_on_two_weights_is_its_linear_recursion():
    """With a decay c: w <- w - rate (2 (x.w - y) x + 2 c w)."""
    history = trained(_spec()).history
    x, w, rate, decay = np.ones(2), np.array([-1.0, 1.0]), 0.1, 0.1
    for step in range(41):
        found = [history[column][step] for column in WEIGHTS]
        np.testing.assert_allclose(found, w, rtol=1e-13, atol=1e-13)
        assert history["train_loss"][step] == pytest.approx((x @ w - 2) ** 2, rel=1e-12, abs=1e-24)
        w = w - rate * (2 * (x @ w - 2) * x + 2 * decay * w)


def test_history_has_a_row_for_each_member_and_logged_step():
    spec = _spec(steps=10, log={"every": 4, "first": 1}, snapshots=[3])
    spec["ensemble"] = {"optimizer.lr": [0.1, 0.05], "seed": [0]}
    result = trained(spec)
    rows = list(zip(result.history["step"], result.history["member"], strict=True))
    assert rows == [(step, member) for step in (0, 1, 4, 8, 10) for member in (0, 1)]
    assert {len(column) for column in result.history.values()} == {10}
    assert set(result.history) == {"member", "step", "train_loss", "test_loss", *WEIGHTS}


def test_snapshots_are_the_parameters_of_their_step():
    result = trained(_spec(steps=10, snapshots=[0, 3, 10]))
    for step in (0, 3, 10):
        kept = result.snapshots[f"{step:010d}/weight"]
        assert kept.shape == (1, 1, 2)
        assert kept.ravel().tolist() == [result.history[column][step] for column in WEIGHTS]
    assert len(result.snapshots) == 3


def test_logging_and_snapshots_change_no_trajectory():
    often, seldom = (
        trained(_spec(log={"every": every, "first": 0}, snapshots=kept))
        for every, kept in ((1, [0, 5, 40]), (40, [40]))
    )
    final = "0000000040/weight"
    assert np.array_equal(often.snapshots[final], seldom.snapshots[final])


def test_progress_is_told_after_each_log():
    told = []
    trained(_spec(log={"every": 20, "first": 0}), progress=lambda *step: told.append(step))
    assert told == [(0, 40), (20, 40), (40, 40)]


def test_a_batch_of_all_samples_is_the_full_batch():
    task = addition(5, "summed")
    model = {"name": "linear", "init": "normal", "negative_slope": 0.5}
    spec = _spec() | {"task": task, "model": model, "observables": [{"name": "losses"}]}
    full = trained(spec)
    spec["train"] = spec["train"] | {"batch_size": 15, "shuffle": True}
    whole = trained(spec)
    assert np.array_equal(full.history["train_loss"], whole.history["train_loss"])
    spec["train"] = spec["train"] | {"batch_size": 14, "shuffle": True}
    assert not np.array_equal(full.history["train_loss"], trained(spec).history["train_loss"])


@pytest.mark.parametrize("shuffle", [True, False])
def test_a_step_on_minibatches_is_gradient_descent_on_its_samples(shuffle):
    """One epoch of a linear model against numpy, in the generator's order or the data's."""
    task = addition(3, "summed", train_fraction=0.8)
    weight = np.linspace(-1, 1, 9).reshape(3, 3)
    log = {"every": 1, "first": 0}
    spec = _spec(steps=3, batch_size=3, shuffle=shuffle, log=log, snapshots=[0, 1, 2, 3]) | {
        "task": task,
        "model": {"name": "linear", "init": weight.ravel().tolist(), "negative_slope": 1.0},
        "penalties": [],
        "observables": [{"name": "losses"}],
        "ensemble": {"seed": [5]},
    }
    data = dataset.make([task])
    found = trained(spec).snapshots
    order = torch.randperm(7, generator=torch.Generator().manual_seed(5)).numpy()
    order = order if shuffle else np.arange(7)
    for step, batch in enumerate([order[:3], order[3:6], order[6:]]):
        x, y = data.train_inputs[batch], np.eye(3)[data.train_targets[batch]]
        weight = weight - 0.1 * 2 * (x @ weight.T - y).T @ x / len(batch)
        np.testing.assert_allclose(found[f"{step + 1:010d}/weight"][0], weight, rtol=1e-12)


def test_init_of_another_size_is_refused():
    spec = _spec() | {"model": TWO_WEIGHTS["model"] | {"init": [1.0, 2.0, 3.0]}}
    with pytest.raises(ValueError, match=r"model\.init has 3 entries"):
        trained(spec)
