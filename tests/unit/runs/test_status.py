"""`grokatlas status`: one run of each state, by what it left."""

import io
import os
import re
import shutil
import socket
import sys
import time

import filelock
import pytest

from grokatlas import cli, text
from grokatlas.cluster import slurm
from grokatlas.plan import remaining
from grokatlas.results import files, layout
from grokatlas.runs import progress
from tests.checkout import ROOT

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
        "outputs": {file.name: file.name for file in job.outputs},
        "host": {"name": "node3"},
        "device": {"type": "cuda", "name": "Pretended A100"},
        "segments": [{"start_step": 0, "end_step": 17}],
        "train_seconds": 125.0,
    }
    files.write_json(job.manifest, files.sealed({**job.content, **facts, **changes}))
    for file in job.outputs:
        file.touch()


@pytest.fixture
def ask(capsys):
    """Calls the command: the lines above its table; state and rest of each line, by run."""

    def asked() -> tuple[list[str], dict[str, tuple[str, str]]]:
        assert cli.main(["status", "--once", "--scale", "smoke"]) == 0
        lines = capsys.readouterr().out.splitlines()
        (place,) = [k for k, line in enumerate(lines) if line.startswith("id ")]
        head = lines[place]
        state, where = head.index("state"), head.index("where")
        rows = {line[:12]: (line[state:where].strip(), line[where:]) for line in lines[place + 1 :]}
        return lines[:place], rows

    return asked


def test_every_state_is_told_and_nothing_is_changed(runs, tmp_path, ask):
    running, failed, done, stale, damaged, waiting = runs[:6]
    _log(running, _started(running), _step(running, 5), _step(running, 10), age=60)
    _log(failed, _started(failed), _step(failed, 5), ERROR)
    _finish(done)
    _finish(stale, digest="of other code")
    damaged.manifest.parent.mkdir(parents=True)
    damaged.manifest.write_bytes(b"\xff\xfe\x00 no text")
    lock = filelock.FileLock(running.target / layout.LOCK)
    with lock:
        before = [(p, p.lstat().st_mtime_ns, p.lstat().st_ctime_ns) for p in tmp_path.rglob("*")]
        above, rows = ask()
        after = [(p, p.lstat().st_mtime_ns, p.lstat().st_ctime_ns) for p in tmp_path.rglob("*")]
    assert before == after
    assert above == [
        f"{len(runs)} runs at scale smoke: 1 running, 1 failed, 1 damaged, 1 stale, "
        f"{len(runs) - 5} waiting, 1 up to date"
    ]
    assert [*rows][:4] == [run.target.name for run in (running, failed, damaged, stale)]
    assert [*rows][-1] == done.target.name
    state, told = rows[running.target.name]
    assert state == "running"
    assert re.fullmatch(rf" *step 10/20, 2.5 steps/s, 1 h \d+ min left; on {HERE}, .* A100", told)
    state, told = rows[failed.target.name]
    assert (state, told.strip()) == ("failed", f"{ERROR}; step 5/20; on {HERE}, Pretended A100")
    assert rows[done.target.name] == ("up to date", "results  in 2 min on node3, Pretended A100")
    assert rows[stale.target.name] == ("stale", "results  its data changed")
    assert rows[damaged.target.name][0] == "damaged"
    assert rows[waiting.target.name] == ("waiting", "")


@pytest.mark.parametrize(("last", "state"), [((), "running"), ((ERROR,), "failed")])
def test_members_that_are_not_finite_are_told_of_a_run_that_is_not_done(runs, ask, last, state):
    lost = "2 of 3 members not finite"
    _log(runs[0], _started(runs[0], "node7"), f"{_step(runs[0], 10)}, {lost}", *last)
    shown, text = ask()[1][runs[0].target.name]
    assert shown == state
    assert lost in text
    _log(runs[0], _started(runs[0], "node7"), _step(runs[0], 12))
    assert "finite" not in ask()[1][runs[0].target.name][1]


def test_a_run_that_was_killed_here_is_not_running(runs, ask):
    _log(runs[0], _started(runs[0]), _step(runs[0], 10))
    (runs[0].target / layout.LOCK).touch()
    state, told = ask()[1][runs[0].target.name]
    assert state == "failed"
    assert "the process ended without an error message; last line: step 10/20" in told


@pytest.mark.parametrize(
    ("lines", "age", "expected"),
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
def test_a_run_on_another_machine_is_told_by_what_it_wrote(runs, lines, age, expected):
    job = runs[0]
    stopped = f"run {job.target.name}: stopped by SIGTERM at step 10; run it again to go on"
    known = {"start": _started(job, "node7"), "step": _step(job, 10), "stopped": stopped}
    _log(job, *(known.get(line, line) for line in lines), age=age)
    state, told = progress.unfinished(job.target, job.spec, progress.held_locks())
    assert state == expected
    if state == "failed":
        last = known.get(lines[-1], lines[-1]).removeprefix(f"run {job.target.name}: ")
        silent = "the process ended without an error message; last line: "
        silent = "" if lines[-1] in ("stopped", ERROR) else silent
        assert told.startswith(silent + last)


def test_a_run_that_saves_is_not_silent(runs):
    job = runs[0]
    _log(job, _started(job, "node7"), age=3600)
    state = job.target / layout.STATE
    state.mkdir()
    (state / "state.json").write_text('{"step": 12}')
    found = progress.unfinished(job.target, job.spec, progress.held_locks())
    assert found == ("running", f"{_started(job, 'node7')}; step 12/20; on node7, Pretended A100")


def test_where_the_kernel_tells_no_locks_times_decide(runs):
    _log(runs[0], _started(runs[0]), _step(runs[0], 10))
    assert progress.unfinished(runs[0].target, runs[0].spec, None)[0] == "running"


@pytest.mark.parametrize("damage", [b"\xff\xfe\x00 no text", b"", b"{}"])
def test_damaged_files_are_no_error(runs, damage):
    state = runs[0].target / layout.STATE
    state.mkdir(parents=True)
    for file in (runs[0].target / "log.txt", state / "state.json"):
        file.write_bytes(damage)
    progress.unfinished(runs[0].target, runs[0].spec, progress.held_locks())


def test_at_a_terminal_it_goes_on_until_all_is_up_to_date(runs, monkeypatch):
    _log(runs[0], ERROR)
    waits = []

    def sleep(seconds):
        waits.append(seconds)
        for job in runs if len(waits) == 2 else runs[:1]:
            _finish(job)

    said = _at_a_terminal(monkeypatch, sleep)
    assert len(waits) == 2
    assert "disk [full]" in said
    assert f"{len(runs) - 1} waiting, 1 up to date" in said
    assert f"0 waiting, {len(runs)} up to date" in said


def test_ctrl_c_ends_the_live_table(runs, monkeypatch):
    def interrupted(seconds):
        raise KeyboardInterrupt

    assert f"{len(runs)} waiting" in _at_a_terminal(monkeypatch, interrupted)


def test_in_80_columns_a_run_shows_its_state_and_the_begin_of_its_note(runs, monkeypatch):
    _log(runs[0], "loading", ERROR)

    def interrupted(seconds):
        raise KeyboardInterrupt

    said = re.sub(r"\x1b\[[\d;?]*[A-Za-z]", "", _at_a_terminal(monkeypatch, interrupted, 80))
    rows = [line for line in said.splitlines() if line[:12] in {run.target.name for run in runs}]
    assert len(rows) >= len(runs)
    assert max(map(len, rows)) <= 80, rows
    assert [row for row in rows if not re.search(r"  (failed|waiting)\b", row)] == []
    assert [row for row in rows if "…" not in row.split("  ")[1]] == []
    (failed,) = {row for row in rows if row.startswith(runs[0].target.name)}
    assert "training failed" in failed or "results/runs/x" in failed


def _at_a_terminal(monkeypatch, sleep, columns: int = 200) -> str:
    """What the command shows there, if its pauses are these."""

    class Terminal(io.StringIO):
        def isatty(self):
            return True

    monkeypatch.setattr(time, "sleep", sleep)
    monkeypatch.setattr(sys, "stdout", Terminal())
    for name, value in {"TERM": "xterm", "COLUMNS": str(columns), "LINES": "50"}.items():
        monkeypatch.setenv(name, value)
    assert cli.main(["status", "--scale", "smoke"]) == 0
    return sys.stdout.getvalue()


def test_jobs_of_the_workflow_are_told_of_below_the_number_of_runs(runs, monkeypatch, ask):
    monkeypatch.setattr(slurm, "workflow_or_none", lambda folder: "7 (running)")
    assert ask()[0][1] == "the workflow is in jobs 7 (running)"


def test_a_run_whose_files_nothing_needs_is_up_to_date(runs, ask):
    """As after adopting tables alone: manifests of all, files of tables and figures."""
    want = remaining.at("smoke")
    for job in want.jobs:
        inputs = {str(file): file.name for each in job.inputs for file in each.outputs}
        _finish(job, inputs=inputs)
    for run in runs:
        for file in run.outputs:
            file.unlink()
    assert {state for state, _ in ask()[1].values()} == {"up to date"}
    assert all("its files are not here" in told for _, told in ask()[1].values())
    for table in (job for job in want.jobs if job.kind in ("table", "figure")):
        table.outputs[0].unlink()
    rows = ask()[1].values()
    assert ("stale", "results  its files are not here") in rows


def test_outside_a_checkout_it_is_one_line(here, capsys):
    assert cli.main(["status"]) == 1
    assert capsys.readouterr().err == "config/config.yaml: no such file; run this in the checkout\n"


@pytest.mark.parametrize(
    ("seconds", "told"), [(0.4, "0.4 s"), (59, "59 s"), (61, "1 min"), (7260, "2 h 1 min")]
)
def test_durations(seconds, told):
    assert text.duration(seconds) == told
