"""A Slurm, and a Snakemake, of small scripts that write down how they were called."""

import json
import shutil
import sys
from pathlib import Path

PYTHON = sys.executable  # tests pretend another one
ROOT = Path(__file__).parents[3]
TOOLS = ("cat", "cut", "date", "env", "grep", "rm", "sed", "seq", "sleep", "touch")
SINFO = "echo 'cpu*|up|infinite|(null)'; echo 'long|up|7-00:00:00|(null)'; "
SINFO += "echo 'gpu|up|2-00:00:00|gpu:a100:4(S:0)'; echo 'old|down|1-00:00:00|(null)'"
PLAN = "printf 'job count\\ntotal      8\\n\\nReasons:\\n'"


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
        self.program("sinfo", SINFO)
        self.program("sbatch", "echo 12")
        for name in ("squeue", "scancel", "scontrol", "sacct"):
            self.program(name, ":")
        self.snakemake(PLAN)

    def program(self, name: str, script: str) -> None:
        """What a program does."""
        note = f"'{PYTHON}' -c 'import json, sys; print(json.dumps(sys.argv[1:]))'"
        text = f'#!/bin/sh\n{note} {name} "$@" >> "{self._calls}"\n{script}\n'
        (self._bin / name).write_text(text)
        (self._bin / name).chmod(0o755)

    def snakemake(self, script: str) -> None:
        """What ``python -m snakemake`` does."""
        self.program("python", script)

    def without(self, name: str) -> None:
        """The program is not installed."""
        (self._bin / name).unlink()

    def calls(self, name: str) -> list[list[str]]:
        """The arguments of each call of a program."""
        lines = [json.loads(line) for line in self._calls.read_text().splitlines()]
        return [line[1:] for line in lines if line[0] == name]

    def queue(self, *jobs: str) -> None:
        """What waits and runs: ``id state name comment`` of each job."""
        lines = "".join(f"{job.replace(' ', '|')}|{self.folder}\n" for job in jobs)
        (self.folder.parent / "queue").write_text(lines)
        self.program("squeue", f'cat "{self.folder.parent}/queue"')

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
