"""Locks where the disk has them, and where it has not: the same processes wait for each other."""

import errno
import fcntl
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from grokatlas.errors import UserError
from grokatlas.results import layout, locks
from grokatlas.rules.jobs import savepoint
from grokatlas.runs import progress

# holds a lock on a disk without flock until a line comes
HOLD = """
import fcntl, sys
from pathlib import Path
from grokatlas.results import locks
def flock(*_): raise OSError(int(sys.argv[2]), "no flock here")
fcntl.flock = flock
with locks.held(Path(sys.argv[1])) as held:
    print(held, flush=True)
    sys.stdin.readline()
"""


def _no_flock(number=errno.ENOSYS):
    def flock(*_):
        raise OSError(number, "no flock here")

    return flock


@pytest.fixture(params=[None, *sorted({*locks.MISSING})])
def file(request, tmp_path, monkeypatch) -> Path:
    """A lock on a disk with flock, and on disks that say in their own ways that they have none."""
    if request.param is not None:
        monkeypatch.setattr(fcntl, "flock", _no_flock(request.param))
    return tmp_path / ".lock"


@pytest.fixture
def bare(tmp_path, monkeypatch) -> Path:
    """A lock on a disk without flock."""
    monkeypatch.setattr(fcntl, "flock", _no_flock())
    return tmp_path / ".lock"


def _start(file: Path) -> subprocess.Popen:
    pipe = subprocess.PIPE
    command = [sys.executable, "-c", HOLD, str(file), str(errno.ENOSYS)]
    process = subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True)
    assert process.stdout.readline() == "True\n"
    return process


def _of_another_host(file: Path) -> None:
    """As if the process that holds a lock ran on another machine."""
    lease = locks.lease_file(file)
    fields = dict(line.partition("=")[::2] for line in lease.read_text().splitlines())
    fields |= {"host": "node7", "duration": repr(locks.SILENT)}
    lines = (f"{key}={value}" if value else key for key, value in fields.items())
    lease.write_text("\n".join(lines) + "\n")


def test_one_at_a_time(file):
    with locks.held(file) as first, locks.held(file) as second:
        assert (first, second) == (True, False)
    with locks.held(file) as again:
        assert again


def test_a_process_that_waits_is_told_for_whom_and_goes_on(bare, capsys):
    process = _start(bare)
    with locks.held(bare) as held:
        assert not held
    told = []

    def waiting(holder: str) -> None:
        told.append(holder)
        process.communicate("\n")

    with locks.held(bare, waiting) as held:
        assert held
    assert told[0].startswith(f"process {process.pid} on ")


def test_a_lock_of_a_process_that_was_killed_here_is_left_over(bare):
    process = _start(bare)
    process.kill()
    process.communicate()
    assert not locks.leased(bare)
    with locks.held(bare, waiting=lambda _: None) as held:
        assert held


def test_a_lock_of_another_host_that_is_not_renewed_is_left_over(bare, monkeypatch):
    monkeypatch.setattr(locks, "SILENT", 1.0)
    monkeypatch.setattr(locks, "RENEWED", 0.5)
    process = _start(bare)
    process.kill()
    process.communicate()
    _of_another_host(bare)
    started = time.monotonic()
    with locks.held(bare, waiting=lambda _: None) as held:
        assert held
    assert 1 <= time.monotonic() - started < 10


def test_a_lock_of_another_host_that_is_renewed_is_held(bare, monkeypatch):
    monkeypatch.setattr(locks, "SILENT", 1.0)
    monkeypatch.setattr(locks, "RENEWED", 0.1)
    lock = locks.acquire(bare)
    _of_another_host(bare)
    assert locks.acquire(bare, timeout=2) is None
    lock.release()


def test_what_a_lock_of_the_kernel_left_holds_nothing_without_one(bare):
    bare.touch()  # as after a kill, then a copy to another disk
    with locks.held(bare) as held:
        assert held


def test_a_lock_that_was_lost_is_told(bare, monkeypatch):
    monkeypatch.setattr(locks, "RENEWED", 0.05)
    told = []
    lock = locks.acquire(bare, lost=told.append)
    locks.lease_file(bare).unlink()
    until = time.monotonic() + 10
    while not told and time.monotonic() < until:
        time.sleep(0.05)
    assert "no longer held here" in told[0]
    lock.release()


def test_an_error_says_locked(tmp_path, monkeypatch):
    monkeypatch.setattr(fcntl, "flock", _no_flock(errno.EIO))
    match = r"\.lock: cannot be locked: no flock here"
    with pytest.raises(UserError, match=match), savepoint.locked(tmp_path):
        pass


@pytest.mark.parametrize("host", ["here", "node7"])
def test_status_knows_a_lock_that_is_a_file(bare, host):
    def state() -> str:
        return progress.unfinished(bare.parent, {}, set())[0]

    lock = locks.acquire(bare)
    if host == "node7":
        _of_another_host(bare)
    assert state() == "running"
    old = time.time() - 2 * locks.SILENT
    os.utime(locks.lease_file(bare), (old, old))
    assert state() == "waiting"
    lock.release()
    assert state() == "waiting"


def test_a_lock_names_no_artefact():
    assert locks.lease_file(Path("x", layout.LOCK)).name.endswith(".lock")
