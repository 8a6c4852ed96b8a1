"""Rules `figure` and `published_table`: one figure, or one table of a paper, and its data."""

from pathlib import Path
from typing import Any

from grokatlas.results import files, layout
from grokatlas.results.manifest import ManifestWriter
from grokatlas.rules.jobs.job_file import read_job_file
from grokatlas.rules.partial import at_hand, note_gaps


def execute(job_file: Path, stem: Path, earlier: bool = False) -> None:
    """Draw a figure, or set a table.

    Args:
        job_file: the job's file.
        stem: where the files go, without suffix.
        earlier: also draw from tables that earlier code made; the manifest then says so.
    """
    from grokatlas.declare import renaming
    from grokatlas.rules import rendering

    job = read_job_file(job_file, "figure")
    spec = job["spec"]
    stems = layout.table_stems(spec["scale"], spec["paper"], spec["experiments"])
    inputs = {name: layout.outputs("table", table)[0] for name, table in stems.items()}
    writer = ManifestWriter(job, list(inputs.values()))
    frames = {k: renaming.columns_today(files.read_parquet(file)) for k, file in inputs.items()}
    drawn = layout.outputs("figure", stem)
    rendering.render(spec, frames, drawn, _origin(job, frames, writer))
    if earlier:
        note_gaps(writer, {table: at_hand("table", table) for table in stems.values()})
    writer.write(layout.manifest_of("figure", stem), drawn)


def _origin(job: dict[str, Any], frames: dict[str, Any], writer: ManifestWriter) -> str:
    """The origin that a figure's files name: the job's digest, the commit, the runs."""
    git = writer.revision["git"]
    commit = _commit(git) or "unknown"
    if "study" in writer.revision:
        commit += f"; study commit {_commit(writer.revision['study']) or 'in no repository'}"
    runs = sorted({str(run) for frame in frames.values() for run in frame["run"].unique()})
    return f"digest {job['digest']}; commit {commit}; runs {' '.join(runs)}"


def _commit(git: dict[str, Any] | None) -> str:
    """A commit, and that files differ from it; empty where it is not known."""
    return git["commit"] + (" dirty" if git["dirty"] else "") if git else ""
