"""The jobs that figures of a scale need, made or not, read without writing anything."""

from dataclasses import dataclass
from pathlib import Path

from grokatlas.declare.names import CONFIG
from grokatlas.errors import UserError, nearest, shown
from grokatlas.plan.jobs import Job, Plan, with_ancestors
from grokatlas.plan.project import Project
from grokatlas.results import layout


@dataclass(frozen=True)
class Remaining:
    """The jobs of a scale's figures.

    Attributes:
        jobs: those that figures need, upstream first.
    """

    project: Project
    plan: Plan
    jobs: list[Job]


def at(scale: str | None, folder: Path = CONFIG) -> Remaining:
    """The jobs that a checkout's figures need."""
    if scale is not None and scale not in layout.SCALES:
        hint = nearest(str(scale), [*layout.SCALES])
        raise UserError("scale", f"{shown(scale)} is not allowed; {hint}")
    if not (folder / "config.yaml").is_file():
        raise UserError(str(folder / "config.yaml"), "no such file; run this in the checkout")
    project = Project(folder, {}, warn=lambda text: None)
    plan = project.at(scale or project.settings.scale)
    needed = {job.target for job in with_ancestors(plan.figures.values())}
    return Remaining(project, plan, [job for job in plan.jobs if job.target in needed])


def main(scale: str | None) -> str:
    """Write every job file of a scale, and run nothing."""
    remaining = at(scale)
    count = len(remaining.project.prepare(remaining.plan.scale).jobs)
    return f"{count} job files of scale {remaining.plan.scale} are in {layout.RESULTS}"


def unmade(jobs: list[Job]) -> list[Job]:
    """Those that the workflow would make for figures: not made, and needed by one that is not made.

    What a finished figure or table was made from may be absent, as after `grokatlas adopt` of
    tables alone.
    """
    unmade_jobs: list[Job] = []
    needed: set[Path] = set()
    for job in reversed(jobs):
        if (job.kind == "figure" or job.target in needed) and not made(job):
            unmade_jobs.append(job)
            needed |= {upstream.target for upstream in job.inputs}
    return unmade_jobs[::-1]


def made(job: Job) -> bool:
    """Tell if a job's result is up to date and all its files exist."""
    return job.state() == "up to date" and all(file.exists() for file in job.outputs)
