"""Questions to Slurm's own programs."""

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from grokatlas.errors import UserError

PATIENCE = 60.0  # seconds
AGAIN = "try again when Slurm answers"
WORKFLOW = "grokatlas-workflow"  # the name of the jobs of profiles/slurm/workflow.sh


@dataclass(frozen=True)
class Queued:
    """A job of this user that waits, runs or ends."""

    id: str
    state: str
    name: str


def ask(*command: str, patience: float = PATIENCE, **environment: str) -> str:
    """Call a program of Slurm, and return what it prints.

    Raises:
        UserError: it is not installed, fails, or says nothing for `patience` seconds.
    """
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            check=False,
            timeout=patience,
            env={**os.environ, **environment},
        )
    except FileNotFoundError:
        raise UserError(command[0], "is not installed here") from None
    except subprocess.TimeoutExpired:
        raise UserError(command[0], f"no answer within {patience:.0f} s; {AGAIN}") from None
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["fails without an error message"])[-1]
        problem = last.removeprefix(f"{command[0]}: ")
        raise UserError(command[0], f"{problem}; {AGAIN}")
    return done.stdout


def submit(*arguments: str) -> str:
    """Submit a job; its number.

    Args:
        arguments: of ``sbatch``. The job finds the programs of this Python first.
    """
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"
    printed = ask("sbatch", "--parsable", *arguments, PATH=path).strip()
    number = re.findall(r"^(\d+)(?:;\S+)?\s*$", printed, re.MULTILINE)  # a site adds lines
    if not number:
        problem = f"printed no number of a job, but {printed!r}; look with `squeue --me`"
        raise UserError("sbatch", problem)
    return str(number[-1])


def queue(folder: Path, patience: float = PATIENCE) -> list[Queued]:
    """This user's jobs that were submitted from a folder and have not ended; none without Slurm."""
    if not shutil.which("squeue"):
        return []
    jobs = []
    question = ("squeue", "--me", "--noheader", "--format=%i|%T|%j|%Z")
    for line in ask(*question, patience=patience).splitlines():
        *fields, place = [*line.split("|", 3), "", "", ""][:4]
        if place and Path(place).resolve() == folder.resolve():
            jobs.append(Queued(*fields))
    return jobs


def workflow(folder: Path, patience: float = PATIENCE) -> str:
    """The jobs that the workflow of a checkout is in (``7 (running)``); empty if there are none."""
    jobs = [job for job in queue(folder, patience) if job.name == WORKFLOW]
    return ", ".join(f"{job.id} ({job.state.lower()})" for job in jobs)


def workflow_or_none(folder: Path) -> str:
    """The same, empty also if Slurm does not answer within seconds."""
    try:
        return workflow(folder, patience=5)
    except UserError:
        return ""


def minutes(text: str) -> int | None:
    """A time in whole minutes; None if it is none.

    Args:
        text: as Slurm writes it: ``90``, ``30:00``, ``4:00:00``, ``2-00:00:00``.
    """
    if text.isdecimal():
        return int(text)
    matched = re.fullmatch(r"(?:(?:(\d+)-)?(\d+):)?(\d+):\d\d", text)
    if not matched:
        return None
    days, hours, rest = (int(part or 0) for part in matched.groups())
    return days * 1440 + hours * 60 + rest
