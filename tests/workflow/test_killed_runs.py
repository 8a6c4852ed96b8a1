"""Real processes: killed, asked to stop, two at once, out of disk. Each ends as if undisturbed."""

import contextlib
import json
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from grokatlas.results import layout
from grokatlas.rules.jobs.savepoint import SIGNALS
from tests.runs import addition, job_file, schedule
from tests.tiers import every, exhaustive
from tests.unit.rules.test_rules import SPEC as SHORT
from tests.workflow.conftest import once

SPEC = SHORT | {
    "task": addition(7, "tokens", train_fraction=0.5, split_seed="member"),
    "train": schedule(3000, 7, [0, 1500, 3000], dtype="float32", batch_size=5, shuffle=True),
}
TIMES = ("started", "wall_seconds", "cpu_seconds", "train_seconds", "updates")
TIMES += ("peak_memory_mb", "segments")


def _command(folder: Path, every: float = 0.05) -> list[str]:
    if not (folder / "spec.json").exists():
        model = "grokatlas.components.models.bilinear_encoder"
        job_file(folder / "spec.json", "run", SPEC, ["grokatlas.engine.training", model])
    options = ["--device", "cpu", "--save-every", str(every), "--threads", "1"]
    return [sys.executable, "-m", "grokatlas", "train", str(folder / "spec.json"), *options]


def _run(folder: Path, **options) -> subprocess.CompletedProcess:
    return subprocess.run(_command(folder), capture_output=True, text=True, check=False, **options)


@contextlib.contextmanager
def _handling(handler, names=SIGNALS):
    """What processes started meanwhile do at first on a signal, whatever started the tests."""
    numbers = [getattr(signal, name) for name in names]
    before = {number: signal.signal(number, handler) for number in numbers}
    try:
        yield
    finally:
        for number, was in before.items():
            signal.signal(number, was)


def _start(folder: Path) -> subprocess.Popen:
    return subprocess.Popen(_command(folder), stderr=subprocess.PIPE, text=True)


def _saved_step(folder: Path) -> int:
    file = folder / ".state" / "state.json"
    return json.loads(file.read_text())["step"] if file.exists() else 0


def _wait_for_state(process: subprocess.Popen, folder: Path, after: int = 0) -> None:
    """Until a state later than that of a step is saved."""
    while _saved_step(folder) <= after:
        assert process.poll() is None, process.stderr.read()
        time.sleep(0.01)


def _result(folder: Path) -> tuple[list[bytes], dict]:
    manifest = json.loads((folder / "manifest.json").read_text())
    kept = {k: v for k, v in manifest.items() if k not in (*TIMES, "seal")}
    return [file.read_bytes() for file in layout.outputs("run", folder)], kept


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory, worker_id):
    def make(folder):
        folder.mkdir()
        done = _run(folder)
        assert done.returncode == 0, done.stderr
        assert not (folder / ".state").exists()

    return _result(once(tmp_path_factory, worker_id, "undisturbed", make))


@pytest.mark.parametrize("times", every(2, [2, 3]))
def test_kill_9_at_random_points(undisturbed, tmp_path, times):
    starts = [0]
    for _ in range(times):
        with _start(tmp_path) as process:
            _wait_for_state(process, tmp_path, starts[-1])
            time.sleep(random.uniform(0, 0.1))
            process.kill()
        if (tmp_path / "manifest.json").exists():
            break  # it had ended before
        starts.append(_saved_step(tmp_path))
    assert len(starts) > 1
    done = _run(tmp_path)
    assert done.returncode == 0, done.stderr
    assert _result(tmp_path) == undisturbed
    segments = json.loads((tmp_path / "manifest.json").read_text())["segments"]
    assert [part["start_step"] for part in segments] == starts
    assert segments[-1]["end_step"] == 3000


@pytest.mark.parametrize("name", every(4, SIGNALS, first=2))
def test_asked_to_stop_saves_and_says_so(name, undisturbed, tmp_path):
    with _handling(signal.SIG_DFL):
        process = _start(tmp_path)
    _assert_stops(process, name, undisturbed, tmp_path)


@exhaustive
@pytest.mark.parametrize("name", ["SIGTERM", "SIGUSR1"])
def test_what_a_scheduler_sends_is_never_ignored(name, undisturbed, tmp_path):
    with _handling(signal.SIG_IGN):  # as some services start what they run
        process = _start(tmp_path)
    _assert_stops(process, name, undisturbed, tmp_path)


def _assert_stops(process: subprocess.Popen, name: str, undisturbed, tmp_path) -> None:
    with process:
        _wait_for_state(process, tmp_path)
        process.send_signal(getattr(signal, name))
        *_, line = process.stderr.read().splitlines()
    assert process.returncode == 128 + getattr(signal, name)
    step = _saved_step(tmp_path)
    assert line.endswith(f"stopped by {name} at step {step}; run it again to go on")
    assert not (tmp_path / "manifest.json").exists()
    done = _run(tmp_path)
    assert f"goes on from step {step}" in done.stderr
    assert _result(tmp_path) == undisturbed


@exhaustive
@pytest.mark.parametrize("name", ["SIGHUP", "SIGINT"])
def test_a_signal_that_was_ignored_from_the_start_stays_ignored(name, undisturbed, tmp_path):
    number = getattr(signal, name)
    with _handling(signal.SIG_IGN, [name]):  # as nohup does, and a shell for `... &`
        process = _start(tmp_path)
    with process:
        _wait_for_state(process, tmp_path)
        process.send_signal(number)
        text = process.stderr.read()
    assert process.returncode == 0, text
    assert _result(tmp_path) == undisturbed


@exhaustive
def test_a_signal_after_the_result_is_written_changes_nothing(undisturbed, tmp_path):
    with _start(tmp_path) as process:
        while not (tmp_path / "manifest.json").exists():
            time.sleep(0.001)
        while process.poll() is None:
            process.terminate()
    assert process.returncode == 0
    assert _result(tmp_path) == undisturbed


def test_two_processes_train_a_run_once(undisturbed, tmp_path):
    _command(tmp_path)
    with _start(tmp_path) as first, _start(tmp_path) as second:
        told = [process.communicate()[1] for process in (first, second)]
    assert (first.returncode, second.returncode) == (0, 0)
    (waited,) = [text for text in told if "another process trains it; waiting" in text]
    assert waited.splitlines()[-1].endswith("is already there")
    assert len(json.loads((tmp_path / "manifest.json").read_text())["segments"]) == 1
    assert _result(tmp_path) == undisturbed


@exhaustive
def test_a_finished_run_with_damage_is_trained_again(undisturbed, tmp_path):
    _run(tmp_path)
    (tmp_path / "history.parquet").write_bytes(b"nonsense")
    done = _run(tmp_path)
    assert "already there" not in done.stderr
    assert _result(tmp_path) == undisturbed


@exhaustive
def test_out_of_disk_is_one_line_and_nothing_is_lost(undisturbed, tmp_path):
    with _start(tmp_path) as process:
        _wait_for_state(process, tmp_path)
        process.kill()
    before = (tmp_path / ".state/state.json").read_bytes()

    def limit() -> None:
        import resource

        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))

    done = _run(tmp_path, preexec_fn=limit)
    assert done.returncode == 1
    last = done.stderr.splitlines()[-1]
    assert "cannot be written" in last
    assert "File too large" in last
    assert "Traceback" not in done.stderr
    assert (tmp_path / ".state/state.json").read_bytes() == before
    assert _run(tmp_path).returncode == 0
    assert _result(tmp_path) == undisturbed
