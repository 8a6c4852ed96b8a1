"""A Slurm, and a Snakemake, of small scripts that write down how they were called."""

import shutil
import sys
from pathlib import Path

from tests.checkout import ROOT, program

TOOLS = ("bash", "cat", "cksum", "cut", "date", "env", "find", "flock", "grep", "rm", "sed", "seq")
TOOLS += ("sort", "tail", "touch", "xargs", "mkdir")
# in the order in which either of the two that ask wants it; see `Cluster.queue`
SQUEUE = """case "$*" in
*=%l) echo 2:00:00; exit;;
*"=|%Z"*) ;;
*) cut -d '|' -f 1-3,5 queue; exit;;
esac
while IFS='|' read -r number state name comment place; do
    case "$*" in *PENDING*) [ $state = PENDING ] || continue;; esac
    echo "|$place|$name|$comment|$number"
done < queue"""


class Cluster:
    """A checkout on a login node.

    Attributes:
        folder: the checkout; the working directory.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._bin = folder.parent / "programs"
        self._bin.mkdir()
        for name in TOOLS:  # no other program is found, such as those of a Slurm that is here
            (self._bin / name).symlink_to(shutil.which(name))
        self._calls = folder.parent / "calls"
        self._calls.touch()
        self.program("sbatch", "echo 12")
        self.program("sleep", f"exec {shutil.which('sleep')} 0.2")  # a test has no time
        for name in ("scancel", "scontrol", "sacct", "python"):
            self.program(name, ":")
        self.queue()

    def program(self, name: str, script: str) -> None:
        """What a program does."""
        note = f"printf '%s\\037' {name} \"$@\"; echo"
        text = f'#!/bin/bash\n{{ {note}; }} >> "{self._calls}"\n{script}\n'
        program(self._bin / name, text)

    def snakemake(self, script: str) -> None:
        """What ``python -m snakemake`` does."""
        self.program("python", script)

    def without(self, name: str) -> None:
        """The program is not installed."""
        (self._bin / name).unlink()

    def calls(self, name: str) -> list[list[str]]:
        """The arguments of each call of a program."""
        lines = [line.split("\037")[:-1] for line in self._calls.read_text().split("\n")[:-1]]
        return [line[1:] for line in lines if line[0] == name]

    def queue(self, *jobs: str) -> None:
        """What waits and runs: ``id state name comment`` of each job."""
        lines = "".join(f"{job.replace(' ', '|')}|{self.folder}\n" for job in jobs)
        (self.folder.parent / "queue").write_text(lines)
        self.program("squeue", f'cd "{self.folder.parent}"; {SQUEUE}')

    def lock(self) -> Path:
        """The lock that a Snakemake has, or has left."""
        file = self.folder / ".snakemake/locks/0.output.lock"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("a\n")
        return file


def cluster(folder: Path, monkeypatch) -> Cluster:
    """A checkout in a folder, as long as a test lasts."""
    folder.mkdir()
    (folder / "Snakefile").touch()
    shutil.copytree(ROOT / "profiles", folder / "profiles")
    (folder / "slurm").symlink_to("profiles/slurm")
    made = Cluster(folder)
    monkeypatch.chdir(folder)
    monkeypatch.setenv("PATH", str(made._bin))
    monkeypatch.setattr(sys, "executable", str(made._bin / "python"))
    monkeypatch.delenv("SLURM_JOB_ID", raising=False)
    return made
