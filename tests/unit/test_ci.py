"""`.ci/run` leaves no workflow of the tests on a cluster behind, however it ends."""

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.checkout import ROOT, program

# a test on the cluster whose Snakemake has a session of its own, as in tests/cluster/conftest.py
CLUSTER_TEST = """
import os, signal, subprocess
from pathlib import Path

def test_a_workflow():
    head = subprocess.Popen(["sleep", "100"], start_new_session=True)
    Path("head").write_text(str(head.pid))
    Path("started").touch()
    try:
        head.wait()
    finally:
        os.killpg(head.pid, signal.SIGKILL)
        head.wait()
"""
MAKEFILE = "lint .venv/.installed-docs:\ntest:\n\t@until [ -e started ]; do sleep 0.1; done; {}\n"
pytestmark = pytest.mark.skipif(not shutil.which("make"), reason="make is not installed")


def _handle(ignored: tuple[signal.Signals, ...]) -> None:
    """Ignore some signals and no others, whatever this process ignores."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1):
        signal.signal(number, signal.SIG_IGN if number in ignored else signal.SIG_DFL)


@pytest.fixture
def started(tmp_path):
    """Starts a `.ci/run` in a folder whose `make test` is the given command."""
    folder = tmp_path / "atlas"
    (folder / ".ci").mkdir(parents=True)
    shutil.copy(ROOT / ".ci/run", folder / ".ci/run")
    (folder / "tests/cluster").mkdir(parents=True)
    (folder / "tests/cluster/test_it.py").write_text(CLUSTER_TEST)
    shutil.copy(ROOT / "tests/cluster/conftest.py", folder / "tests/cluster")
    (folder / "pytest.ini").touch()
    program(folder / ".venv/bin/python", f'exec "{sys.executable}" "$@"')
    program(tmp_path / "tools/slurm/slurm-dev-cluster", f'echo "$1" >> "{tmp_path}/cluster.txt"')
    program(tmp_path / "bin/chromium", ":")
    path = f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}"
    kept = ("MAKEFLAGS", "MAKELEVEL", "PYTEST_ADDOPTS")
    ambient = {k: v for k, v in os.environ.items() if k not in kept and "XDIST" not in k}
    processes = []

    def start(command: str, ignored: tuple[signal.Signals, ...] = ()) -> subprocess.Popen:
        (folder / "Makefile").write_text(MAKEFILE.format(command))
        run = subprocess.Popen(
            [".ci/run"],
            cwd=folder,
            env={**ambient, "PATH": path, "GROKATLAS_CI_FOLDER": str(tmp_path / "tools")},
            stdout=subprocess.DEVNULL,
            start_new_session=True,
            preexec_fn=lambda: _handle(ignored),
        )
        processes.append(run)
        return run

    yield folder, start
    for run in processes:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(run.pid, signal.SIGKILL)
    with contextlib.suppress(OSError, ValueError):
        os.killpg(int((folder / "head").read_text()), signal.SIGKILL)


def alive(process: int) -> bool:
    try:
        return "\nState:\tZ" not in Path(f"/proc/{process}/status").read_text()
    except OSError:
        return False


@pytest.mark.parametrize("ignored", [(), (signal.SIGINT,)], ids=["terminal", "background"])
def test_a_red_test_ends_the_workflows_of_the_cluster_before_the_cluster(started, ignored):
    folder, start = started
    run = start("false", ignored)
    assert run.wait(timeout=60) != 0
    assert not alive(int((folder / "head").read_text()))
    assert (folder.parent / "cluster.txt").read_text() == "up\ndown\n"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_one_that_is_stopped_ends_them_too(started, number):
    folder, start = started
    run = start("sleep 1000")
    limit = time.monotonic() + 60
    while not (folder / "started").exists():
        assert time.monotonic() < limit
        time.sleep(0.1)
    os.killpg(run.pid, number)  # as at a terminal
    run.wait(timeout=60)
    assert not alive(int((folder / "head").read_text()))
    assert (folder.parent / "cluster.txt").read_text() == "up\ndown\n"
