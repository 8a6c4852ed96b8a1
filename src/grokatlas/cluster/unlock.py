"""After a Snakemake that was killed: the jobs that it left on a cluster, and its lock."""

import os
import subprocess
import sys
import time
from pathlib import Path

from grokatlas.cluster import slurm
from grokatlas.errors import UserError

PATIENCE = 300.0  # seconds that cancelled jobs may take to save and end


def main(folder: Path = Path(), patience: float = PATIENCE) -> str:
    """Cancel the jobs that run in a folder, wait until they have ended, remove the lock.

    Training saves its state before it ends, so nothing is lost; two processes never write one
    output, as the next Snakemake finds none of the old jobs.

    Raises:
        UserError: a Snakemake still runs in the folder, Slurm does not answer, or jobs do not end.
    """
    refuse_others(folder)
    running = jobs(folder)
    if running:
        slurm.ask("scancel", *running)
    until = time.monotonic() + patience
    while left := jobs(folder):
        if time.monotonic() > until:
            raise UserError("jobs " + " ".join(left), "were cancelled and do not end; see `squeue`")
        time.sleep(1)
    remove_lock(folder)
    return f"{len(running)} jobs cancelled, the folder is unlocked; run `snakemake` again"


def refuse_others(folder: Path) -> None:
    """Refuse while the workflow runs in a folder, here or in a job of its own."""
    if jobs := slurm.workflow(folder):
        problem = f"the workflow is in jobs {jobs}; `scancel` them to end it"
        raise UserError(str(folder.resolve()), problem)
    if pid := snakemake(folder):
        raise UserError(str(folder), f"Snakemake runs here (process {pid}); stop it with Ctrl-C")


def remove_lock(folder: Path) -> None:
    """Remove the lock of a Snakemake that is known to have ended."""
    command = [sys.executable, "-m", "snakemake", "--unlock"]
    # a lock is the folder's, whatever profile the killed Snakemake had
    rest = {key: value for key, value in os.environ.items() if key != "SNAKEMAKE_PROFILE"}
    done = subprocess.run(
        command, cwd=folder, env=rest, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise UserError(str(folder), f"`snakemake --unlock` failed: {done.stderr.strip()}")


def locked(folder: Path) -> bool:
    """Tell if a Snakemake that runs, or was killed, holds the folder."""
    return any((folder / ".snakemake" / "locks").glob("*"))


def jobs(folder: Path) -> list[str]:
    """Ids of this user's jobs that were submitted from a folder, but for the one this runs in."""
    own = os.environ.get("SLURM_JOB_ID")  # the allocation that this is called from
    return [job.id for job in slurm.queue(folder) if job.id != own]


def snakemake(folder: Path) -> int | None:
    """The process of a Snakemake that a user started in a folder on this machine."""
    import psutil

    for process in psutil.process_iter():
        try:
            command = process.cmdline()
            named = any(Path(part).name == "snakemake" for part in command[:3])
            if not named or "remote" in command:  # that of a job
                continue
            if Path(process.cwd()).resolve() == folder.resolve():
                return process.pid
        except (psutil.Error, OSError):
            continue
    return None
