"""The real Snakefile at smoke scale, in a copy of the checkout."""

import atexit
import functools
import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from filelock import FileLock

from grokatlas.plan.project import KEPT_MEMORY
from tests.checkout import ROOT, python
from tests.workflow.holder import Holder

PAPERS = Path(__file__).parent / "papers"  # few figures: what they test is not which there are
LOG = ".snakemake/made.log"
CLOSING = ("claims", "atlas")
PARTS = (
    "Snakefile",
    "workflow",
    "config",
    "src",
    "profiles",
    "environment.yml",
    "requirements.lock",
)


class Checkout:
    """A copy of the project, with a Snakemake that runs in it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def snakemake(self, *arguments: str, scale: str = "smoke", **keywords):
        """Run Snakemake at a scale; the finished process with its output as text."""
        return self.call(*arguments, "--config", f"scale={scale}", **keywords)

    def call(self, *arguments: str, env: dict[str, str] | None = None):
        """Run Snakemake with these arguments alone."""
        variables = {**os.environ, **_warm(), **(env or {})}
        variables.pop("SNAKEMAKE_PROFILE", None)
        return python("-m", "snakemake", *arguments, cwd=self.folder, env=variables)

    def make(self, *arguments: str, **keywords):
        """Run Snakemake with one core, which must end well; the finished process."""
        done = self.snakemake("--cores", "1", *arguments, **keywords)
        assert done.returncode == 0, done.stdout + done.stderr
        return done

    def grokatlas(self, *arguments: str):
        """Run a command with the code of the copy; the finished process."""
        variables = {**os.environ, "PYTHONPATH": str(self.folder / "src")}
        variables.pop("SNAKEMAKE_PROFILE", None)
        return python("-m", "grokatlas", *arguments, cwd=self.folder, env=variables)

    def told(self, *arguments: str) -> str:
        """What a command prints, which must end well."""
        done = self.grokatlas(*arguments)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def runs(self, experiment: str, paper: str = "geometry") -> set[str]:
        """The run folders of an experiment, as it is planned now."""
        table = f"results/smoke/tables/{paper}/{experiment}"
        (inputs,) = [inputs for _, target, inputs in self.plan() if target == table]
        return {name for name in inputs if name.startswith("results/runs/")}

    def jobs(self, *arguments: str, scale: str = "smoke") -> list[str]:
        """The jobs of a dry run, such as ``figure geometry/fig1``, sorted.

        Without those that hang on everything: `all`, `claims` and `atlas` (see `closing`).
        """
        jobs = self._dry_run(*arguments, scale=scale)
        return sorted(job for job in jobs if job.split()[0] not in CLOSING)

    def closing(self, *arguments: str) -> list[str]:
        """Which of `claims` and `atlas` a dry run has."""
        return sorted({job.split()[0] for job in self._dry_run(*arguments)} & {*CLOSING})

    def _dry_run(self, *arguments: str, scale: str = "smoke") -> list[str]:
        done = self.snakemake("-n", *arguments, scale=scale)
        assert done.returncode == 0, done.stderr
        text = done.stdout + done.stderr
        jobs = []
        for block in re.split(r"\n(?=\[|(?:local)?rule )", text):
            rule = re.search(r"^(?:local)?rule (\w+):", block, re.MULTILINE)
            wildcards = re.search(r"^    wildcards: (.*)$", block, re.MULTILINE)
            if rule and wildcards:
                values = [pair.partition("=")[2] for pair in wildcards[1].split(", ")]
                jobs.append(f"{rule[1]} {'/'.join(v for v in values if v != scale)}")
        return jobs

    def edit(self, path: str, old: str, new: str) -> None:
        """Replace text that stands in a file exactly once."""
        file = self.folder / path
        text = file.read_text(encoding="utf-8")
        assert text.count(old) == 1, f"{path} has {text.count(old)} times {old!r}"
        file.write_text(text.replace(old, new), encoding="utf-8")

    def plan(self):
        """The plan of the copy, made in a process of its own, as plain data."""
        code = (
            "import json; from pathlib import Path; from grokatlas.plan.project import Project;"
            "plan = Project(Path('config'), {'scale': 'smoke'}).at('smoke');"
            "print(json.dumps([[j.kind, str(j.target), [str(i.target) for i in j.inputs]]"
            " for j in plan.jobs]))"
        )
        import json

        variables = {**os.environ, "PYTHONPATH": str(self.folder / "src")}
        done = python("-c", code, check=True, cwd=self.folder, env=variables)
        return json.loads(done.stdout)


@functools.cache
def _warm() -> dict[str, str]:
    """Names fork servers that all Snakemakes here share; started as the workflow starts them."""
    holder = Holder({name: str(size) for name, size in KEPT_MEMORY.items()})
    atexit.register(holder.end)
    return holder.named


def copy_checkout(folder: Path) -> Checkout:
    """The checkout's sources in a new folder, without results, with the two papers of `PAPERS`."""
    folder.mkdir(parents=True)
    for part in PARTS:
        source = ROOT / part
        ignore = shutil.ignore_patterns("__pycache__", "*.egg-info")
        if source.is_dir():
            shutil.copytree(source, folder / part, ignore=ignore)
        else:
            shutil.copy2(source, folder / part)
    shutil.rmtree(folder / "config" / "papers")
    shutil.copytree(PAPERS, folder / "config" / "papers")
    return Checkout(folder)


def once(tmp_path_factory, worker_id: str, name: str, make: Callable[[Path], None]) -> Path:
    """A folder that one worker of the session makes, and that all of them read.

    Args:
        name: of the folder.
        make: fills a folder that is not there yet.
    """
    root = tmp_path_factory.getbasetemp()
    root = root if worker_id == "master" else root.parent
    folder, whole = root / name, root / f"{name}.whole"
    with FileLock(root / f"{name}.lock"):
        if not whole.exists():
            shutil.rmtree(folder, ignore_errors=True)  # of a worker that failed
            make(folder)
            whole.touch()
    return folder


@pytest.fixture(scope="session")
def finished(tmp_path_factory, worker_id) -> Checkout:
    """A checkout in which everything was made once at smoke scale. Do not change it.

    What Snakemake said meanwhile, debugging lines included, is in its file `LOG`.
    """

    def make(folder: Path) -> None:
        done = copy_checkout(folder).snakemake("--cores", "2", "--verbose")
        assert done.returncode == 0, done.stderr
        (folder / LOG).write_text(done.stderr, encoding="utf-8")

    return Checkout(once(tmp_path_factory, worker_id, "finished", make))


@pytest.fixture
def checkout(finished: Checkout, tmp_path: Path) -> Checkout:
    """A copy of the finished checkout that a test may change; file times are kept."""
    copied = shutil.copytree(finished.folder, tmp_path / "atlas", copy_function=shutil.copy2)
    return Checkout(copied)
