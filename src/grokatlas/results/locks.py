"""Locks: one process at a time trains a run, or leases a device.

A lock is the kernel's (flock) where the disk has it: it goes with its process, however that ends.
Elsewhere it is a second file, which names its owner (host and process) and is renewed by it once a
minute. That file counts as left over when its process is gone, as far as the owner's own host can
see; on any other host, when it was not renewed for five minutes by the clock of who waits.
"""

import contextlib
import errno
import os
import socket
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from grokatlas.errors import UserError

MISSING = (errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOLCK)  # flock is not to be had
RENEWED = 60.0  # seconds between two renewals of a file that is used as a lock
SILENT = 300.0  # seconds without one after which it is left over; written into each file
LEASE = ".lease.lock"  # its name is that of the lock with this end


@contextlib.contextmanager
def held(file: Path, waiting: Callable[[str], None] | None = None) -> Iterator[bool]:
    """Hold a lock while a block runs; it yields false if another has it and is not waited for.

    Args:
        file: the lock; its folder is there.
        waiting: called once with who holds the lock, before that is waited for; None: do not wait.
    """
    try:
        lock = acquire(file)
        if lock is None and waiting is not None:
            waiting(owner(file))
            lock = acquire(file, timeout=-1)
    except OSError as error:
        raise UserError(str(file), f"cannot be locked: {error.strerror or error}") from None
    try:
        yield lock is not None
    finally:
        if lock is not None:
            lock.release()


def acquire(
    file: Path,
    timeout: float = 0,
    mode: int | None = None,
    lost: Callable[[str], None] | None = None,
) -> Any | None:
    """A lock that is held until its `release`, or the end of the process; None if another holds it.

    Args:
        file: the lock; its folder is there.
        timeout: seconds to wait; -1: as long as it takes.
        mode: access to the file, despite the umask.
        lost: called with a line on a lock that is a file and could not be renewed; by default the
            process ends, as another one may do its work by then.
    """
    import filelock

    access: dict[str, Any] = {} if mode is None else {"mode": mode}
    lock: Any = filelock.FileLock(file, thread_local=False, fallback_to_soft=False, **access)
    try:
        try:
            lock.acquire(timeout=timeout)
        except OSError as error:
            if error.errno not in MISSING:
                raise
            lock = _lease(file, access, lost or _end)
            lock.acquire(timeout=timeout)
    except filelock.Timeout:
        return None
    return lock


def _lease(file: Path, access: dict[str, Any], lost: Callable[[str], None]) -> Any:
    """The lock as a file of its own: that of a kernel's lock has no owner's name in it."""
    import filelock

    def tell(loss: Any) -> None:
        lost(f"{lease_file(file)}: is no longer held here ({loss.reason})")

    return filelock.SoftFileLease(
        lease_file(file),
        lease_duration=SILENT,
        heartbeat_interval=RENEWED,
        on_compromise=tell,
        thread_local=False,
        **access,
    )


def _end(text: str) -> None:
    """End this process at once, without a save: the files are another one's."""
    print(f"{text}; another process may do this work now, so this one ends", file=sys.stderr)
    sys.stderr.flush()
    os._exit(1)


def lease_file(file: Path) -> Path:
    """The file that is used as a lock on a disk without flock."""
    return file.with_name(file.name.removesuffix(".lock") + LEASE)


def owner(file: Path) -> str:
    """The holder of a lock, as a file names it: host and process, or nothing."""
    import filelock

    holder = filelock.SoftFileLease(lease_file(file), lease_duration=SILENT).owner
    return f"process {holder.pid} on {holder.hostname}" if holder else ""


def leased(file: Path) -> bool:
    """True if a process seems to hold a lock as a file: read, not tried, and nothing is written."""
    import filelock
    import psutil

    lease = lease_file(file)
    try:
        age = time.time() - lease.stat().st_mtime
    except OSError:
        return False
    holder = filelock.SoftFileLease(lease, lease_duration=SILENT).owner
    if holder and holder.hostname == socket.gethostname() and not psutil.pid_exists(holder.pid):
        return False
    return age < SILENT
