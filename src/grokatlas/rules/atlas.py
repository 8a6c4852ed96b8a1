"""Rule `atlas`: one static folder of pages."""

import sys
from pathlib import Path

from grokatlas.errors import UserError
from grokatlas.results import files, layout
from grokatlas.results.manifest import ManifestWriter
from grokatlas.rules import claims
from grokatlas.rules.jobs.job_file import read_job_file
from grokatlas.rules.partial import CURRENT, at_hand, earlier, note_gaps


def main(job_file: Path | None, out: Path | None, partial: bool, scale: str | None) -> str | None:
    """Write pages from a job file, or from the results that exist.

    Args:
        job_file: the planned atlas's; None for that of the scale.
        out: folder of the pages; beside the job file if they are made from what exists.
        partial: use what exists, with a job file too.
        scale: without job file, whose pages; the configured one if None.

    Returns:
        the first page, if the pages were made from what exists.
    """
    if job_file is not None and not partial:
        if out and not _may_be_replaced(out):
            problem = f"{out} holds something else, which the pages would replace"
            raise UserError("--out", f"{problem}; give a new folder")
        execute(job_file, out or layout.target_of(job_file))
        return None
    if out is not None:
        problem = "is for a job file without --partial; leave it out, and copy the folder"
        raise UserError("--out", f"{problem} of the page that is printed")
    return str(from_what_is_there(job_file or atlas_job_file(scale)))


def _may_be_replaced(folder: Path) -> bool:
    """Tell if a folder is new or empty, or has pages of an atlas and nothing else."""
    from grokatlas.atlas import build

    if not folder.is_dir():
        return not folder.exists()
    there = {file.name for file in folder.iterdir()}
    if not there:
        return True
    try:
        pages = files.read_sealed(layout.manifest_of("atlas", folder))
    except UserError:
        return False
    return pages.get("kind") == "atlas" and there <= {*pages["outputs"], *build.KEPT}


def execute(job_file: Path, folder: Path, partial: bool = False) -> None:
    """Write the pages.

    Args:
        job_file: the job's file.
        folder: of the pages.
        partial: show what is there, and what is not as such; otherwise everything has to be, but
            for figures of papers that are not selected.
    """
    from grokatlas.atlas import build

    job = read_job_file(job_file, "atlas")
    targets = {Path(target): layout.kind_of(Path(target)) for target in job["inputs"]}
    ages = {t: at_hand(kind, t) if partial else CURRENT for t, kind in targets.items()}
    ages |= earlier(job["spec"])
    there = [target for target in ages if ages[target]]
    shown = [file for target in there for file in layout.outputs(layout.kind_of(target), target)]
    for file in shown:
        files.verified(file)
    writer = ManifestWriter(job, shown)
    made = build.write(job["spec"], ages, folder)
    if partial:
        note_gaps(writer, ages)
    writer.write(layout.manifest_of("atlas", folder), made)


def from_what_is_there(atlas_job: Path) -> Path:
    """Claims and atlas from the results that are here; prints on stderr how many are missing."""
    inputs = [Path(target) for target in read_job_file(atlas_job, "atlas")["inputs"]]
    (stem,) = (target for target in inputs if layout.kind_of(target) == "claims")
    claims.execute(layout.spec_path("claims", stem), stem, partial=True)
    folder = layout.target_of(atlas_job)
    execute(atlas_job, folder, partial=True)
    gaps = files.read_json(layout.manifest_of("atlas", folder)).get("partial", {})
    for age, text in (("absent", "not made yet"), ("earlier", "made by earlier code")):
        if gaps.get(age):
            print(f"{len(gaps[age])} of {len(inputs)} results are {text}", file=sys.stderr)
    return layout.outputs("atlas", folder)[0]


def atlas_job_file(scale: str | None) -> Path:
    """The job file of the atlas of this checkout's scale, written with all others of the plan."""
    from grokatlas.plan import remaining

    want = remaining.at(scale)
    (job,) = want.project.prepare(want.plan.scale).atlas.values()
    return job.spec_path
