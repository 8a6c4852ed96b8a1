"""Jobs that fork from a warm process do what they do without one, and leave nothing behind."""

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from grokatlas.rules import warm
from tests.tiers import exhaustive
from tests.workflow.holder import Holder, processes
from tests.workflow.test_killed_runs import _command as command
from tests.workflow.test_killed_runs import _result, _saved_step, _wait_for_state

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="used on Linux alone")


def until(condition, seconds: float = 20) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)


def held():
    """A holder, until the test or the module ends."""
    made = Holder()
    if not made.folder:
        pytest.skip("a GPU is visible here")
    until(lambda: all(Path(made.folder, family).exists() for family in warm.FAMILIES))
    yield made
    made.end()
    until(lambda: not made.servers())
    shutil.rmtree(made.folder, ignore_errors=True)  # of warm processes that a test killed


shared_holder = pytest.fixture(held, scope="module", name="shared_holder")
own_holder = pytest.fixture(held, name="own_holder")  # of a test that ends it or its processes


@pytest.fixture
def holder(shared_holder):
    """That of the module, when the forks of earlier tests have ended."""
    until(lambda: len(shared_holder.servers()) == len(warm.FAMILIES))
    return shared_holder


@pytest.fixture(scope="module")
def cold(tmp_path_factory):
    folder = tmp_path_factory.mktemp("cold")
    env = {**os.environ, **dict.fromkeys(warm.THREADS, "1")}
    subprocess.run(command(folder), env=env, check=True, capture_output=True)
    return _result(folder)


def start(holder: Holder, folder: Path) -> subprocess.Popen:
    return subprocess.Popen(command(folder), env=holder.env, stderr=subprocess.PIPE, text=True)


def test_a_fork_writes_the_same_bytes_and_its_log_goes_where_the_job_sends_it(
    holder, cold, tmp_path
):
    with start(holder, tmp_path) as process:
        text = process.stderr.read()
    assert process.returncode == 0, text
    assert text.startswith(f"run {tmp_path.name}: trains on ")
    assert _result(tmp_path) == cold


@exhaustive
def test_the_warm_process_has_no_module_of_ours_and_the_job_s_process_no_torch(holder, tmp_path):
    with start(holder, tmp_path) as process:
        _wait_for_state(process, tmp_path)
        maps = Path(f"/proc/{process.pid}/maps").read_text()
        process.kill()
    assert "libtorch" not in maps
    source = Path(warm.__file__).read_text()
    imported = [name for names in warm.FAMILIES.values() for name in names]
    assert not [name for name in imported if name.startswith("grokatlas")]
    assert "import grokatlas" not in source
    assert "from grokatlas" not in source


@exhaustive
def test_a_signal_reaches_the_fork(holder, cold, tmp_path):
    with start(holder, tmp_path) as process:
        _wait_for_state(process, tmp_path)
        process.send_signal(signal.SIGTERM)
        *_, line = process.stderr.read().splitlines()
    assert process.returncode == 128 + signal.SIGTERM
    assert line.endswith(f"at step {_saved_step(tmp_path)}; run it again to go on")
    with start(holder, tmp_path) as process:
        text = process.stderr.read()
    assert "goes on from step" in text
    assert _result(tmp_path) == cold


def test_a_job_that_is_killed_takes_its_fork_along(holder, tmp_path):
    with start(holder, tmp_path) as process:
        _wait_for_state(process, tmp_path)
        assert len(holder.servers()) == len(warm.FAMILIES) + 1
        process.kill()
    until(lambda: len(holder.servers()) == len(warm.FAMILIES))


@exhaustive
def test_a_job_whose_warm_process_is_killed_goes_on_by_itself(own_holder, cold, tmp_path):
    with start(own_holder, tmp_path) as process:
        _wait_for_state(process, tmp_path)
        for pid in own_holder.servers():
            os.kill(pid, signal.SIGKILL)
        text = process.stderr.read()
    assert process.returncode == 0, text
    assert "goes on from step" in text
    assert _result(tmp_path) == cold


def test_a_mistake_is_one_line_with_its_exit_code(holder, tmp_path):
    line = [sys.executable, "-m", "grokatlas", "train", str(tmp_path / "spec.json")]
    done = subprocess.run(line, env=holder.env, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert "no such file" in done.stderr


@exhaustive
@pytest.mark.parametrize("variable", ["LD_PRELOAD", "PYTHONHASHSEED", "MKL_CBWR", "GLIBC_TUNABLES"])
def test_other_settings_of_libraries_are_declined(holder, variable, monkeypatch):
    for name, value in {**holder.env, variable: "other"}.items():
        monkeypatch.setenv(name, value)
    assert warm.run(["figure", "no-file"]) is None


def _parent(process: int) -> int:
    return int(Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[1])


def test_another_interpreter_is_declined(holder, monkeypatch):
    for name, value in holder.env.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(sys, "executable", "another")
    assert warm.run(["figure", "no-file"]) is None


def test_where_there_are_some_none_are_started(holder, monkeypatch):
    monkeypatch.setenv(warm.VARIABLE, holder.folder)
    warm.start()
    assert os.environ[warm.VARIABLE] == holder.folder
    assert not [
        pid for pid, line in processes() if "warm.py" in line and _parent(pid) == os.getpid()
    ]


@exhaustive
def test_more_threads_and_other_commands_import_for_themselves(holder, monkeypatch):
    for name, value in holder.env.items():
        monkeypatch.setenv(name, value)
    for threads in (["--threads", "2"], ["--threads=1"], ["--threads"]):
        assert warm.run(["train", "no-file", *threads]) is None
    assert warm.run(["verify"]) is None
    assert warm.run([]) is None


@exhaustive
def test_it_ends_with_its_snakemake_and_after_its_last_job(own_holder, cold, tmp_path):
    with start(own_holder, tmp_path) as process:
        _wait_for_state(process, tmp_path)
        own_holder.process.kill()
        text = process.stderr.read()
    assert process.returncode == 0, text
    assert _result(tmp_path) == cold
    until(lambda: not own_holder.servers())
    until(lambda: not Path(own_holder.folder).exists())
