"""What is noted of a run: in its log, its manifest, a file while it trains; and who reads it."""

import json
import signal
import socket

import filelock
import pytest

from grokatlas.atlas import noted
from grokatlas.audit.tree import Tree
from grokatlas.engine.watching import Note
from grokatlas.operate import show, status
from grokatlas.results import files, layout, notes
from grokatlas.rules import noting, savepoint, train

TASK = {"name": "one_sample", "point": [1.0, 1.0], "target": 2.0}
SPEC = {
    "task": TASK | {"test_points": 5, "test_seed": 0},
    "model": {"name": "linear", "init": [-1.0, 1.0], "negative_slope": 1.0},
    "loss": {"name": "mse", "reduction": "sample_mean", "half": False},
    "optimizer": {"name": "gd"},
    "dynamics": {"name": "gradient_training"},
    "observables": [{"name": "losses"}, {"name": "norms", "orders": ["l2"]}],
    "ensemble": {"optimizer.lr": [0.1, 1e30, 1e80], "seed": [0]},
    "train": {
        "steps": 30,
        "dtype": "float64",
        "log": {"every": 2, "first": 0},
        "snapshots": [],
    },
}
RUN = layout.run_folder("0123456789ab")
FOUND = [(1, "nonfinite", 6), (2, "nonfinite", 2)]
LINE = "member 2 (optimizer.lr 1e+80, seed 0): train_loss is not finite at step 2"


@pytest.fixture(autouse=True)
def _here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def _job_file():
    job = {"kind": "run", "spec": SPEC, "code": {}, "digest": train.run_digests(SPEC, {}).today}
    files.write_json(file := layout.spec_path("run", RUN), files.sealed({**job, "inputs": []}))
    return file


def _trained():
    train.execute(_job_file(), RUN, "cpu", 1, 300)
    return files.read_sealed(layout.manifest_of("run", RUN))


def _key(entry):
    return entry["member"], entry["kind"], entry["step"]


def _interrupted(monkeypatch, step=15):
    """A training that a signal stops after a step; what it left is what is there meanwhile."""
    after = savepoint.Savepoint.after

    def stop(record, at, saved):
        record._asked = signal.SIGTERM if at >= step else 0
        after(record, at, saved)

    with monkeypatch.context() as stopped:
        stopped.setattr(savepoint.Savepoint, "after", stop)
        stopped.setattr(noting, "PERIOD", 0.0)
        with pytest.raises(savepoint.InterruptedRunError):
            train.execute(_job_file(), RUN, "cpu", 1, 300)


def test_the_log_and_the_manifest_of_a_run_say_what_was_noted(capsys):
    manifest = _trained()
    assert sorted(map(_key, manifest["noted"])) == sorted(FOUND)
    assert f"run {RUN.name}: noted: {LINE}" in capsys.readouterr().err.splitlines()


def test_what_was_noted_can_be_read_while_a_run_trains(monkeypatch):
    _interrupted(monkeypatch)
    assert sorted(map(_key, notes.of(RUN, None))) == sorted(FOUND)
    told = show.run(RUN.name)
    assert f"noted: {LINE}" in told
    summary, lines = noted.of([Tree(layout.RESULTS).results[RUN.as_posix()]])
    assert summary == "2 of 3 members not finite (the first: member 2 at step 2)"
    assert lines[0] == f"run {RUN.name}, {LINE}"


def test_a_run_that_goes_on_has_the_same_notes(monkeypatch):
    _interrupted(monkeypatch, step=3)
    assert len(notes.of(RUN, None)) == 1
    first = _trained()["noted"]
    assert sorted(map(_key, first)) == sorted(FOUND)


def test_a_run_that_trains_and_one_that_failed_show_their_notes_in_status(monkeypatch):
    _interrupted(monkeypatch)
    log = RUN / "log.txt"
    begins = f"run {RUN.name}: trains on {socket.gethostname()}, cpu\n"
    last = f"run {RUN.name}: step 14/30, 2.5 steps/s, 4000 s left\n"
    told = "noted: 2 of 3 members not finite (the first: member 2 at step 2)"
    log.write_text(f"{begins}{last}run {RUN.name}: noted: {LINE}\n")
    with filelock.FileLock(RUN / layout.LOCK):
        row = status.unfinished(RUN, "", SPEC, status.held_locks())
    assert (row.state, row.step, row.note) == ("running", 14, told)
    log.write_text(f"{begins}{last}training failed: disk full\n")
    row = status.unfinished(RUN, "", SPEC, status.held_locks())
    assert (row.state, row.step, row.note) == ("failed", 14, f"training failed: disk full; {told}")


def test_a_run_whose_last_line_is_a_note_trains():
    assert status.ALIVE.match(f"run {RUN.name}: noted: {LINE}")


def test_a_log_names_few_members_of_a_kind(capsys):
    class Watcher:
        def notes(self):
            return iter(())

    spec = SPEC | {"ensemble": {"seed": list(range(20))}}
    told = noting.Notes(RUN, spec, Watcher())
    told.tell([Note(k, "nonfinite", 10, "train_loss", float("nan"), 1, 10) for k in range(20)])
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == noting.MOST
    assert lines[-1].endswith("; `grokatlas show 0123456789ab` names all of them")


def test_notes_that_cannot_be_written_cost_a_line(monkeypatch, capsys):
    def full(*_):
        raise files.UserError("notes.json", "cannot be written: No space left on device")

    monkeypatch.setattr(noting, "PERIOD", 0.0)
    real = files.write_json
    monkeypatch.setattr(
        noting.files, "write_json", lambda p, c: full() if p.name == notes.FILE else real(p, c)
    )
    assert len(_trained()["noted"]) == 2
    assert "warning: notes are not written: notes.json: cannot be wr" in capsys.readouterr().err


@pytest.mark.parametrize(
    "content", ["{", "[1]", '[{"kind": "spike"}]', '{"a": 1}', '[{"kind": "x", "member": 0}]']
)
def test_a_file_that_holds_no_notes_is_none(content):
    file = notes.file_of(RUN)
    file.parent.mkdir(parents=True)
    file.write_text(content)
    assert notes.of(RUN, None) == []
    assert notes.of(RUN, {"noted": json.loads(content) if content != "{" else 3}) == []


def test_a_note_in_words():
    note = notes.entry(0, "spike", 400, "train_loss", 0.8, 3, 1900)
    text = "train_loss jumps to 0.8 at step 400; 3 times in all, the last at step 1,900"
    assert notes.text(note) == text
    note = notes.entry(0, "stagnation", 420, "", 300.0, 1, 420)
    assert notes.text(note) == "what is watched has not moved since step 300 (found at step 420)"
    assert notes.summary([], 3) == ""
    assert notes.summary([note], 3, without=("stagnation",)) == ""
