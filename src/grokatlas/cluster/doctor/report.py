"""All checks, one after the other."""

from collections.abc import Iterator
from pathlib import Path

from grokatlas.cluster.doctor import (
    cluster,
    data,
    files,
    findings,
    forecast,
    gpu_runs,
    machine,
    software,
)
from grokatlas.cluster.doctor.findings import Finding
from grokatlas.errors import UserError
from grokatlas.plan import remaining, which_code
from grokatlas.plan.jobs import Job
from grokatlas.plan.project import Project


def main(scale: str | None, submit: bool) -> int:
    """Print every finding as soon as it is known.

    Returns:
        1 if one fails, else 0.
    """
    states = set()
    for finding in _findings(scale, submit):
        print(finding, flush=True)
        states.add(finding.state)
    return 1 if "fail" in states else 0


def _findings(scale: str | None, submit: bool) -> Iterator[Finding]:
    """Look at everything that a long run at a scale needs."""
    folder = Path()
    try:
        which_code.refuse_unfit_path()
        want = remaining.at(scale)
    except UserError as error:
        yield Finding("fail", "plan", str(error))
        return
    project, runs = want.project, [job for job in want.jobs if job.kind == "run"]
    missing = remaining.unmade(want.jobs)
    counts = f"{len(want.plan.figures)} figures of {len(runs)} runs at scale {want.plan.scale}"
    yield Finding("ok", "plan", counts)
    yield from findings.of("settings", _settings, project)
    yield from findings.of("commit", software.commit)
    yield from findings.of("packages", software.packages, folder)
    yield from findings.of("home", files.cache)
    yield from findings.of("temporary", files.temporary)
    yield from findings.of("cluster", cluster.look, missing, project.settings.device, submit)
    yield from findings.of("gpu", machine.gpus, missing, project.settings.device)
    yield from findings.of("capture", gpu_runs.look, missing, project.settings.device)
    yield from findings.of("disk", machine.disk, missing)
    yield from _files(missing)
    yield from findings.of("data", data.images, missing)
    yield from findings.of("lock", machine.lock, folder)
    yield from findings.of("forecast", forecast.look, missing, want.plan.scale, project.settings)


def _files(missing: list[Job]) -> Iterator[Finding]:
    """The disk of the results; its locks are tried only where a file can be written."""
    written = findings.of("writing", files.writing, missing)
    yield from written
    if all(each.state == "ok" for each in written):
        yield from findings.of("flock", files.locks)


def _settings(project: Project) -> Iterator[Finding]:
    """The folders that the configuration names; from here on they are in the environment."""
    project.prepare_jobs()
    keys = ("device", "data_dir", "run_store")
    named = {key: getattr(project.settings, key) for key in keys}
    yield Finding("ok", "settings", ", ".join(f"{key}: {value}" for key, value in named.items()))
