"""Members, and runs, that the watch stops: rows, snapshots, the others, and a run that goes on."""

import copy

import numpy as np
import pytest
import torch

from grokatlas.declare import watches
from grokatlas.engine import dataset, members, training, watching
from grokatlas.engine.watching import Watcher
from grokatlas.results import endings, layout
from grokatlas.rules import savepoint
from grokatlas.rules.noting import watched
from tests.tiers import every
from tests.unit.engine.test_watching import SPEC

CPU = torch.device("cpu")


def _spec(**watch):
    spec = copy.deepcopy(SPEC)
    spec["train"]["snapshots"] = [0, 20, 60]
    return spec | {"watch": watches.checked(watch, spec["observables"])}


def _trained(spec, record=None):
    data = dataset.make(members.tasks(spec))
    watcher = Watcher(watched(spec), spec["train"]["steps"], len(members.of(spec)))
    return watching.train(spec, data, CPU, watcher, record), watcher


def _plain(spec):
    return training.train(spec, dataset.make(members.tasks(spec)), CPU)


def _rows(history, member):
    return {key: column[history["member"] == member] for key, column in history.items()}


def test_a_member_that_is_not_finite_ends_and_its_last_row_is_marked():
    spec = _spec(nonfinite={"stop": "member"})
    history = _trained(spec)[0].history
    first, second, third = (_rows(history, member) for member in range(3))
    assert first["step"][-1] == 60
    assert not first["stopped"].any()
    assert (second["step"][-1], third["step"][-1]) == (6, 2)
    for rows in (second, third):
        assert rows["stopped"].tolist() == [False] * (len(rows["step"]) - 1) + [True]
        assert not np.isfinite(rows["train_loss"][-1])
    whole = _rows(_plain(spec).history, 0)
    for key, column in whole.items():
        np.testing.assert_allclose(first[key], column, rtol=1e-14)


def test_a_snapshot_holds_what_a_member_was_stopped_with():
    spec = _spec(nonfinite={"stop": "member"})
    snapshots = _trained(spec)[0].snapshots
    before, final = (snapshots[f"{step:010d}/weight"] for step in (20, 60))
    assert abs(final[0]).max() < 10
    assert abs(final[1]).max() > 1e100  # its loss is infinite
    assert np.array_equal(before[1], final[1])
    assert not np.array_equal(before[0], final[0])


def test_a_run_ends_at_the_first_log_that_shows_it_with_all_members_marked():
    record, watcher = _trained(_spec(nonfinite={"stop": "run"}))
    for member in range(3):
        rows = _rows(record.history, member)
        assert rows["step"][-1] == 2
        assert rows["stopped"].tolist() == [False, True]
    assert record.step == 2
    assert "0000000060/weight" in record.snapshots
    assert [(note.member, note.step) for note in watcher.notes() if note.kind == "nonfinite"] == [
        (2, 2)
    ]


def test_a_run_that_comes_to_rest_ends():
    rest = {"stop": "member", "columns": ["l2_norm"], "tolerance": 1e-3, "logs": 2, "share": 0}
    spec = _spec(stagnation=rest)
    spec["ensemble"] = {"optimizer.lr": [0.01, 0.1], "seed": [0]}
    history = _trained(spec)[0].history
    ends = [_rows(history, member)["step"][-1] for member in range(2)]
    assert ends[1] < ends[0]
    assert _rows(history, 1)["stopped"][-1]


def test_a_watch_that_stops_nothing_leaves_the_history_as_it_is():
    record, watcher = _trained(_spec())
    assert record.history.keys() == _plain(SPEC).history.keys()
    assert list(watcher.notes())


def test_a_member_that_reaches_its_level_is_not_marked():
    spec = _spec(nonfinite={"stop": "member"})
    spec["train"]["stop"] = {"train_loss": {"below": 1e-3}}
    history = _trained(spec)[0].history
    rows = _rows(history, 0)
    assert rows["step"][-1] < 60
    assert not rows["stopped"].any()
    assert _rows(history, 1)["stopped"][-1]


def test_a_sign_that_stops_has_a_column_to_look_at():
    """Not known before, where an observable does not say what it logs."""
    spec = _spec(spike={"stop": "run"})
    spec["watch"]["spike"]["columns"] = ["hinge_loss"]
    with pytest.raises(
        ValueError, match=r"watch\.spike: no column hinge_loss is logged; logged: t"
    ):
        _trained(spec)


@pytest.mark.parametrize("level", [1e-3, 1.8])
def test_a_member_that_reaches_its_level_where_the_run_is_stopped_is_not_marked(level):
    """Of three members the first reaches its level of 1.8 at the log where the third diverges."""
    spec = _spec(nonfinite={"stop": "run"})
    spec["train"]["stop"] = {"train_loss": {"below": level}}
    history = _trained(spec)[0].history
    rows = [_rows(history, member) for member in range(3)]
    assert [each["step"].tolist() for each in rows] == [[0, 2]] * 3
    reached = [bool(each["train_loss"][-1] <= level) for each in rows]
    assert reached == [level > 1, False, False]
    assert [each["stopped"].tolist() for each in rows] == [[False, not r] for r in reached]


@pytest.mark.parametrize("stop", ["member", "run"])
def test_a_member_that_trains_to_its_last_step_is_not_marked(stop):
    """The sign shows at the last log and not before, as nothing rests for as long as that."""
    rest = {"stop": stop, "columns": ["l2_norm"], "tolerance": 1e9, "logs": 1, "share": 1}
    record, watcher = _trained(_spec(stagnation=rest))
    assert record.step == 60
    assert [note.step for note in watcher.notes() if note.kind == "stagnation"] == [60]
    assert not record.history["stopped"].any()


@pytest.mark.parametrize("step", every(3, [1, 3, 5], first=1))
def test_a_run_that_was_killed_goes_on_to_the_same_bytes(tmp_path, monkeypatch, step):
    """Between the stops of two members, and before and after them; in logs of their own."""
    monkeypatch.setattr(training, "SECOND", 0.0)
    spec = _spec(nonfinite={"stop": "member"}, spike={"logs": 2, "floor": 0, "stop": "member"})
    _finish(spec, tmp_path / "whole")

    class KilledError(BaseException):
        pass

    class Record(savepoint.Savepoint):
        def after(self, at, saved):
            super().after(at, saved)
            if at == step:
                raise KilledError

    record = Record(tmp_path / "killed", "key", 0.0, {})
    with pytest.raises(KilledError):
        _trained(spec, record)
    _finish(spec, tmp_path / "killed")
    for whole, killed in zip(
        *map(_outputs, (tmp_path / "whole", tmp_path / "killed")), strict=True
    ):
        assert whole.read_bytes() == killed.read_bytes()
    declared = {"train_loss": "falls"}
    found = endings.read(_outputs(tmp_path / "whole")[0], spec, declared)
    assert found["stopped"] == {"1": 4, "2": 2}


def _finish(spec, folder):
    record = savepoint.Savepoint(folder, "key", 0.0, {})
    _trained(spec, record)
    record.finish(*_outputs(folder))


def _outputs(folder):
    return layout.outputs("run", folder)
