"""The runs that a run starts from: their snapshots, and that they are those it was planned with."""

from pathlib import Path
from typing import Any

from grokatlas.errors import UserError
from grokatlas.results import files, hashing, layout


def snapshots(job: dict[str, Any]) -> list[Path]:
    """The files of snapshots that a run reads; none unless it starts from others."""
    return [layout.snapshots_of(run) for run in _folders(job["spec"])]


def digests(spec: dict[str, Any]) -> list[hashing.Digests]:
    """The digests of the runs that a spec names, as they were planned."""
    return [_planned(run).digests for run in _folders(spec)]


def start(job_file: Path, job: dict[str, Any]) -> Any:
    """The start of the members (`engine.start.Start`); None for a run that begins by itself.

    Raises:
        UserError: a parent, or its snapshot, is not here, or it is another than was planned.
    """
    if "start" not in job["spec"]:
        return None
    from grokatlas.engine import start as engine

    parents = [_read(job_file, run, job["spec"]["start"]["step"]) for run in _folders(job["spec"])]
    return engine.gathered(job["spec"], parents)


def _folders(spec: dict[str, Any]) -> list[Path]:
    return [layout.run_folder(run) for run in spec.get("start", {}).get("runs", [])]


def _read(job_file: Path, run: Path, step: int) -> tuple[dict[str, Any], dict[str, Any]]:
    """The spec of a parent, and the arrays of its snapshot at a step."""
    file, todo = layout.snapshots_of(run), "run `snakemake`, which makes it"
    if not file.exists():
        problem = f"it starts from {file}, which is not here (an archive may have left it out)"
        raise UserError(str(job_file), f"{problem}; {todo}")
    manifest = files.read_sealed(layout.manifest_of("run", run))
    if not _planned(run).matches(manifest):
        raise UserError(str(job_file), f"{run} is another run than it was planned with; {todo}")
    arrays, _ = files.read_arrays(file)
    before = f"{step:010d}/"
    return manifest["spec"], {
        key.removeprefix(before): array for key, array in arrays.items() if key.startswith(before)
    }


def _planned(run: Path) -> Any:
    from grokatlas.plan.written_jobs import read_job  # reads configurations, as few runs need to

    return read_job("run", run)
