"""`grokatlas status`: one run of each state, told from what it left."""

import io
import os
import shutil
import socket
import time
from pathlib import Path

import filelock
import pytest

from grokatlas import cli, text
from grokatlas.operate import display, slurm, status
from grokatlas.plan import remaining
from grokatlas.results import files, layout

ROOT = Path(__file__).parents[3]
PAPER = ROOT / "tests/workflow/papers/geometry"
HERE = socket.gethostname()
ERROR = "results/runs/x/spec.json: training failed: disk [full]"


@pytest.fixture(autouse=True)
def _no_slurm(monkeypatch):
    """Whatever this machine has."""
    monkeypatch.setattr(slurm, "workflow_or_none", lambda folder: "")


@pytest.fixture
def runs(tmp_path, monkeypatch):
    """The runs of a checkout that nothing was made in."""
    shutil.copytree(PAPER, tmp_path / "config/papers/geometry")
    shutil.copy(ROOT / "config/config.yaml", tmp_path / "config")
    monkeypatch.chdir(tmp_path)
    return [job for job in remaining.at("smoke").jobs if job.kind == "run"]


def _log(job, *lines: str, age: float = 0) -> None:
    path = job.target / "log.txt"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join([*lines, ""]))
    os.utime(path, (time.time() - age, time.time() - age))


def _started(job, host: str = HERE) -> str:
    return f"run {job.target.name}: trains on {host}, Pretended A100"


def _step(job, step: int) -> str:
    return f"run {job.target.name}: step {step}/20, 2.5 steps/s, 4000 s left"


def _finish(job, **changes) -> None:
    facts = {
        "inputs": {},
        "host": {"name": "node3"},
        "device": {"type": "cuda", "name": "Pretended A100"},
        "segments": [{"start_step": 0, "end_step": 17}],
        "train_seconds": 125.0,
    }
    files.write_json(job.manifest, files.sealed({**job.content, **facts, **changes}))
    for file in job.outputs:
        file.touch()


def _rows() -> dict[str, status.Row]:
    return {row.run: row for row in status.Board("smoke").rows()}


def _only(job) -> status.Row:
    return _rows()[job.target.name]


def test_every_state_is_told_and_nothing_is_changed(runs, tmp_path):
    running, failed, done, waiting = runs[:4]
    _log(running, _started(running), _step(running, 5), _step(running, 10), age=60)
    _log(failed, _started(failed), _step(failed, 5), ERROR)
    _log(done, _started(done), _step(done, 20))
    _finish(done)
    lock = filelock.FileLock(running.target / layout.LOCK)
    with lock:
        before = [(p, p.lstat().st_mtime_ns, p.lstat().st_ctime_ns) for p in tmp_path.rglob("*")]
        rows = _rows()
        after = [(p, p.lstat().st_mtime_ns, p.lstat().st_ctime_ns) for p in tmp_path.rglob("*")]
    assert before == after
    found = [rows[job.target.name] for job in (running, failed, done, waiting)]
    assert [row.state for row in found] == ["running", "failed", "done", "waiting"]
    assert (found[0].step, found[0].rate, found[0].where) == (10, 2.5, f"{HERE}, Pretended A100")
    assert found[0].left == pytest.approx(3940, abs=30)
    assert (found[1].step, found[1].note) == (5, ERROR)
    assert (found[2].step, found[2].where) == (17, "node3, Pretended A100")
    assert found[2].note == "in 2 min"
    assert (found[3].step, found[3].note) == (None, "")
    assert [row.state for row in rows.values()][:2] == ["running", "failed"]
    assert list(rows.values())[-1] == found[2]
    assert {row.name.partition("/")[0] for row in rows.values()} == {"geometry"}


def test_a_run_that_was_killed_here_is_not_running(runs):
    _log(runs[0], _started(runs[0]), _step(runs[0], 10))
    (runs[0].target / layout.LOCK).touch()
    row = _only(runs[0])
    assert (row.state, row.step) == ("failed", 10)
    assert row.note.startswith("the process ended without an error message; last line: step 10/20")


@pytest.mark.parametrize(
    ("lines", "age", "state"),
    [
        (["start", "step"], 10, "running"),
        (["start"], 10, "running"),
        (["start", "step"], 3600, "failed"),
        (["start", "step", "stopped"], 10, "failed"),
        (["devices: all 2 are leased; waiting"], 10, "running"),
        ([ERROR], 10, "failed"),
        ([], 10, "running"),
        ([], 3600, "waiting"),
    ],
)
def test_a_run_on_another_machine_is_told_by_what_it_wrote(runs, lines, age, state):
    job = runs[0]
    stopped = f"run {job.target.name}: stopped by SIGTERM at step 10; run it again to go on"
    known = {"start": _started(job, "node7"), "step": _step(job, 10), "stopped": stopped}
    _log(job, *(known.get(line, line) for line in lines), age=age)
    row = _only(job)
    assert row.state == state
    if state == "failed":
        last = known.get(lines[-1], lines[-1]).removeprefix(f"run {job.target.name}: ")
        silent = "the process ended without an error message; last line: "
        silent = "" if lines[-1] in ("stopped", ERROR) else silent
        assert row.note == silent + last


def test_a_run_that_saves_is_not_silent(runs):
    job = runs[0]
    _log(job, _started(job, "node7"), age=3600)
    state = job.target / layout.STATE
    state.mkdir()
    (state / "state.json").write_text('{"step": 12}')
    row = _only(job)
    assert (row.state, row.step) == ("running", 12)


def test_where_the_kernel_tells_no_locks_times_decide(runs, monkeypatch):
    monkeypatch.setattr(status, "held_locks", lambda: None)
    _log(runs[0], _started(runs[0]), _step(runs[0], 10))
    assert _only(runs[0]).state == "running"


def test_a_result_that_does_not_fit_waits(runs):
    _log(runs[0], _started(runs[0]), _step(runs[0], 20))
    _finish(runs[0], digest="of other code")
    row = _only(runs[0])
    assert (row.state, row.note) == ("waiting", "is made again: its spec, code or data changed")


@pytest.mark.parametrize("damage", [b"\xff\xfe\x00 no text", b"", b"{}"])
def test_damaged_files_are_no_error(runs, damage):
    state = runs[0].target / layout.STATE
    state.mkdir(parents=True)
    for file in (runs[0].target / "log.txt", runs[0].manifest, state / "state.json"):
        file.write_bytes(damage)
    assert _only(runs[0]).state == "waiting"


def test_off_a_terminal_it_is_text_once(runs, capsys):
    _log(runs[0], ERROR)
    assert cli.main(["status", "--scale", "smoke"]) == 0
    summary, head, first, *rest = capsys.readouterr().out.splitlines()
    assert summary == f"{len(runs)} runs at scale smoke: 0 running, 1 failed, {len(runs) - 1} " + (
        "waiting, 0 done"
    )
    assert head.split() == ["state", "run", "of", "step", "rate", "left", "where"]
    assert first.startswith(f"failed   {runs[0].target.name}")
    assert first.endswith(ERROR)
    assert len(rest) == len(runs) - 1


def test_at_a_terminal_it_goes_on_until_all_is_done(runs, monkeypatch):
    from rich.console import Console

    _log(runs[0], ERROR)
    waits = []

    def sleep(seconds):
        waits.append(seconds)
        for job in runs if len(waits) == 2 else runs[:1]:
            _finish(job)

    monkeypatch.setattr(time, "sleep", sleep)
    shown = io.StringIO()
    display.watch("smoke", Console(file=shown, force_terminal=True, width=200, height=50))
    assert len(waits) == 2
    assert "disk [full]" in shown.getvalue()
    assert f"{len(runs) - 1} waiting, 1 done" in shown.getvalue()
    assert f"0 waiting, {len(runs)} done" in shown.getvalue()


def test_jobs_of_the_workflow_are_told_of_below_the_number_of_runs(runs, monkeypatch):
    monkeypatch.setattr(slurm, "workflow_or_none", lambda folder: "7 (running)")
    assert display.text("smoke").splitlines()[1] == "the workflow is in jobs 7 (running)"


def test_a_run_whose_files_nothing_needs_is_done(runs):
    """As after adopting tables alone: manifests of all, files of tables and figures."""
    want = remaining.at("smoke")
    for job in want.jobs:
        inputs = {str(file): file.name for each in job.inputs for file in each.outputs}
        outputs = {file.name: file.name for file in job.outputs}
        _finish(job, inputs=inputs, outputs=outputs)
    for run in runs:
        for file in run.outputs:
            file.unlink()
    assert remaining.unmade(want.jobs) == []
    assert {row.state for row in _rows().values()} == {"done"}
    figure = want.jobs[-1]
    assert figure.kind == "figure"
    figure.outputs[0].unlink()
    assert [job.target for job in remaining.unmade(want.jobs)] == [figure.target]
    for table in (job for job in want.jobs if job.kind == "table"):
        table.outputs[0].unlink()
    assert {job.kind for job in remaining.unmade(want.jobs)} >= {"figure", "table", "run"}
    assert "waiting" in {row.state for row in _rows().values()}


def test_ctrl_c_ends_the_live_table(runs, monkeypatch):
    from rich.console import Console

    def interrupted(seconds):
        raise KeyboardInterrupt

    monkeypatch.setattr(time, "sleep", interrupted)
    shown = io.StringIO()
    display.watch("smoke", Console(file=shown, force_terminal=True, width=200, height=50))
    assert f"{len(runs)} waiting" in shown.getvalue()


def test_outside_a_checkout_it_is_one_line(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert cli.main(["status"]) == 1
    assert capsys.readouterr().err == "config/config.yaml: no such file; run this in the checkout\n"


@pytest.mark.parametrize(
    ("seconds", "told"), [(0.4, "0.4 s"), (59, "59 s"), (61, "1 min"), (7260, "2 h 1 min")]
)
def test_durations(seconds, told):
    assert text.duration(seconds) == told
