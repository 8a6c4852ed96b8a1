"""How far a run is, read from its log and its lock; nothing is written or locked."""

import contextlib
import os
import re
import socket
import time
from pathlib import Path
from typing import Any

from grokatlas.errors import UserError
from grokatlas.results import endings, files, layout, locks
from grokatlas.results.manifest import MARK
from grokatlas.text import duration

SILENT = 900.0  # seconds: a run on another machine that wrote nothing for longer has ended
ENDS = 4096  # bytes read of a log's beginning and of its end

STARTED = re.compile(r"run \w+: trains on (\S+), (.+)")
STEP = re.compile(r"run \w+: step (\d+)/\d+, ([\d.]+) steps/s, (\d+) s left(?:, (.+))?")
# the last line of a run that goes on; any other is the last word of one that ended
ALIVE = re.compile(r"run \w+: (step |trains on |goes on )|.*; waiting$|warning: |grokatlas: ")


def unfinished(folder: Path, spec: dict[str, Any], held: set[int] | None) -> tuple[str, str]:
    """The state of a run of which no result counts, and what is known of it.

    Returns:
        running, failed (and not started again yet) or waiting; then, of a failed run the last line
        of its log; members that are not finite; the step, and host and device.
    """
    log = _Log(folder / "log.txt")
    step = log.step if log.step is not None else _saved_step(folder)
    known = [f"step {step}/{spec.get('train', {}).get('steps', '?')}"] if step is not None else []
    alive = _alive(folder, log, held)
    if alive:
        known += [f"{log.rate:.3g} steps/s"] if log.rate is not None else []
        known += [f"{duration(log.left)} left"] if log.left is not None else []
        last = "" if log.step is not None else log.last
    elif not log.last:
        return "waiting", ", ".join(known)
    else:
        last = log.last.removeprefix(f"run {folder.name}: ")
        if ALIVE.match(log.last):
            last = f"the process ended without an error message; last line: {last}"
    parts = [last, log.note, ", ".join(known), f"on {log.where}" if log.where else ""]
    return "running" if alive else "failed", "; ".join(filter(None, parts))


def finished(manifest: dict[str, Any]) -> str:
    """What is said of a finished run: time, host and device; members that diverged.

    Nothing of a manifest that is not such as this version writes.
    """
    with contextlib.suppress(AttributeError, LookupError, TypeError, ValueError):
        device = manifest["device"]
        where = f"{manifest['host']['name']}, {device.get('name', device['type'])}"
        took = f"in {duration(manifest['train_seconds'])} on {where}"
        took += ", from the run store" * (MARK in manifest)
        return "; ".join(filter(None, [took, endings.summary(manifest)]))
    return ""


class _Log:
    """What a run's log says.

    Attributes:
        changed: when it was written, in seconds since 1970; None if there is none.
        host: the machine that trains.
        where: host and device.
        note: of the same line: how many members are not finite; empty if all are.
    """

    def __init__(self, path: Path) -> None:
        self.last = self.host = self.where = self.note = ""
        self.changed: float | None = None
        self.step: int | None = None
        self.rate: float | None = None
        self.left: float | None = None
        try:
            with path.open("rb") as stream:
                head = stream.read(ENDS)
                size = os.fstat(stream.fileno()).st_size
                stream.seek(max(size - ENDS, 0))
                tail = stream.read()
                self.changed = os.fstat(stream.fileno()).st_mtime
        except OSError:
            return
        lines = tail.decode(errors="replace").splitlines()
        written = ["".join(c if c.isprintable() else " " for c in line).strip() for line in lines]
        self.last = next((line for line in reversed(written) if line), "")
        if started := STARTED.search(head.decode(errors="replace")):
            self.host, self.where = started[1], f"{started[1]}, {started[2]}"
        steps = [found for line in written if (found := STEP.match(line))]
        if steps:
            self.step, self.rate = int(steps[-1][1]), float(steps[-1][2])
            self.left = max(float(steps[-1][3]) - (time.time() - self.changed), 0.0)
            self.note = steps[-1][4] or ""


def _alive(folder: Path, log: _Log, held: set[int] | None) -> bool:
    """Whether a process trains a run.

    On this machine the kernel knows the process that holds the run's lock; on a disk without such
    locks a file names it. On another machine, a run counts as running if the last line of its log
    is no error and something was written lately.
    """
    if locks.leased(folder / layout.LOCK):
        return True
    if held is not None:
        if _inode(folder / layout.LOCK) in held:
            return True
        if log.host == socket.gethostname():
            return False
    if layout.manifest_of("run", folder).exists():
        return False
    if log.changed is None or (log.last and not ALIVE.match(log.last)):
        return False
    times = [log.changed, *(_changed(folder / layout.STATE / name) for name in ("", "state.json"))]
    return time.time() - max(times) < SILENT


def held_locks() -> set[int] | None:
    """The inode of every file that a process of this machine has locked.

    Read, not tried: trying a lock would hold it for a moment. None where the kernel does not say.
    The file system is left out, as some are called otherwise there than by `stat`.
    """
    try:
        lines = Path("/proc/locks").read_text(encoding="ascii").splitlines()
    except (OSError, ValueError):
        return None
    # an arrow marks a process that waits for the lock
    places = (re.search(r" FLOCK .*:(\d+) ", line) for line in lines if "->" not in line)
    return {int(place[1]) for place in places if place}


def _inode(path: Path) -> int | None:
    try:
        return path.stat().st_ino
    except OSError:
        return None


def _changed(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0


def _saved_step(folder: Path) -> int | None:
    """The step of the last save of a run that is not finished."""
    with contextlib.suppress(UserError, LookupError, TypeError, ValueError):
        return int(files.read_json(folder / layout.STATE / "state.json")["step"])
    return None
