"""The jobs that the checkout plans now, at every scale, without writing anything."""

from collections.abc import Collection
from pathlib import Path
from typing import Any

from grokatlas.declare import starts, versions
from grokatlas.declare.models import PAPER, Paper
from grokatlas.declare.names import CONFIG, PAPERS
from grokatlas.declare.papers import load_papers, select
from grokatlas.declare.settings import load_settings
from grokatlas.errors import UserError
from grokatlas.plan import cache, summaries
from grokatlas.plan.graph import declare, make_plan
from grokatlas.plan.jobs import Job, Plan
from grokatlas.plan.project import Project
from grokatlas.plan.summaries import AtHand
from grokatlas.results import files, layout
from grokatlas.results.layout import SCALES


def jobs(
    folder: Path = CONFIG, results: Path = layout.RESULTS, next_call: bool = False
) -> dict[str, Job] | None:
    """Every declared job of every paper and scale, upstream first, by target.

    Args:
        folder: the configuration; None is returned where it has no ``config.yaml``.
        results: the tree that is judged: claims and pages are planned as they were made there, of
            these papers, tables and figures.
        next_call: plan claims and pages as the next call of ``snakemake`` makes them, with what
            ``config.yaml`` selects.
    """
    if not (folder / "config.yaml").is_file():
        return None
    project = Project(folder, {"papers": "all"}, warn=lambda text: None)
    selected = project
    if next_call and load_settings(folder / "config.yaml", {}).papers != "all":
        selected = Project(folder, {}, warn=lambda text: None)
    declared: dict[str, Job] = {}
    for scale in SCALES:
        for job in project.at(scale).jobs:
            declared.setdefault(job.target.as_posix(), job)
        plan = selected.at(scale)
        (judged,), (pages,) = plan.claims.values(), plan.atlas.values()
        if not next_call:
            judged = _as_made(results, judged, plan, project.papers)
            pages = _as_made(results, pages, plan, project.papers, judged)
        declared |= {job.target.as_posix(): job for job in (judged, pages)}
    return declared


def of_paper(paper: str, scale: str, names: Collection[str]) -> dict[str, Job]:
    """The jobs of some of a paper's figures and tables at one scale, upstream first, by target."""
    papers = load_papers(PAPERS, [paper])
    cache.check_once(papers)
    own = papers[paper]
    figures = {key: figure for key, figure in own.figures.items() if key in names}
    read = (table for figure in figures.values() for table in versions.tables(paper, figure))
    wanted = {name for owner, name in read if owner == paper} | (own.experiments.keys() & {*names})
    related = starts.related(own.experiments, wanted)
    experiments = {key: experiment for key, experiment in own.experiments.items() if key in related}
    narrowed = own.model_copy(update={"figures": figures, "experiments": experiments})
    plan = Plan(scale)
    declare(plan, select(papers | {paper: narrowed}, [paper]))
    return {job.target.as_posix(): job for job in plan.jobs}


def behind(
    chosen: Collection[str], needed: Collection[str], results: Path = layout.RESULTS
) -> dict[str, Job] | None:
    """The jobs that tell if some results are current: those behind figures and tables if enough.

    Args:
        chosen: targets; where each is of a figure or table, only what is behind it is planned.
        needed: targets that have to be among the jobs, else all that is declared is planned.
        results: as for `jobs`.
    """
    names: dict[tuple[str, str] | None, set[str]] = {}
    for target in chosen if (CONFIG / "config.yaml").is_file() else ():
        names.setdefault(_paper_and_scale(target), set()).add(Path(target).name)
    declared: dict[str, Job] = {}
    for home, own in names.items():
        if home and (PAPERS / home[0] / PAPER).is_file():
            declared |= of_paper(*home, own)
    return declared if declared.keys() >= {*needed} and declared else jobs(results=results)


def _paper_and_scale(target: str) -> tuple[str, str] | None:
    """The paper and the scale of a figure's or table's target; None of any other."""
    _, scale, kind, paper, *_ = [*target.split("/"), "", "", ""]
    return (paper, scale) if scale in SCALES and kind in ("figures", "tables") else None


def _as_made(
    results: Path, job: Job, plan: Plan, papers: dict[str, Paper], judged: Job | None = None
) -> Job:
    """The claims or pages of a plan, of what those in a tree were made of, else planned of."""
    for file in (job.manifest, job.spec_path):
        try:
            content = files.read_sealed(results / file.relative_to(layout.RESULTS))
            names, earlier = list(content["spec"]["papers"]), content["spec"].get("earlier", {})
            targets = _made_of(content)
        except (UserError, KeyError, TypeError):
            continue
        if not set(names) <= set(papers):
            return job
        chosen = select(papers, names)
        own = plan if chosen == papers else make_plan(chosen, plan.scale)
        at_hand = AtHand(targets - earlier.keys(), earlier)
        if judged is None:
            return summaries.claims(own, chosen, at_hand)
        return summaries.atlas(own, chosen, at_hand, judged)
    return job


def _made_of(content: dict[str, Any]) -> set[str]:
    """The tables or figures that a manifest, or a job file, of claims or pages is about."""
    if "outputs" not in content:
        return set(content["inputs"])
    owners = filter(None, map(layout.owner, content["inputs"]))
    return {target for _, target in owners}.union(content.get("partial", {}).get("absent", []))


def scale() -> str | None:
    """The scale that ``config.yaml`` names, if there is one."""
    file = CONFIG / "config.yaml"
    return load_settings(file, {}).scale if file.is_file() else None
