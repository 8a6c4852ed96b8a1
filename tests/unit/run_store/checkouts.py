"""A run store, the checkouts that share it, and how their files are harmed."""

import os
from pathlib import Path
from unittest import mock

from grokatlas.plan import job_files, jobs
from grokatlas.plan.jobs import Plan
from grokatlas.run_store import entry
from grokatlas.run_store import store as run_store
from tests.unit import audit_tree


class Checkouts:
    """A store and a checkout that filled it; further checkouts are made when asked for.

    Attributes:
        jobs: what the checkouts plan, by target: a data set, two runs and what hangs on them.
        root: the store.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.jobs = audit_tree.declared()
        self.runs = [job for job in self.jobs.values() if job.kind == "run"]
        (self.data,) = [job for job in self.jobs.values() if job.kind == "dataset"]
        self.root = folder / "store"

    def fill(self) -> None:
        """Make the first checkout and the store."""
        self.root.mkdir()
        self.root.chmod(0o2770)
        self.enter("first")
        audit_tree.build(self.jobs)
        for run in self.runs:
            assert run_store.put(self.root, run.target, Path())

    def enter(self, name: str) -> None:
        """Go into a checkout, new if it is not there, as a process that never was in another."""
        (self.folder / name).mkdir(exist_ok=True)
        os.chdir(self.folder / name)

    def bring(self, jobs=None) -> list[Path]:
        """Plan in this checkout with the store: what was renewed."""
        made = Plan("smoke")
        for job in (jobs or self.jobs).values():
            group = getattr(made, f"{job.kind}s")
            group[job.target] = job
        job_files.write(made.jobs, made.states())
        with mock.patch.dict(os.environ, {run_store.VARIABLE: str(self.root)}):
            return run_store.bring_missing(made.runs.values(), made)

    def place(self, run: jobs.Job) -> Path:
        """Where a run lies in the store."""
        return entry.place_of(self.root, "run", run.target.name, run.digest)


def contents(folder: Path) -> dict[str, bytes]:
    """Every file of a folder, by name."""
    return {file.name: file.read_bytes() for file in folder.iterdir()}


def spoil(file: Path) -> None:
    """Flip a bit in its middle."""
    file.chmod(0o600)
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)


def resealed(path: Path, **changes) -> None:
    """Change keys of a manifest or job file, and seal it again."""
    audit_tree.edited(path, seal=True, **changes)
