"""How far the runs of a scale are, read from what they leave; nothing is written or locked."""

import contextlib
import os
import re
import socket
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from grokatlas.errors import UserError
from grokatlas.plan import remaining
from grokatlas.plan.jobs import Job, Plan
from grokatlas.results import endings, files, layout, locks
from grokatlas.text import duration

STATES = ("running", "failed", "waiting", "done")  # the order of the table
SILENT = 900.0  # seconds: a run on another machine that wrote nothing for longer has ended
ENDS = 4096  # bytes read of a log's beginning and of its end

STARTED = re.compile(r"run \w+: trains on (\S+), (.+)")
STEP = re.compile(r"run \w+: step (\d+)/\d+, ([\d.]+) steps/s, (\d+) s left(?:, (.+))?")
# the last line of a run that goes on; any other is the last word of one that ended
ALIVE = re.compile(r"run \w+: (step |trains on |goes on )|.*; waiting$|warning: |grokatlas: ")


@dataclass(frozen=True)
class Row:
    """One run.

    Attributes:
        run: its id.
        name: the experiment that it is of, with its case.
        state: running, failed (and not started again yet), waiting or done.
        step: the last one known.
        steps: the last one of the run.
        rate: steps per second.
        left: seconds.
        where: host and device.
        note: of a failed run, the last line of its log; of others, what else is known.
    """

    run: str
    name: str
    state: Literal["running", "failed", "waiting", "done"]
    step: int | None
    steps: int
    rate: float | None = None
    left: float | None = None
    where: str = ""
    note: str = ""


class Board:
    """The runs that the figures of a scale need.

    Args:
        scale: the configured one if None.

    Raises:
        UserError: this is no checkout, or the configuration has a mistake.
    """

    def __init__(self, scale: str | None) -> None:
        want = remaining.at(scale)
        self.scale = want.plan.scale
        names = _names(want.plan)
        self._jobs = want.jobs
        self._runs = [(job, names[job.target.name]) for job in want.jobs if job.kind == "run"]
        self._done: dict[str, Row] = {}

    def rows(self) -> list[Row]:
        """Every run as it is now: those that run first, then failed, waiting and done ones."""
        held = held_locks()
        needed = {job.target for job in remaining.unmade(self._jobs)}
        found = []
        for job, name in self._runs:
            row = self._done.get(job.target.name) or _row(job, name, held, job.target in needed)
            if row.state == "done":
                self._done[row.run] = row
            found.append(row)
        return sorted(found, key=lambda row: STATES.index(row.state))

    def summary(self, rows: list[Row]) -> str:
        """The number of runs in each state, in one line."""
        counts = Counter(row.state for row in rows)
        told = ", ".join(f"{counts[state]} {state}" for state in STATES)
        return f"{len(rows)} runs at scale {self.scale}: {told}"


def _names(plan: Plan) -> dict[str, str]:
    """What each run is called: by the first experiment that it is of."""
    names: dict[str, str] = {}
    for (paper, experiment), table in plan.tables.items():
        for cell in table.spec["cells"]:
            names.setdefault(cell["run"], f"{paper}/{experiment} {cell['label']}".strip())
    return names


def _row(job: Job, name: str, held: set[int] | None, needed: bool) -> Row:
    folder, steps = job.target, job.spec["train"]["steps"]
    if remaining.made(job):
        with contextlib.suppress(UserError, LookupError, TypeError):
            return _done(job, name, files.read_json(job.manifest))
    row = unfinished(folder, name, job.spec, held)
    if row.state == "running" or not job.manifest.exists():
        return row
    if not needed:
        note = "its files are not here, and nothing that is to be made needs them"
        return Row(folder.name, name, "done", None, steps, note=note)
    note = "is made again: its spec, code or data changed"
    return Row(folder.name, name, "waiting", None, steps, note=note)


def unfinished(folder: Path, name: str, spec: dict[str, Any], held: set[int] | None) -> Row:
    """A run of which no result counts: running, failed or waiting.

    Args:
        folder: of its files.
        name: the experiment that it is of, with its case.
        spec: of the run; empty if that is not known.
        held: see `held_locks`.
    """
    steps = spec.get("train", {}).get("steps", 0)
    log = _Log(folder / "log.txt")
    step = log.step if log.step is not None else _saved_step(folder)
    if _alive(folder, log, held):
        note = log.note if log.step is not None else log.last
        return Row(folder.name, name, "running", step, steps, log.rate, log.left, log.where, note)
    if not log.last:
        return Row(folder.name, name, "waiting", step, steps)
    silent = (
        "the process ended without an error message; last line: " if ALIVE.match(log.last) else ""
    )
    note = silent + log.last.removeprefix(f"run {folder.name}: ")
    note = "; ".join(filter(None, [note, log.note]))
    return Row(folder.name, name, "failed", step, steps, where=log.where, note=note)


def _done(job: Job, name: str, manifest: dict[str, Any]) -> Row:
    device = manifest["device"]
    where = f"{manifest['host']['name']}, {device.get('name', device['type'])}"
    step = manifest["segments"][-1]["end_step"]
    took = f"in {duration(manifest['train_seconds'])}"
    note = ", ".join(filter(None, [took, endings.summary(manifest)]))
    steps = job.spec["train"]["steps"]
    return Row(job.target.name, name, "done", step, steps, where=where, note=note)


class _Log:
    """What a run's log says.

    Attributes:
        last: its last line.
        changed: when it was written, in seconds since 1970; None if there is none.
        host: the machine that trains.
        where: host and device.
        step: the last one reported.
        rate: steps per second.
        left: seconds, from now.
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
