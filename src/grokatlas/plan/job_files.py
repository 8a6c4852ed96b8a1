"""Job files: what a plan hands to its jobs, and how Snakemake learns which results are stale.

Snakemake compares times. Here they decide nothing by themselves: the manifest of a stale result is
dated `dates.STALE`, every job file `dates.WRITTEN`, a day later, and inputs that are up to date are
``ancient`` in the rules.
"""

import atexit
import json
import os
import shutil
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from grokatlas.errors import UserError
from grokatlas.plan import reasons
from grokatlas.results import dates, files, freshness

if TYPE_CHECKING:
    from grokatlas.plan.jobs import Job

FUTURE = 4_102_444_800  # the date of a dry run's own job files: the year 2100
DRY = Path(".snakemake/grokatlas")  # of job files of dry runs
LOCKS = Path(".snakemake/locks")  # of a Snakemake that runs in this folder


def write(jobs: "Iterable[Job]", states: dict[Path, freshness.State]) -> None:
    """Write the job files of a plan that is going to run, and date what is stale.

    A stale result is named in its job file (``replaces``), so that Snakemake remakes it whether or
    not it remembers the job file. Results that are up to date and dated in the future are dated
    back: Snakemake removes the outputs of a job that seem older than its inputs.

    Raises:
        UserError: a Snakemake that runs here still needs a job file that would change, or a file
            cannot be written.
    """
    jobs = list(jobs)
    texts = {job.target: text(job, states[job.target]) for job in jobs}
    texts_here = {job.target: _read(job.spec_path) for job in jobs}
    running = any(LOCKS.glob("*"))
    if running:
        _refuse_changes(jobs, texts_here, texts)
    for job in jobs:
        state, known = states[job.target], texts_here[job.target]
        if known != texts[job.target] and not (running and known is not None):
            try:
                files.write_text(job.spec_path, texts[job.target])
            except UserError:
                if state != "up to date":
                    raise  # else nobody needs it: the result may be on a disk that is only read
        if state == "up to date":
            dates.date_back([job.spec_path, *job.outputs, job.manifest], time.time())
            continue
        dates.date(job.spec_path, dates.WRITTEN)
        for file in [job.manifest] if job.manifest.exists() else job.outputs:
            if state == "stale" and file.exists() and file.stat().st_mtime >= dates.WRITTEN - 1:
                dates.date(file, dates.STALE)


def write_elsewhere(folder: Path, job: "Job", state: freshness.State) -> Path:
    """The job file of a plan that is not going to run, in a folder of its own.

    Args:
        folder: a temporary one, of this job alone. In it the file's name is the reason (`reasons`).
        job: of the plan.
        state: of its result; a stale one looks older than this file.
    """
    path = folder / (reasons.file_name(job) if state == "stale" else job.spec_path.name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text(job, state), encoding="utf-8")
    os.utime(path, (FUTURE, FUTURE))
    return path


def text(job: "Job", state: freshness.State) -> str:
    """The text of a job file.

    A result that is up to date keeps the digest that its manifest has, in whichever form; a job
    that is planned already keeps that of its job file, since a saved state of training names it.
    """
    content = job.content
    planned = freshness.manifest_or_none(job.spec_path) or {}
    if state == "absent" and job.matches(planned):
        content = {**content, "digest": planned["digest"]}
    elif state != "absent":
        digest = (freshness.manifest_or_none(job.manifest) or {}).get("digest", "unreadable")
        content = {**content, "digest" if state == "up to date" else "replaces": digest}
    return files.json_text(files.sealed(content))


def _read(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, ValueError):
        return None


def _core(text: str) -> Any:
    """The content of a job file but for what it replaces; None where it cannot be read."""
    try:
        content = json.loads(text).items()
    except (ValueError, AttributeError):
        return None
    return {key: value for key, value in content if key not in ("replaces", "seal")}


def _refuse_changes(
    jobs: "list[Job]", here: dict[Path, str | None], texts: dict[Path, str]
) -> None:
    """A plan that others execute must not change under them."""
    known = {job: text for job in jobs if (text := here[job.target]) is not None}
    if changed := [job for job, text in known.items() if _core(text) != _core(texts[job.target])]:
        problem = "a Snakemake that runs in this folder still needs its plan, and "
        problem += f"{len(changed)} job files would change, such as {changed[0].spec_path}; wait"
        problem += " until it ends, use another checkout, or `grokatlas unlock` if it was killed"
        raise UserError(str(LOCKS), problem)


def temporary_folder() -> Path:
    """A folder for the job files of a plan that is not going to run; removed with the process.

    It is below `.snakemake`, so that its paths, which Snakemake shows, are short.
    """
    try:
        DRY.mkdir(parents=True, exist_ok=True)
        folder = tempfile.mkdtemp(prefix="", dir=DRY)
    except OSError:  # of a folder that is only read
        folder = tempfile.mkdtemp(prefix="grokatlas-plan-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return Path(folder)
