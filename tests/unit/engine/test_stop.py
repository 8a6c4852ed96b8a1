"""Early stopping: a member freezes at its step, the others go on, and nothing is paid for it."""

import copy

import numpy as np
import pytest

from grokatlas.engine.run import Run
from tests.runs import addition, schedule, trained

RATES = [0.01, 0.1, 0.03]
SPEC = {
    "task": {
        "name": "one_sample",
        "point": [1.0, 1.0],
        "target": 2.0,
        "test_points": 5,
        "test_seed": 0,
    },
    "model": {"name": "linear", "init": [-1.0, 1.0], "negative_slope": 1.0},
    "loss": {"name": "mse", "reduction": "sample_mean", "half": False},
    "optimizer": {"name": "gd"},
    "dynamics": {"name": "gradient_training"},
    "observables": [{"name": "losses"}, {"name": "parameters"}],
    "ensemble": {"optimizer.lr": RATES, "seed": [0]},
    "train": schedule(30, every=2, snapshots=[0, 10, 30], stop={"parameters.weight.1": 1.9}),
}


def _spec(stop):
    """The run with other levels, or without any."""
    spec = copy.deepcopy(SPEC)
    del spec["train"]["stop"]
    spec["train"] |= {"stop": stop} if stop else {}
    return spec


def _rows(history, member):
    return {key: column[history["member"] == member] for key, column in history.items()}


def test_updates_that_build_programs_anew_are_not_timed():
    free, stopped = trained(_spec(None)), trained(SPEC)
    assert 0 < stopped.updates.count < free.updates.count < 30


def test_a_member_stops_at_the_first_log_that_reaches_the_level():
    free, stopped = trained(_spec(None)).history, trained(SPEC).history
    ends = []
    for member in range(3):
        whole, part = _rows(free, member), _rows(stopped, member)
        reached = np.flatnonzero(whole["parameters.weight.1"] >= 1.9)
        last = reached[0] if len(reached) else len(whole["step"]) - 1
        for key, column in part.items():
            np.testing.assert_allclose(column, whole[key][: last + 1], rtol=1e-14)
        ends.append(part["step"][-1])
    assert ends[1] < ends[2] < ends[0] == 30


def test_a_snapshot_holds_what_a_stopped_member_stopped_with():
    record = trained(SPEC)
    rows = _rows(record.history, 1)
    final = record.snapshots["0000000030/weight"]
    assert final[1, 0, 1] == rows["parameters.weight.1"][-1] >= 1.9
    assert np.array_equal(final[1], record.snapshots["0000000010/weight"][1])
    assert not np.array_equal(final[0], record.snapshots["0000000010/weight"][0])


def test_a_run_ends_when_all_members_have_stopped(monkeypatch):
    steps = []
    move = Run.move
    monkeypatch.setattr(
        Run, "move", lambda run, n: steps.extend([len(run.indices)] * n) or move(run, n)
    )
    spec = copy.deepcopy(SPEC)
    spec["ensemble"]["optimizer.lr"] = RATES[1:]
    record = trained(spec)
    assert len(steps) == max(record.history["step"]) < 30
    assert steps == sorted(steps, reverse=True)
    assert set(steps) == {2, 1}
    assert "0000000030/weight" in record.snapshots


def test_all_levels_must_be_reached_at_one_log():
    spec = _spec({"parameters.weight.1": 1.9, "train_loss": {"above": 1e9}})
    assert set(_rows(trained(spec).history, 1)["step"]) == set(range(0, 31, 2))


def test_a_loss_stops_a_member_from_above():
    spec = _spec({"train_loss": {"below": 1e-3}})
    free, stopped = trained(_spec(None)).history, trained(spec).history
    for member in range(3):
        whole, part = _rows(free, member), _rows(stopped, member)
        low = np.flatnonzero(whole["train_loss"] <= 1e-3)
        last = low[0] if len(low) else len(whole["step"]) - 1
        assert part["step"].tolist() == whole["step"][: last + 1].tolist()
    assert _rows(stopped, 1)["step"][-1] < 30


def test_a_member_that_is_not_a_number_reaches_nothing():
    spec = copy.deepcopy(SPEC)
    spec["ensemble"]["optimizer.lr"] = [1e200, 0.1]
    spec["train"]["stop"] = {"train_loss": {"below": 1e-9}}
    rows = _rows(trained(spec).history, 0)
    assert not np.isfinite(rows["train_loss"][-1])
    assert rows["step"][-1] == 30


def test_a_level_that_every_member_has_at_step_0_is_refused():
    spec = _spec({"train_loss": {"below": 1e9}})
    with pytest.raises(ValueError, match=r"train\.stop: every member reaches it at step 0.*loss 4"):
        trained(spec)


def test_a_member_that_has_its_level_at_step_0_leaves_the_others_alone():
    spec = copy.deepcopy(SPEC)
    del spec["model"]["init"]
    spec["optimizer"]["lr"] = 0.1
    spec["ensemble"] = {"model.init": [[1.0, 1.0], [-1.0, 1.0]], "seed": [0]}
    spec["train"]["stop"] = {"train_loss": {"below": 1e-3}}
    history = trained(spec).history
    assert [_rows(history, member)["step"][-1] for member in (0, 1)] == [0, 10]


def test_a_column_that_is_not_logged_is_refused():
    spec = _spec({"test_acuracy": 0.9})
    with pytest.raises(ValueError, match=r"train\.stop: no column 'test_acuracy'; logged: train_"):
        trained(spec)


def test_members_with_data_of_their_own_stop_alone():
    spec = copy.deepcopy(SPEC)
    spec |= {
        "task": addition(5, "summed", split_seed="member"),
        "model": {"name": "linear", "init": "normal", "negative_slope": 1.0},
        "loss": {"name": "cross_entropy"},
        "optimizer": {"name": "gd", "lr": 0.5},
        "observables": [{"name": "losses"}, {"name": "accuracies"}],
        "ensemble": {"seed": [0, 1, 2]},
    }
    spec["train"] |= {"stop": {"train_accuracy": 0.6}, "batch_size": 4, "shuffle": True}
    together = trained(spec).history
    ends = {_rows(together, member)["step"][-1] for member in range(3)}
    assert len(ends) > 1
    for member in range(3):
        alone = trained(spec | {"ensemble": {"seed": [member]}}).history
        rows = _rows(together, member)
        for key in ("step", "train_loss", "test_loss"):
            np.testing.assert_allclose(rows[key], alone[key], rtol=1e-12)


def test_members_stop_by_slow_time_whatever_their_rate():
    spec = copy.deepcopy(SPEC) | {
        "dynamics": {"name": "linear_descent", "data_scale": "sum", "l2": 0.5},
        "observables": [{"name": "slow_time", "weight": "l2"}],
        "ensemble": {"dynamics.rate": [0.1, 0.02], "seed": [0]},
    }
    del spec["optimizer"]
    spec["train"]["stop"] = {"slow_time": 0.3}
    history = trained(spec).history
    last = {m: history["step"][history["member"] == m].max() for m in (0, 1)}
    assert last == {0: 6, 1: 30}
