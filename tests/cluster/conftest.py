"""A real Slurm cluster: the one that the program GROKATLAS_CLUSTER starts and breaks."""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from datetime import datetime
from pathlib import Path

import psutil
import pytest

from grokatlas.results import layout

ROOT = Path(__file__).parents[2]
TOOL = os.environ.get("GROKATLAS_CLUSTER", "")
FIELDS = ("JobID", "State", "Partition", "AllocTRES", "NodeList", "Start", "End", "Comment")
QUICK = ("--slurm-init-seconds-before-status-checks", "3", "--latency-wait", "10")
PATIENCE = 900  # seconds; a shared machine is slow
SINCE = f"{datetime.now():%Y-%m-%dT%H:%M:%S}"


def pytest_collection_modifyitems(items):
    skip = pytest.mark.skip(reason="GROKATLAS_CLUSTER names no program that starts a cluster")
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.cluster)
            if not TOOL:
                item.add_marker(skip)


@pytest.fixture(autouse=True, scope="session")
def _stopped_like_a_terminal():
    """A SIGTERM, as `.ci/run` sends it, ends fixtures too: they end the workflows they started."""
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    yield
    signal.signal(signal.SIGTERM, before)


def tool(*arguments: str) -> None:
    """Start or break the cluster."""
    subprocess.run([TOOL, *arguments], check=True, capture_output=True)


def until(holds, what: str):
    """Wait for a condition; what it returns."""
    end = time.monotonic() + PATIENCE
    while not (value := holds()):
        assert time.monotonic() < end, f"waited in vain: {what}"
        time.sleep(0.2)
    return value


class Job:
    """A job as the accounting records it."""

    def __init__(self, line: str) -> None:
        values = dict(zip(FIELDS, line.split("|"), strict=True))
        self.id, self.partition, self.node = (
            values["JobID"],
            values["Partition"],
            values["NodeList"],
        )
        self.state = values["State"].split()[0]  # "CANCELLED by 0"
        self.rule, _, self.wildcards = (
            values["Comment"].removeprefix("rule_").partition("_wildcards_")
        )
        tres = dict(pair.split("=") for pair in values["AllocTRES"].split(",") if pair)
        self.gpus, self.memory = int(tres.get("gres/gpu", 0)), tres.get("mem")
        self.span = [
            datetime.fromisoformat(values[key]) if values[key][0] == "2" else None
            for key in ("Start", "End")
        ]


class Site:
    """A clone of the project, and what its workflow does on the cluster."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.log = folder / "snakemake.log"
        self.heads: list[subprocess.Popen] = []
        unset = ("SNAKEMAKE_PROFILE", "PYTHONPATH")  # the clone's own code
        self.variables = {key: value for key, value in os.environ.items() if key not in unset}
        self.variables["GROKATLAS_SAVE_EVERY"] = "0.2"

    def start(self, *arguments: str, command: tuple[str, ...] = ("--profile", "slurm")):
        """Start Snakemake, in a session of its own; its process."""
        line = [sys.executable, "-m", "snakemake", *command]
        line += QUICK if "--profile" in command else []
        with self.log.open("a") as log:
            head = subprocess.Popen(
                [*line, "--config", "scale=smoke", *arguments],
                cwd=self.folder,
                env=self.variables,
                stdout=log,
                stderr=log,
                start_new_session=True,
                preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # as at a terminal
            )
        self.heads.append(head)
        return head

    def finish(self, head, patience: float = PATIENCE) -> None:
        """Wait for a Snakemake that must end well, and until the accounting knows of its jobs."""
        assert head.wait(patience) == 0, self.log.read_text()[-5000:]
        until(lambda: all(job.span[1] for job in self.jobs()), "the accounting has every end")

    def clear(self) -> None:
        """End what still runs here and in the queue."""
        for head in self.heads:
            if head.poll() is None:
                os.killpg(head.pid, signal.SIGKILL)
                head.wait()
        left = [job.id for job in self.jobs() if job.span[1] is None]
        if left:
            subprocess.run(["scancel", *left], check=False)

    def jobs(self, rule: str | None = None, wildcards: str | None = None) -> list[Job]:
        """The jobs that were submitted from here, by the accounting, oldest first."""
        fields = ",".join(FIELDS)
        command = ["sacct", "-X", "-n", "-P", "-S", SINCE, f"--format={fields},WorkDir"]
        lines = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        rows = [line.rpartition("|") for line in lines.splitlines()]
        own = [Job(rest) for rest, _, place in rows if Path(place) == self.folder]
        return [
            job
            for job in sorted(own, key=lambda job: int(job.id))
            if rule in (None, job.rule) and wildcards in (None, job.wildcards)
        ]

    def active(self, run: str) -> Job:
        """The job that trains a run now; the accounting learns a job's comment when it ends."""
        command = ["squeue", "--noheader", "--states=running", "--format=%i %k"]
        lines = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        (number,) = [line.split()[0] for line in lines.splitlines() if line.endswith(run)]

        def known():
            return next((job for job in self.jobs() if job.id == number and job.span[0]), None)

        return until(known, f"the accounting knows that job {number} has started")

    def states(self, rule: str, wildcards: str) -> list[str]:
        """How the jobs of a rule for some wildcards ended."""
        return [job.state for job in self.jobs(rule, wildcards)]

    def runs(self, experiment: str) -> list[str]:
        """Ids of an experiment's runs."""
        files = self.folder.glob(f"results/smoke/tables/*/{experiment}.spec.json")
        specs = [json.loads(file.read_text())["spec"] for file in files]
        return [cell["run"] for spec in specs for cell in spec["cells"]]

    def saved(self, run: str) -> int:
        """The step at which a run is saved; 0 if it is not."""
        file = self.folder / "results/runs" / run / ".state/state.json"
        try:
            return json.loads(file.read_text())["step"]
        except FileNotFoundError:
            return 0

    def training(self, *runs: str) -> str:
        """Wait until one of these runs is on its way and saved, and say which."""
        return until(lambda: next(filter(self.saved, runs), None), f"one of {runs} trains")

    def process(self, *arguments: str) -> psutil.Process:
        """The process of a Python that was called with some arguments in this folder."""
        processes = []
        for process in psutil.process_iter():
            with contextlib.suppress(psutil.Error):
                if process.cmdline()[1 : len(arguments) + 1] == list(arguments):
                    processes.append(process)
        (there,) = [process for process in processes if Path(process.cwd()) == self.folder]
        return there

    def trainer(self, run: str) -> psutil.Process:
        """The process that trains a run."""
        return self.process("-m", "grokatlas", "train", f"results/runs/{run}/spec.json")

    def finished(self, run: str) -> bool:
        """Whether a run has its manifest."""
        return (self.folder / "results/runs" / run / "manifest.json").exists()

    def manifest(self, run: str) -> dict:
        """What a finished run says of itself."""
        return json.loads((self.folder / "results/runs" / run / "manifest.json").read_text())

    def results(self) -> dict[str, bytes]:
        """Every result: data, runs, measures, tables and figures, by path."""
        suffixes = (".parquet", ".safetensors", ".pdf", ".png", ".csv")
        files = (self.folder / "results").rglob("[!.]*.*")
        return {
            str(file.relative_to(self.folder)): file.read_bytes()
            for file in files
            if file.suffix in suffixes and layout.STATE not in file.parts
        }

    def assert_ended_well(self, undisturbed: "Site", figure: str) -> None:
        """The figure is made, every byte as if undisturbed; no finished run was submitted again."""
        ours, theirs = self.results(), undisturbed.results()
        assert {f"results/smoke/figures/{figure}{s}" for s in (".pdf", ".png", ".csv")} <= set(ours)
        assert [name for name in ours if ours[name] != theirs[name]] == []
        for file in self.folder.glob("results/runs/*/manifest.json"):
            last = self.assert_one_piece(file.parent.name)[-1]
            assert self.jobs("train", file.parent.name)[-1].id == last["job"]

    def assert_one_piece(self, run: str) -> list[dict]:
        """A run's processes took over where the one before had saved; these parts of the run."""
        parts = self.manifest(run)["segments"]
        assert [part["start_step"] for part in parts] == [0, *(p["end_step"] for p in parts[:-1])]
        assert parts[-1]["end_step"] == self.manifest(run)["spec"]["train"]["steps"]
        return parts


def clone(source: Path, folder: Path) -> Site:
    """A clone of a repository."""
    subprocess.run(["git", "clone", "--quiet", str(source), str(folder)], check=True)
    return Site(folder)


def commit(site: Site) -> None:
    """Commit what was changed, so that results of all clones of it name one commit."""
    author = ["-c", "user.name=test", "-c", "user.email=test@localhost"]
    command = ["git", *author, "commit", "--quiet", "--all", "--message", "for a test"]
    subprocess.run(command, cwd=site.folder, check=True)


@pytest.fixture(scope="session")
def undisturbed(tmp_path_factory) -> Site:
    """A clone with the papers of this folder in which every figure was made on this machine."""
    site = clone(ROOT, tmp_path_factory.mktemp("undisturbed") / "atlas")
    papers = site.folder / "config/papers"
    shutil.rmtree(papers)
    shutil.copytree(Path(__file__).parent / "papers", papers)
    commit(site)
    try:
        site.finish(site.start(command=("--cores", "2")))
    finally:
        site.clear()
    return site


@pytest.fixture
def site(undisturbed, tmp_path):
    """A fresh clone of it, with its data sets; what a test leaves in the queue is cancelled."""
    made = clone(undisturbed.folder, tmp_path / "atlas")
    shutil.copytree(
        undisturbed.folder / "results/data", made.folder / "results/data", dirs_exist_ok=True
    )
    yield made
    made.clear()
