"""Jobs that fork from a fork server do what they do without one, and leave nothing behind."""

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from grokatlas.rules.jobs import fork_client, fork_server
from tests.checkout import called, python
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


def held(more=None):
    """A holder, until the test or the module ends."""
    made = Holder(more)
    if not made.folder:
        pytest.skip("a GPU is visible here")
    until(lambda: all(Path(made.folder, family).exists() for family in fork_server.FAMILIES))
    yield made
    made.end()
    until(lambda: not made.servers())
    shutil.rmtree(made.folder, ignore_errors=True)  # of fork servers that a test killed


@pytest.fixture(scope="module")
def shared_holder():
    yield from held()


@pytest.fixture
def own_holder():
    """That of a test that ends it or its processes."""
    yield from held()


@pytest.fixture
def holder(shared_holder):
    """That of the module, when the forks of earlier tests have ended."""
    until(lambda: len(shared_holder.servers()) == len(fork_server.FAMILIES))
    return shared_holder


@pytest.fixture(scope="module")
def cold(tmp_path_factory):
    folder = tmp_path_factory.mktemp("cold")
    env = {**os.environ, **dict.fromkeys(fork_server.THREADS, "1")}
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
    source = Path(fork_server.__file__).read_text()
    imported = [name for names in fork_server.FAMILIES.values() for name in names]
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
        assert len(holder.servers()) == len(fork_server.FAMILIES) + 1
        process.kill()
    until(lambda: len(holder.servers()) == len(fork_server.FAMILIES))


def _parent(process: int) -> int:
    return int(Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[1])


def _forks(holder: Holder) -> list[int]:
    servers = {pid for pid in holder.servers() if _parent(pid) == holder.process.pid}
    return [pid for pid in holder.servers() if pid not in servers]


def _has_socket(process: int) -> bool:
    with contextlib.suppress(FileNotFoundError):  # one was closed meanwhile
        files = Path(f"/proc/{process}/fd").iterdir()
        return any(str(file.readlink()).startswith("socket:") for file in files)
    return False


def test_a_job_that_is_killed_before_its_fork_is_there_ends_no_other_job(holder, cold, tmp_path):
    """The fork server reads its request when it is gone: it was importing libraries before."""
    with start(holder, tmp_path / "other") as other:
        _wait_for_state(other, tmp_path / "other")
        (server,) = {_parent(pid) for pid in _forks(holder)}
        os.kill(server, signal.SIGSTOP)
        with start(holder, tmp_path / "killed") as killed:
            until(lambda: _has_socket(killed.pid))
            time.sleep(0.5)  # it sends its request
            killed.kill()
        os.kill(server, signal.SIGCONT)
        text = other.stderr.read()
    assert other.returncode == 0, text
    assert "goes on" not in text  # its fork did all of it
    assert _result(tmp_path / "other") == cold
    until(lambda: not _forks(holder))
    assert len(holder.servers()) == len(fork_server.FAMILIES)
    assert not (tmp_path / "killed/history.parquet").exists()


def test_a_fork_ends_where_the_warm_process_and_its_job_are_killed(own_holder, tmp_path):
    log = tmp_path / "log.txt"
    with log.open("w") as stderr:
        process = subprocess.Popen(command(tmp_path), env=own_holder.env, stderr=stderr)
    with process:
        _wait_for_state(process, tmp_path)
        (fork,) = _forks(own_holder)
        process.send_signal(signal.SIGSTOP)  # it cannot end the fork
        os.kill(_parent(fork), signal.SIGKILL)
        process.kill()
    until(lambda: fork not in own_holder.servers())
    assert not (tmp_path / "history.parquet").exists()


def test_a_client_that_asks_for_nothing_holds_no_other_up(holder, cold, tmp_path):
    with socket.socket(socket.AF_UNIX) as silent:
        silent.connect(str(Path(holder.folder, "training")))
        with start(holder, tmp_path) as process:
            text = process.stderr.read()
    assert process.returncode == 0, text
    assert _result(tmp_path) == cold


def test_a_long_path_of_temporary_files_holds_them_too(tmp_path):
    folder = tmp_path / ("a" * 100)
    folder.mkdir()
    for made in held({"TMPDIR": str(folder)}):
        assert Path(made.folder).parent == folder
        with start(made, tmp_path) as process:
            _wait_for_state(process, tmp_path)
            assert _forks(made)
            process.kill()


def test_a_disk_without_room_for_them_is_no_error(tmp_path):
    code = "from grokatlas.rules.jobs import fork_server as server; import os, tempfile;"
    code += "os.environ[server.VARIABLE] = ''; tempfile.tempdir = 'nowhere'; server.start();"
    code += "print(repr(os.environ[server.VARIABLE]))"
    done = python("-c", code, check=True)
    assert (done.stdout, done.stderr) == ("''\n", "")


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
    done = called(*line, env=holder.env)
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert "no such file" in done.stderr


@exhaustive
@pytest.mark.parametrize("variable", ["LD_PRELOAD", "PYTHONHASHSEED", "MKL_CBWR", "GLIBC_TUNABLES"])
def test_other_settings_of_libraries_are_declined(holder, variable, monkeypatch):
    for name, value in {**holder.env, variable: "other"}.items():
        monkeypatch.setenv(name, value)
    assert fork_client.run(["figure", "no-file"]) is None


def test_another_interpreter_is_declined(holder, monkeypatch):
    for name, value in holder.env.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(sys, "executable", "another")
    assert fork_client.run(["figure", "no-file"]) is None


def test_where_there_are_some_none_are_started(holder, monkeypatch):
    monkeypatch.setenv(fork_server.VARIABLE, holder.folder)
    fork_server.start()
    assert os.environ[fork_server.VARIABLE] == holder.folder
    assert not [
        pid for pid, line in processes() if "fork_server.py" in line and _parent(pid) == os.getpid()
    ]


@exhaustive
def test_more_threads_and_other_commands_import_for_themselves(holder, monkeypatch):
    for name, value in holder.env.items():
        monkeypatch.setenv(name, value)
    for threads in (["--threads", "2"], ["--threads=1"], ["--threads"]):
        assert fork_client.run(["train", "no-file", *threads]) is None
    assert fork_client.run(["verify"]) is None
    assert fork_client.run([]) is None


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
