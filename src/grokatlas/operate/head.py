"""The process of a head job: Snakemake, until all is made or the time of the job is over.

``python -m grokatlas.operate.head ORDER AFTER`` is what `heads.Order` submits.
"""

import contextlib
import ctypes
import hashlib
import os
import signal
import socket
import subprocess
import sys
import time
from collections import Counter
from datetime import datetime
from pathlib import Path
from typing import Any

from grokatlas.errors import UserError
from grokatlas.operate import heads, slurm, unlock
from grokatlas.results import layout, locks
from grokatlas.text import duration

LIMIT = 3  # starts of Snakemake in a row that made nothing, after which a chain ends
PAUSE = 5.0  # seconds between two looks at the queue
LOOK = 0.5  # seconds between two looks at the clock
PATIENCE = 600.0  # seconds that the lock of a head that has ended may live on
DRAIN = 20.0  # seconds that figures which are drawn beside Snakemake have to be finished
SAVED = "state.json"  # each save replaces it; an attempt writes the other files before it saves
DEATH_SIGNAL = 1  # of prctl: the signal that a process gets when its parent ends


class Over(Exception):  # noqa: N818
    """Why a chain of heads ends."""


class HandedOver(Exception):  # noqa: N818
    """The time of this head is over; its successor goes on."""


class Head:
    """One head at work.

    Args:
        order: what was asked for.
        after: the head before; empty for the first one.
        folder: the checkout.
    """

    def __init__(self, order: heads.Order, after: str, folder: Path = Path()) -> None:
        self.order, self.after, self.folder = order, after, folder
        self.own = os.environ["SLURM_JOB_ID"]
        self.successor = ""
        self._asked = False
        signal.signal(signal.SIGUSR1, self._ask)

    def _ask(self, _number: int, _frame: object) -> None:
        self._asked = True

    def run(self) -> int:
        """Work, and return the exit code: 1 if the chain ends before all is made."""
        self._say(f"at work on {socket.gethostname()}, for {duration(60 * self.order.minutes)}")
        if self.after and slurm.ending(self.after) == "CANCELLED":
            self._say(f"head {self.after} was cancelled, so the chain ends here")
            return 0
        try:
            self._submit_successor()
            self._work()
        except HandedOver:
            return self._hand_over()
        except (Over, UserError, OSError) as reason:
            self._say(f"{reason}; the chain ends")
            code = 1
        else:
            self._say("all is made")
            code = 0
        self._cancel_successor()
        return code

    def _submit_successor(self) -> None:
        """First of all, so that it follows however this head ends."""
        until = time.monotonic() + PATIENCE
        tried = False
        while not self.successor:
            try:
                # Slurm may have taken a job and answered too late
                found = self._pending() if tried else ""
                tried = True
                self.successor = found or self.order.submit(self.folder, after=self.own)
            except UserError as error:
                if time.monotonic() > until:
                    raise
                self._say(str(error))
                self._pause()
        self._say(f"job {self.successor} waits to follow")

    def _pending(self) -> str:
        """A head that waits in the queue and is not this one; empty if there is none."""
        waiting = (job for job in heads.queued(self.folder) if job.state == "PENDING")
        return next((job.id for job in waiting if job.id != self.own), "")

    def _cancel_successor(self) -> None:
        """If this fails, the successor finds the same as this head, and ends."""
        if self.successor:
            with contextlib.suppress(UserError):
                slurm.ask("scancel", self.successor)

    def _work(self) -> None:
        lock = self._lock()
        try:
            self._await_jobs()
            last = heads.state(self.folder)
            if unlock.locked(self.folder):
                self._unlock(last.get("owner"))
            found = self._count(last)
            heads.keep(self.folder, {**found, "owner": self.own})
            code = self._snakemake()
            if code >= 0 or not unlock.locked(self.folder):  # a lock that comes is another's
                heads.keep(self.folder, {**found, "owner": None})
        finally:
            lock.release()
        if self._asked:
            raise HandedOver
        if code > 0:
            problem = f"Snakemake failed (exit code {code}): a job failed for good, or the plan is"
            raise Over(f"{problem} not sound, see above; mend it, then `grokatlas submit` again")
        if code < 0:
            self._say(f"Snakemake was ended by signal {-code}; job {self.successor} goes on")
            raise HandedOver

    def _lock(self) -> Any:
        """The lock of the checkout's heads: free when the process of the head before is gone."""
        file = self.folder / heads.LOCK
        file.parent.mkdir(exist_ok=True)
        until = time.monotonic() + PATIENCE
        while (lock := locks.acquire(file)) is None:
            if time.monotonic() > until:
                raise Over(f"{file} is held: another head is at work in this folder")
            self._pause()
        return lock

    def _await_jobs(self) -> None:
        """Wait until the jobs that the head before left have ended: no Snakemake knows them."""
        told = False
        while (left := self._left()) != []:
            if left and not told:
                counts = Counter(left)
                states = ", ".join(f"{counts[state]} {state}" for state in sorted(counts))
                self._say(f"waits for jobs that were submitted before: {states}")
                told = True
            self._pause()
        if told:
            self._say("they have ended")

    def _left(self) -> list[str] | None:
        """The states of jobs of rules in the queue; None if Slurm does not answer."""
        try:
            found = slurm.queue(self.folder)
        except UserError:
            return None
        return [job.state.lower() for job in found if job.of_rule]

    def _unlock(self, owner: str | None) -> None:
        """Remove the lock of Snakemake, if it is that of a head which is gone."""
        if not owner:
            raise Over("the folder is locked by a Snakemake that is no head's; `grokatlas unlock`")
        if process := unlock.snakemake(self.folder):
            raise Over(f"a Snakemake still runs in the folder (process {process})")
        unlock.remove_lock(self.folder)
        self._say(f"the lock that head {owner} left is removed")

    def _count(self, last: dict[str, Any]) -> dict[str, Any]:
        """How many starts of Snakemake in a row made nothing; at LIMIT the chain ends."""
        seen = fingerprint(self.folder / layout.RESULTS)
        fruitless = last.get("fruitless", 0) + 1 if last.get("seen") == seen else 0
        if fruitless >= LIMIT:
            problem = f"Snakemake was started {LIMIT} times, and nothing was made or saved since"
            raise Over(f"{problem}; see above why, or give heads more time (--time)")
        return {"seen": seen, "fruitless": fruitless}

    def _snakemake(self) -> int:
        """Run Snakemake until it ends or the time is over, and return its exit code.

        When the time is over Snakemake is ended, and its jobs run on.
        """
        process = subprocess.Popen(
            self.order.snakemake(),
            cwd=self.folder,
            process_group=0,
            preexec_fn=_end_with_parent,
        )
        while process.poll() is None and not self._asked:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(LOOK)
        if not self._asked:
            return process.returncode
        self._say("its time is nearly over: Snakemake ends, the jobs that it submitted run on")
        process.terminate()  # it submits nothing more, and waits for what it has
        try:
            process.wait(min(DRAIN, self.order.lead / 2))
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        return process.returncode

    def _hand_over(self) -> int:
        """Say what comes next; 1 if no successor could be submitted.

        Somebody may have cancelled the successor.
        """
        try:
            self.successor = self.successor or self._pending()
            waiting = any(job.id == self.successor for job in heads.queued(self.folder))
        except UserError:
            waiting = bool(self.successor)
        if waiting:
            self._say(f"job {self.successor} follows")
            return 0
        left = "its jobs run on (`grokatlas unlock` ends them)"
        if self.successor:
            self._say(f"the chain ends, as job {self.successor} was cancelled; {left}")
            return 0
        self._say(f"no successor could be submitted; the chain ends; {left}")
        return 1

    def _pause(self) -> None:
        until = time.monotonic() + PAUSE
        while time.monotonic() < until:
            if self._asked:
                raise HandedOver
            time.sleep(min(PAUSE, LOOK))

    def _say(self, text: str) -> None:
        print(f"{datetime.now():%Y-%m-%d %H:%M:%S} head {self.own}: {text}", flush=True)


def fingerprint(results: Path) -> str:
    """What is made and saved: it differs after anything was finished, or a run was saved."""
    digest = hashlib.sha256()
    for place, folders, names in os.walk(results, followlinks=True):
        folders.sort()
        for name in sorted(names):
            path = Path(place, name)
            if path.parent.name == layout.STATE and name == SAVED:
                with contextlib.suppress(OSError):  # a run that has just finished
                    digest.update(f"{path} {path.stat().st_mtime_ns}\n".encode())
            elif name.endswith("manifest.json"):
                digest.update(f"{path}\n".encode())
    return digest.hexdigest()


def _end_with_parent() -> None:
    """Let the kernel kill this process when the head's is killed."""
    for number in (signal.SIGUSR1, signal.SIGTERM):  # also where they are ignored from the start
        signal.signal(number, signal.SIG_DFL)
    ctypes.CDLL(None).prctl(DEATH_SIGNAL, signal.SIGKILL)


def main(order: str, after: str) -> int:
    """Be a head; a mistake is one line."""
    try:
        return Head(heads.order_of(order), after).run()
    except UserError as error:
        print(error, file=sys.stderr, flush=True)
        return 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
