"""What the checkout plans now, at every scale, without writing anything."""

from pathlib import Path

from grokatlas.declare.models import Paper
from grokatlas.declare.papers import select
from grokatlas.errors import UserError
from grokatlas.plan.graph import make_plan
from grokatlas.plan.jobs import Job
from grokatlas.plan.project import Project
from grokatlas.results import files, layout
from grokatlas.results.layout import SCALES

CONFIG = Path("config")


def jobs(folder: Path = CONFIG, results: Path = layout.RESULTS) -> dict[str, Job] | None:
    """Every declared job of every paper and scale, upstream first, by target.

    Args:
        folder: the configuration; None is returned where it has no ``config.yaml``.
        results: the tree that is judged: claims and atlas are planned for its selection of papers.

    Raises:
        UserError: for a mistake in the configuration.
    """
    if not (folder / "config.yaml").is_file():
        return None
    project = Project(folder, {"papers": "all"}, warn=lambda text: None)
    found: dict[str, Job] = {}
    for scale in SCALES:
        for job in make_plan(project.papers, scale).jobs:
            found.setdefault(job.target.as_posix(), job)
        chosen = _selection(results, scale, project.papers)
        if chosen != project.papers:
            plan = make_plan(chosen, scale)
            summaries = (*plan.claims.values(), *plan.atlas.values())
            found |= {job.target.as_posix(): job for job in summaries}
    return found


def _selection(results: Path, scale: str, papers: dict[str, Paper]) -> dict[str, Paper]:
    """The papers that a tree's claims were made for, else planned for; all if nothing tells."""
    stem = layout.claims_stem(scale)
    for file in (layout.manifest_of("claims", stem), layout.spec_path("claims", stem)):
        try:
            content = files.read_sealed(results / file.relative_to(layout.RESULTS))
            names = list(content["spec"]["papers"])
        except (UserError, KeyError, TypeError):
            continue
        return select(papers, names) if set(names) <= set(papers) else papers
    return papers


def scale(folder: Path = CONFIG) -> str | None:
    """The scale that ``config.yaml`` names, if there is one."""
    if not (folder / "config.yaml").is_file():
        return None
    return Project(folder, {}, warn=lambda text: None).settings.scale
