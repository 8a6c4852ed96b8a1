"""Write the results of one scale as a Workflow Run RO-Crate: the files and their `provenance`."""

import json
from pathlib import Path

from grokatlas import registry
from grokatlas.errors import UserError
from grokatlas.export import archive, archive_files, closure, ro_crate_metadata, sources
from grokatlas.export.archive_files import FileToPack
from grokatlas.results.result import Result

METADATA = "ro-crate-metadata.json"
SOURCES = ("workflow/rules/*.smk", "config/papers/*/*.yaml", "LICENSE", "*.lock")


def write(out: Path, scale: str | None) -> str:
    """Write the crate of a scale; a line on what was written.

    Args:
        out: a path that ends in .zip.
        scale: smoke, quick or paper; None where only one was made.

    Raises:
        UserError: a result is not sound or not whole, or there is no workflow here.
    """
    if out.suffix != ".zip":
        raise UserError(str(out), "a crate is a .zip; give such a path")
    scale = scale or closure.only_scale()
    results = closure.collect(scale)
    members = _sources() + [m for result in results for m in _files(result)]
    described = ro_crate_metadata.describe(results, members, scale)
    text = json.dumps(described, indent=1, ensure_ascii=False).encode()
    archive_files.write(out, [FileToPack.of_text(METADATA, text), *members])
    return f"wrote {out}: {len(results)} jobs and {len(members)} files at scale {scale}"


def _files(result: Result) -> list[FileToPack]:
    """Job file and outputs of a result; not its manifest, which names hosts and people."""
    for name in result.outputs:
        if not Path(name).exists():
            raise UserError(name, "is missing; a crate needs every file, so make or adopt it")
    job_file, _ = result.records
    members = archive.files(result, archive.everything)
    return [m for m in members if m.name == job_file or m.name in result.outputs]


def _sources() -> list[FileToPack]:
    """The workflow and its configuration, as they lie here."""
    workflow = Path(ro_crate_metadata.WORKFLOW)
    if not workflow.is_file():
        problem = "no such file; run this in a checkout, as a crate holds its workflow"
        raise UserError(ro_crate_metadata.WORKFLOW, problem)
    if registry.study() is not None:
        files = [file for file in sources.of_study() if file.name != sources.SETTINGS]
        return sorted(files, key=lambda file: file.name != ro_crate_metadata.WORKFLOW)
    paths = [workflow, *(path for glob in SOURCES for path in registry.own_files(Path(), glob))]
    return [FileToPack.of_file(path.as_posix(), path) for path in paths]
