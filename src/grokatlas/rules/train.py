"""Rule `train`: one run, from its job file alone; goes on where a killed process left it."""

import os
import socket
import sys
from pathlib import Path
from typing import Any

from grokatlas import registry
from grokatlas.code import code_digest
from grokatlas.engine import dataset as datasets
from grokatlas.engine import members
from grokatlas.errors import UserError
from grokatlas.results import files, foreign, freshness, hashing, layout
from grokatlas.results.manifest import ManifestWriter, code_of
from grokatlas.rules import dataset, parents
from grokatlas.rules.jobs import (
    compiled_loops,
    component_contracts,
    devices,
    undeclared_reads,
)
from grokatlas.rules.jobs.component_errors import first_line
from grokatlas.rules.jobs.job_file import one_line_errors, read_job_file
from grokatlas.rules.jobs.progress import LastLog, Progress
from grokatlas.run_store import store as run_store


def execute(job_file: Path, out: Path, device: str, threads: int, period: float) -> None:
    """Train one run, in a process that ends with it.

    Args:
        job_file: the run's ``spec.json``. Where the data set that it names is not here, it is made
            in its place if its record is; else the data are made in this process.
        out: folder of history, snapshots and manifest; the job file is copied there.
        device: ``auto``, ``cpu`` or ``cuda``. Unless it is the CPU, a GPU of this machine is leased
            first; ``auto`` is the CPU for a dynamics that is compiled for it.
        threads: CPU threads of one operation.
        period: seconds between two saves of the run's state.
    """
    from grokatlas.declare import signatures
    from grokatlas.plan import resources
    from grokatlas.results import endings, environment, gpu_leases
    from grokatlas.rules.jobs import savepoint

    job = read_job_file(job_file, "run")
    if foreign.kind(job["spec"]):
        from grokatlas.rules.foreign import job as foreign_job

        with savepoint.locked(out):
            foreign_job.execute(job_file, job, out, device)
            (out / layout.LOCK).unlink(missing_ok=True)
        return
    if device == "auto" and not resources.uses_gpu("run", job["spec"]):
        device = "cpu"
    data, before = _data(job_file, job), parents.snapshots(job)
    with savepoint.locked(out):
        if freshness.finished("run", out, job["digest"], [*data, *before]):
            print(f"run {out.name}: is already there", file=sys.stderr)
            return
        data = data or _made_again(job_file, job)
        made_here = [] if data else code_digest.dataset_modules(job["spec"])
        undeclared_reads.refuse([*job["code"], *made_here])
        start = parents.start(job_file, job)
        if device != "cpu":
            gpu_leases.take()
        writer = ManifestWriter(job, [*data, *before])
        segment = {
            "host": socket.gethostname(),
            "job": os.environ.get("SLURM_JOB_ID"),
            "devices": os.environ.get("CUDA_VISIBLE_DEVICES"),
            "versions": environment.computing(),
        }
        record = savepoint.Savepoint(out, job["digest"], period, segment)
        with record.listening():
            facts = _trained(job_file, job, data, start, record, device, threads)
            history, snapshots = layout.outputs("run", out)
            record.finish(history, snapshots)
            declared, _ = signatures.logged(job["spec"]["observables"])
            writer.note(**facts, **endings.read(history, job["spec"], declared))
            writer.write(layout.manifest_of("run", out), [history, snapshots])
            for line in endings.lines(out.name, files.read_json(layout.manifest_of("run", out))):
                print(line, file=sys.stderr)
            beside = layout.spec_path("run", out)
            if beside.resolve() != job_file.resolve():
                files.write_json(beside, job)
            run_store.share(out)
            record.remove()


def _trained(
    job_file: Path,
    job: dict[str, Any],
    data: list[Path],
    start: Any,
    record: Any,
    device: str,
    threads: int,
) -> dict[str, Any]:
    """Train into a record, and return what the manifest should say of it."""
    spec = job["spec"]
    devices.use_repeatable_kernels()
    import torch

    from grokatlas.engine.run import Run
    from grokatlas.engine.training import Trainer

    torch.set_num_threads(threads)
    chosen = devices.chosen(device)
    record.device = chosen.type
    run = f"run {record.folder.parent.name}"
    print(f"{run}: trains on {socket.gethostname()}, {devices.name_of(chosen)}", file=sys.stderr)
    with one_line_errors(job_file, "training"):
        arrays = datasets.from_arrays(*files.read_arrays(data[0])) if data else _made(job_file, job)
        registry.load("dynamics", spec["dynamics"]["name"])
        component_contracts.check_parameters(spec, arrays)
        compiled_loops.share(job["code"])
        trainer = Trainer(Run(spec, arrays, chosen, start), record)
        trainer.history = history = LastLog(record.add_rows, spec)
        trainer.resume(record.restored())
        progress = Progress(run, trainer.step, trainer.steps, history.unsound)
        record.moved = progress.moved
        trainer.finish(progress.logged)
    how = {"steps": record.updates.how} if record.updates.how else {}
    return {
        "device": devices.facts(chosen, threads) | how,
        "train_seconds": record.spent(),
        "updates": {"count": record.updates.count, "seconds": round(record.updates.seconds, 6)},
        "members": len(members.of(spec)),
        "segments": record.all_segments(record.step),
        "seeds": spec["ensemble"]["seed"],
    }


def _data(job_file: Path, job: dict[str, Any]) -> list[Path]:
    """The file of the run's data set; none where it is not here."""
    data = [f for folder in _data_folders(job) for f in layout.outputs("dataset", folder)]
    data = [files.verified(file) for file in data if file.exists()]
    if data:
        _check_planned(job_file, job)
    return data


def _data_folders(job: dict[str, Any]) -> list[Path]:
    return [Path(folder) for folder in job["inputs"] if layout.is_data(folder)]


def _made_again(job_file: Path, job: dict[str, Any]) -> list[Path]:
    """The data set that an archive left out, made in its place, so that the run names it.

    Empty where no record of it is here.
    """
    for folder in _data_folders(job):
        if layout.manifest_of("dataset", folder).exists():
            dataset.execute(layout.spec_path("dataset", folder), folder)
    return _data(job_file, job)


def _check_planned(job_file: Path, job: dict[str, Any]) -> None:
    """The data set that is here is the one that the run was planned with, not an older one."""
    manifests = [layout.manifest_of("dataset", folder) for folder in _data_folders(job)]
    data = [files.read_sealed(manifest) for manifest in manifests]
    made = [hashing.of_job("dataset", each["spec"], code_of(each), []) for each in data]
    known = all(each["digest"] in digests for each, digests in zip(data, made, strict=True))
    made += parents.digests(job["spec"])
    if not known or job["digest"] not in hashing.of_job("run", job["spec"], job["code"], made):
        problem = f"{job['inputs'][0]} is another data set than the run was planned with"
        raise UserError(str(job_file), f"{problem}; run `snakemake`, which makes it anew")


def _made(job_file: Path, job: dict[str, Any]) -> datasets.Dataset:
    """The data of a run that came without them, by the code with which the run was planned."""
    if job["digest"] not in run_digests(job["spec"], job["code"]):
        task = job["spec"]["task"]["name"]
        problem = f"the code here makes other data than it was planned with (task {task})"
        raise UserError(str(job_file), f"{problem}; run `snakemake` again")
    try:
        return component_contracts.data(members.tasks(job["spec"]))
    except ImportError as error:
        problem = f"its data cannot be made here: {first_line(error)}"
        todo = f"install it, or bring the folder {job['inputs'][0]} along"
        raise UserError(str(job_file), f"{problem}; {todo}") from None


def run_digests(spec: dict[str, Any], code: dict[str, str]) -> hashing.Digests:
    """The digests of a run of some code, on the data set that the code here makes."""
    made_by = code_digest.code(code_digest.dataset_modules(spec))
    data = hashing.of_job("dataset", {"tasks": members.tasks(spec)}, made_by, [])
    return hashing.of_job("run", spec, code, [data, *parents.digests(spec)])
