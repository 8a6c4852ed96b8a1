"""What each rule runs: read a job file and verified inputs, compute, write results and manifest.

Every job is a process, so each imports only what it needs: torch takes seconds to start, pandas and
matplotlib most of one.
"""

import contextlib
import os
import socket
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from grokatlas import code_digest, registry
from grokatlas.engine import dataset as datasets
from grokatlas.engine import members
from grokatlas.errors import UserError
from grokatlas.results import files as store
from grokatlas.results import freshness, hashing
from grokatlas.results.manifest import Recorder
from grokatlas.rules import devices
from grokatlas.rules.finished_run import FinishedRun
from grokatlas.run_store import store as run_store

# what components and libraries raise where spec, data or machine do not fit
MISTAKES = (ValueError, TypeError, LookupError, RuntimeError, ImportError, OSError, MemoryError)


def planned(job_file: Path, kind: str) -> dict[str, Any]:
    """A job file, if it is of this kind and the code here is the code it was planned with.

    Raises:
        UserError: the file is missing, was edited or is of another kind, or the code changed since
            the plan was made: the manifest would name code that did not run.
    """
    job = store.read_sealed(job_file)
    if "outputs" in job or job.get("kind") != kind:
        found = "manifest" if "outputs" in job else f"job file of kind {job.get('kind')!r}"
        raise UserError(str(job_file), f"is a {found}; give a job file of kind {kind!r}")
    here = code_digest.code(list(job["code"]))
    if code_digest.values(here) != code_digest.values(job["code"]):
        names = code_digest.changed(job["code"], here) or ["modules were moved"]
        problem = f"the code changed since it was planned ({', '.join(names)})"
        raise UserError(str(job_file), f"{problem}; run `snakemake` again")
    return job


def make_dataset(job_file: Path, out: Path) -> None:
    """Rule `dataset`: the arrays of a task (of each member's task, if they differ)."""
    job = planned(job_file, "dataset")
    recorder = Recorder(job, [])
    try:
        arrays, metadata = datasets.make(job["spec"]["tasks"]).arrays()
    except (ValueError, ImportError, OSError, MemoryError) as error:
        raise UserError(f"{job_file}: task", _line(error)) from None
    (file,) = store.outputs("dataset", out)
    store.write_arrays(file, arrays, metadata)
    recorder.write(store.manifest_of("dataset", out), [file])


def train(
    job_file: Path, out: Path, device: str, threads: int, period: float, last: bool = False
) -> None:
    """Rule `train`: one run, from its job file alone; goes on where a killed process left it.

    Args:
        job_file: the run's ``spec.json``. Where the data set that it names is not here, the data
            are made in this process.
        out: folder of history, snapshots and manifest; the job file is copied there.
        device: ``auto``, ``cpu`` or ``cuda``. Unless it is the CPU, a GPU of this machine is leased
            first; ``auto`` is the CPU for a dynamics that is compiled for it.
        threads: CPU threads of one operation.
        period: seconds between two saves of the run's state.
        last: whether the process ends with the run.
    """
    from grokatlas.declare import signatures
    from grokatlas.plan import resources
    from grokatlas.results import endings, environment
    from grokatlas.rules import gpu_leases, savepoint

    job = planned(job_file, "run")
    if device == "auto" and not resources.uses_gpu("run", job["spec"]):
        device = "cpu"
    data = [f for folder in job["inputs"] for f in store.outputs("dataset", Path(folder))]
    data = [store.verified(file) for file in data if file.exists()]
    if data:
        _check_planned(job_file, job)
    with savepoint.locked(out):
        if freshness.finished("run", out, job["digest"], data):
            print(f"run {out.name}: is already there", file=sys.stderr)
            return
        if device != "cpu":
            gpu_leases.take()
        recorder = Recorder(job, data)
        segment = {
            "host": socket.gethostname(),
            "job": os.environ.get("SLURM_JOB_ID"),
            "devices": os.environ.get("CUDA_VISIBLE_DEVICES"),
            "versions": environment.computing(),
        }
        record = savepoint.Savepoint(out, job["digest"], period, segment)
        with record.listening(last):
            facts = _trained(job_file, job, data, record, device, threads)
            history, snapshots = store.outputs("run", out)
            record.finish(history, snapshots)
            declared, _ = signatures.logged(job["spec"]["observables"])
            recorder.note(**facts, **endings.read(history, job["spec"], declared))
            recorder.write(store.manifest_of("run", out), [history, snapshots])
            for line in endings.lines(out.name, store.read_json(store.manifest_of("run", out))):
                print(line, file=sys.stderr)
            beside = store.spec_path("run", out)
            if beside.resolve() != job_file.resolve():
                store.write_json(beside, job)
            _share(out)
            record.remove()


def _trained(
    job_file: Path, job: dict[str, Any], data: list[Path], record: Any, device: str, threads: int
) -> dict[str, Any]:
    """Train into a record, and tell what the manifest should say of it."""
    spec = job["spec"]
    devices.use_repeatable_kernels()
    import torch

    from grokatlas.engine import training

    torch.set_num_threads(threads)
    chosen = devices.chosen(device)
    record.device = chosen.type
    run = f"run {record.folder.parent.name}"
    print(f"{run}: trains on {socket.gethostname()}, {devices.name_of(chosen)}", file=sys.stderr)
    with _told(job_file, "training"):
        dataset = (
            datasets.from_arrays(*store.read_arrays(data[0])) if data else _made(job_file, job)
        )
        training.train(spec, dataset, chosen, record, Progress(run))
    return {
        "device": devices.facts(chosen, threads),
        "train_seconds": record.spent(),
        "updates": {"count": record.updates.count, "seconds": round(record.updates.seconds, 6)},
        "members": len(members.of(spec)),
        "segments": record.all_segments(record.step),
        "seeds": spec["ensemble"]["seed"],
    }


@contextlib.contextmanager
def _told(job_file: Path, what: str) -> Iterator[None]:
    """Errors of components in one line, unless ``GROKATLAS_TRACEBACK`` asks for more."""
    try:
        yield
    except MISTAKES as error:
        if os.environ.get("GROKATLAS_TRACEBACK"):
            raise
        problem = f"{what} failed: {_line(error)} (GROKATLAS_TRACEBACK=1 shows where)"
        raise UserError(str(job_file), problem) from None


def _line(error: Exception) -> str:
    """An error's first line; some have none."""
    return str(error).strip().partition("\n")[0] or type(error).__name__


def _check_planned(job_file: Path, job: dict[str, Any]) -> None:
    """The data set that is here is the one that the run was planned with, not an older one."""
    manifests = [store.manifest_of("dataset", Path(folder)) for folder in job["inputs"]]
    made = [store.read_sealed(manifest)["digest"] for manifest in manifests]
    if hashing.of_job("run", job["spec"], job["code"], made) != job["digest"]:
        problem = f"{job['inputs'][0]} is another data set than the run was planned with"
        raise UserError(str(job_file), f"{problem}; run `snakemake`, which makes it anew")


def _made(job_file: Path, job: dict[str, Any]) -> datasets.Dataset:
    """The data of a run that came without them, by the code with which the run was planned."""
    if run_digest(job["spec"], job["code"]) != job["digest"]:
        task = job["spec"]["task"]["name"]
        problem = f"the code here makes other data than it was planned with (task {task})"
        raise UserError(str(job_file), f"{problem}; run `snakemake` again")
    try:
        return datasets.make(members.tasks(job["spec"]))
    except ImportError as error:
        problem = f"its data cannot be made here: {_line(error)}"
        todo = f"install it, or bring the folder {job['inputs'][0]} along"
        raise UserError(str(job_file), f"{problem}; {todo}") from None


def run_digest(spec: dict[str, Any], code: dict[str, str]) -> str:
    """The digest of a run of some code, on the data set that the code here makes."""
    made_by = code_digest.code(code_digest.dataset_modules(spec))
    data = hashing.of_job("dataset", {"tasks": members.tasks(spec)}, made_by, [])
    return hashing.of_job("run", spec, code, [data])


def _share(run: Path) -> None:
    """Put a finished run into the run store, if there is one; that it fails costs nothing here."""
    try:
        root = run_store.chosen()
        if root is not None:
            run_store.put(root, run, Path())
    except UserError as error:
        print(f"warning: not put into the run store: {error}", file=sys.stderr)


def measure(job_file: Path, stem: Path) -> None:
    """Rule `measure`: one measure of one run."""
    from grokatlas.plan import resources
    from grokatlas.rules import gpu_leases

    job = planned(job_file, "measure")
    if resources.uses_gpu("measure", job["spec"]) and os.environ.get("GROKATLAS_DEVICE") != "cpu":
        gpu_leases.take()
    run, data = (Path(folder) for folder in job["inputs"])
    recorder = Recorder(job, [*store.outputs("run", run), *store.outputs("dataset", data)])
    (file,) = store.outputs("measure", stem)
    block = job["spec"]["measure"]
    with _told(job_file, block["name"]):
        store.write_parquet(file, _measured(block, FinishedRun(run, data)))
    recorder.write(store.manifest_of("measure", stem), [file])


def _measured(block: dict[str, Any], run: FinishedRun) -> Any:
    """A measure of a run, as a data frame."""
    keywords = {key: value for key, value in block.items() if key != "name"}
    return registry.load("measures", block["name"]).build(**keywords)(run)


def table(job_file: Path, stem: Path) -> None:
    """Rule `table`: the tidy table of an experiment, with what light measures find in its runs."""
    from grokatlas.rules import tidy_table

    job = planned(job_file, "table")
    cells, read = [], []
    for cell in job["spec"]["cells"]:
        history, _ = store.outputs("run", store.run_folder(cell["run"]))
        measured = {}
        for name in cell["measures"]:
            (file,) = store.outputs("measure", store.measure_stem(cell["run"], name))
            measured[name.rpartition("-")[0] or name] = file
        read += [history, *measured.values()]
        cells.append((cell, measured))
    recorder = Recorder(job, read)
    parts = []
    for cell, measured in cells:
        run = FinishedRun(store.run_folder(cell["run"]))
        records = {"history": run.history}
        records |= {name: store.read_parquet(file) for name, file in measured.items()}
        for block in cell.get("light", []):
            with _told(job_file, f"{block['name']} of run {cell['run']}"):
                records[block["name"]] = _measured(block, run)
        parts.append(tidy_table.cell_rows(cell, run.spec, records))
    (file,) = store.outputs("table", stem)
    store.write_parquet(file, tidy_table.join(parts, job["spec"]))
    recorder.write(store.manifest_of("table", stem), [file])


def figure(job_file: Path, stem: Path) -> None:
    """Rules `figure` and `published_table`: one figure, or one table of a paper, and its data."""
    from grokatlas.rules import rendering

    job = planned(job_file, "figure")
    spec = job["spec"]
    stems = {n: store.table_stem(spec["scale"], spec["paper"], n) for n in spec["experiments"]}
    inputs = {name: store.outputs("table", table)[0] for name, table in stems.items()}
    recorder = Recorder(job, list(inputs.values()))
    frames = {name: store.read_parquet(file) for name, file in inputs.items()}
    files = store.outputs("figure", stem)
    rendering.render(spec, frames, files, _origin(job, frames, recorder))
    recorder.write(store.manifest_of("figure", stem), files)


def _origin(job: dict[str, Any], frames: dict[str, Any], recorder: Recorder) -> str:
    """What a figure's files say about themselves: the job's digest, the commit, the runs."""
    git = recorder.revision["git"]
    commit = git["commit"] + (" dirty" if git["dirty"] else "") if git else "unknown"
    runs = sorted({str(run) for frame in frames.values() for run in frame["run"].unique()})
    return f"digest {job['digest']}; commit {commit}; runs {' '.join(runs)}"


class Progress:
    """One line on stderr every ten seconds: step, rate and time left.

    Args:
        name: what the line calls the run.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.start = self.last = time.monotonic()
        self.first: int | None = None  # step of the first call: not 0 in a run that goes on

    def __call__(self, step: int, steps: int) -> None:
        """Report, if ten seconds have passed or the run is done."""
        now = time.monotonic()
        if self.first is None:
            self.first = step
        if step == self.first or (now - self.last < 10 and step < steps):
            return
        self.last = now
        rate = (step - self.first) / max(now - self.start, 1e-9)
        left = (steps - step) / max(rate, 1e-9)
        line = f"{self.name}: step {step}/{steps}, {rate:.1f} steps/s, {left:.0f} s left"
        print(line, file=sys.stderr, flush=True)
