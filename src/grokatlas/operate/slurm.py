"""Questions to Slurm's own programs."""

import contextlib
import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from grokatlas.errors import UserError

PATIENCE = 60.0  # seconds
AGAIN = "try again when Slurm answers"
UNITS = {"d": 1440, "h": 60, "m": 1}  # minutes
# what an allocation tells its own processes, and another job must not inherit
OWN = re.compile(r"SLURM_(?!CONF$)|SRUN_")


@dataclass(frozen=True)
class Queued:
    """A job of this user that waits, runs or ends.

    Attributes:
        id: its number.
        state: as Slurm calls it, such as ``PENDING``.
        name: of the job.
        comment: of the job; the executor of Snakemake writes ``rule_...`` into it.
    """

    id: str
    state: str
    name: str
    comment: str

    @property
    def of_rule(self) -> bool:
        """Whether Snakemake submitted it."""
        return self.comment.startswith(("rule_", "group_"))


def ask(*command: str, patience: float = PATIENCE, hint: str = AGAIN, outside: bool = False) -> str:
    """What a program of Slurm prints.

    Args:
        command: the program and its arguments.
        patience: seconds to wait for it.
        hint: what to do if it fails.
        outside: whether it must know nothing of the job that it is called from.

    Raises:
        UserError: it is not installed, fails, or says nothing for `patience` seconds.
    """
    known = {k: v for k, v in os.environ.items() if not (outside and OWN.match(k))}
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, check=False, timeout=patience, env=known
        )
    except FileNotFoundError:
        raise UserError(command[0], "is not installed here") from None
    except subprocess.TimeoutExpired:
        raise UserError(command[0], f"no answer within {patience:.0f} s; {AGAIN}") from None
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["fails without an error message"])[-1]
        problem = last.removeprefix(f"{command[0]}: ")
        raise UserError(command[0], f"{problem}; {hint}")
    return done.stdout


def queue(folder: Path, patience: float = PATIENCE) -> list[Queued]:
    """This user's jobs that were submitted from a folder and have not ended; none without Slurm."""
    if not shutil.which("squeue"):
        return []
    found = []
    question = ("squeue", "--me", "--noheader", "--format=%i|%T|%j|%k|%Z")
    for line in ask(*question, patience=patience).splitlines():
        *fields, place = [*line.split("|", 4), "", "", "", ""][:5]
        if place and Path(place).resolve() == folder.resolve():
            found.append(Queued(*fields))
    return found


def ending(job: str) -> str:
    """How a job ended, such as ``TIMEOUT`` or ``CANCELLED``; empty if Slurm does not say."""
    recorded = ("sacct", "--noheader", "--parsable2", "--allocations", "--format=State")
    questions = {
        r"\bJobState=(\w+)": ("scontrol", "show", "job", job),
        r"^(\w+)": (*recorded, f"--jobs={job}"),
    }
    for pattern, question in questions.items():
        with contextlib.suppress(UserError):
            if matched := re.search(pattern, ask(*question)):
                return matched[1]
    return ""


def minutes(text: str) -> int | None:
    """A time in whole minutes; None if it is none.

    Args:
        text: as Slurm writes it (``90``, ``30:00``, ``4:00:00``, ``2-00:00:00``), or ``1d12h``.
    """
    if text.isdecimal():
        return int(text)
    if re.fullmatch(r"(?:\d+[dhm])+", text):
        return sum(int(n) * UNITS[unit] for n, unit in re.findall(r"(\d+)([dhm])", text))
    matched = re.fullmatch(r"(?:(?:(\d+)-)?(\d+):)?(\d+):\d\d", text)
    if not matched:
        return None
    days, hours, rest = (int(part or 0) for part in matched.groups())
    return days * 1440 + hours * 60 + rest
