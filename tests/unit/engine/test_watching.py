"""A watched training: what is noted, and that noting changes no byte."""

import copy
import math

import numpy as np
import pytest
import torch

from grokatlas.declare import watched_columns
from grokatlas.engine import dataset, members, training, watching
from grokatlas.engine.watching import Note, Watcher
from grokatlas.rules.noting import watched

CPU = torch.device("cpu")
RULES = {
    "nonfinite": {"columns": ["*_loss"]},
    "spike": {"columns": ["train_loss"], "factor": 10.0, "logs": 3, "floor": 0.01},
    "stagnation": {"columns": ["*"], "tolerance": 1e-6, "logs": 3, "share": 0.1},
}
NONE = {kind: {"columns": []} for kind in watching.KINDS}
# three members, of which two have a rate at which they diverge
SPEC = {
    "task": {"name": "one_sample", "point": [1.0, 1.0], "target": 2.0}
    | {"test_points": 5, "test_seed": 0},
    "model": {"name": "linear", "init": [-1.0, 1.0], "negative_slope": 1.0},
    "loss": {"name": "mse", "reduction": "sample_mean", "half": False},
    "optimizer": {"name": "gd"},
    "dynamics": {"name": "gradient_training"},
    "observables": [{"name": "losses"}, {"name": "norms", "orders": ["l2"]}],
    "ensemble": {"optimizer.lr": [0.1, 1e30, 1e80], "seed": [0]},
    "train": {
        "steps": 60,
        "dtype": "float64",
        "log": {"every": 2, "first": 0},
        "snapshots": [0, 60],
    },
}


def _looked(rules, steps=100, **columns):
    """What a watcher finds in columns of rows: one list of values for each log, from step 0 on."""
    lengths = {len(values[0]) for values in columns.values()}
    watcher = Watcher(NONE | rules, steps, *lengths)
    count = len(next(iter(columns.values())))
    for log in range(count):
        seen = {name: np.array(values[log], dtype=float) for name, values in columns.items()}
        watcher.look(log * 10, list(range(*lengths)), seen)
    return list(watcher.notes())


def test_a_value_that_is_not_finite_is_noted_once_with_its_column():
    rule = {"nonfinite": RULES["nonfinite"]}
    rows = [[1.0, 1.0], [1.0, math.inf], [1.0, math.nan], [1.0, 1.0], [1.0, math.nan]]
    (note,) = _looked(rule, train_loss=[[1.0, 1.0]] * 5, test_loss=rows, gradient_ratio=rows)
    assert note[:4] == (1, "nonfinite", 10, "test_loss")
    assert (note.times, note.last) == (2, 40)


def test_a_spike_is_a_jump_above_the_highest_of_the_last_logs():
    rule = {"spike": RULES["spike"]}
    column = [[v] for v in (0.1, 0.09, 0.1, 0.3, 3.1, 0.9, 0.1, 0.1, 0.1, 5.0, 6.0)]
    assert _looked(rule, train_loss=column) == [Note(0, "spike", 40, "train_loss", 3.1, 2, 90)]
    assert _looked(rule, test_loss=column) == []


def test_a_rise_over_many_logs_and_one_at_the_beginning_are_no_spikes():
    rule = {"spike": RULES["spike"]}
    assert _looked(rule, train_loss=[[2.0**k] for k in range(30)]) == []
    assert _looked(rule, train_loss=[[0.0], [1.0], [50.0], [100.0]]) == []


def test_a_rise_from_the_level_of_rounding_errors_is_no_spike():
    rule = {"spike": RULES["spike"]}
    begin = [[1.0], [1e-3], [1e-30], [1e-30], [1e-28]]
    assert _looked(rule, train_loss=[*begin, [1e-4]]) == []
    (note,) = _looked(rule, train_loss=[*begin, [0.011]])
    assert note.step == 50


def test_stagnation_is_of_all_columns_for_logs_and_for_steps():
    rule = {"stagnation": RULES["stagnation"]}
    still, moving = [[1.0]] * 8, [[2.0**-k] for k in range(8)]
    assert _looked(rule, train_loss=still, l2_norm=moving) == []
    found = _looked(rule, train_loss=still, l2_norm=still)
    assert found == [Note(0, "stagnation", 30, "", 0.0, 1, 30)]
    (late,) = _looked(rule, steps=500, train_loss=still, l2_norm=still)
    assert late.step == 50
    ratio = [[math.nan]] * 8
    assert len(_looked(rule, train_loss=still, gradient_ratio=ratio)) == 1


def test_a_slow_drift_is_no_stagnation():
    rule = {"stagnation": RULES["stagnation"]}
    drift = [[1.0 + 6e-7 * k] for k in range(12)]
    assert _looked(rule, l2_norm=drift) == []


def test_a_member_that_is_not_finite_neither_spikes_nor_stagnates():
    rows = [[1.0]] + [[math.nan]] * 9
    assert [note.kind for note in _looked(RULES, train_loss=rows)] == ["nonfinite"]


def test_members_that_stopped_keep_what_was_found_in_them():
    watcher = Watcher(NONE | {"nonfinite": {"columns": ["a"]}}, 10, 3)
    watcher.look(0, [0, 1, 2], {"a": np.array([1.0, math.nan, 1.0])})
    watcher.look(5, [0, 2], {"a": np.array([1.0, math.nan])})
    assert [(note.member, note.step) for note in watcher.notes()] == [(1, 0), (2, 5)]


def test_what_every_run_is_searched_for_follows_from_the_directions_of_its_columns():
    entries = [{"name": "losses"}, {"name": "accuracies"}, {"name": "gradient_ratio"}]
    found = watched_columns.columns([*entries, {"name": "slow_time", "weight": "l2"}])
    assert found["spike"] == ["train_loss"]
    assert set(found["nonfinite"]) >= {"train_loss", "test_accuracy"}
    assert "gradient_ratio" not in found["nonfinite"]
    assert "gradient_ratio" in found["stagnation"]
    assert "slow_time" not in found["stagnation"]


def _watch(spec, record=None, **arguments):
    data = dataset.make(members.tasks(spec))
    watcher = Watcher(watched(spec), spec["train"]["steps"], len(members.of(spec)))
    return watching.train(spec, data, CPU, watcher, record, **arguments), watcher


def test_a_watched_run_has_the_bytes_of_one_that_is_not():
    told = []
    found, watcher = _watch(SPEC, tell=told.extend)
    plain = training.train(SPEC, dataset.make(members.tasks(SPEC)), CPU)
    assert found.history.keys() == plain.history.keys()
    for name, column in plain.history.items():
        assert found.history[name].tobytes() == column.tobytes()
    for name, array in plain.snapshots.items():
        assert found.snapshots[name].tobytes() == array.tobytes()
    assert {(note.member, note.kind) for note in told} >= {(1, "nonfinite"), (2, "nonfinite")}
    assert sorted(note[:4] for note in told) == sorted(note[:4] for note in watcher.notes())


@pytest.mark.parametrize("leaves", ["a log", "between logs"])
def test_a_run_that_goes_on_finds_the_same(leaves):
    spec = copy.deepcopy(SPEC)
    spec["ensemble"] = {"optimizer.lr": [0.1, 0.2, 1e3], "seed": [0]}
    _, whole = _watch(spec)
    first, second = (Watcher(watched(spec), 60, 3) for _ in range(2))
    rows = training.train(spec, dataset.make(members.tasks(spec)), CPU).history
    names = [name for name in rows if name not in ("member", "step")]
    steps = sorted(set(rows["step"].tolist()))
    for count, step in enumerate(steps):
        at = rows["step"] == step
        if count == 9:
            second.restore(copy.deepcopy(first.saved()))
            if leaves == "between logs":  # and was saved again before the next one
                third = Watcher(watched(spec), 60, 3)
                third.restore(copy.deepcopy(second.saved()))
                second = third
        watcher = first if count < 9 else second
        watcher.look(step, rows["member"][at].tolist(), {name: rows[name][at] for name in names})
    assert list(second.notes()) == list(whole.notes())
    assert len(list(whole.notes())) > 1
