"""The two jobs over all papers of a scale: claims and pages.

A selection of papers says what is made. Claims and pages are of the selected papers and of all
others of which figures are here: of these they take what is here, and make nothing.
"""

from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from grokatlas import registry, text
from grokatlas.declare import interpretations, overlays, versions
from grokatlas.declare.models import Paper
from grokatlas.plan import recorded_studies
from grokatlas.plan.jobs import Job, Plan
from grokatlas.registry import PACKAGE
from grokatlas.results import foreign as foreign_runs
from grokatlas.results import freshness, hashing, layout

SITE = PACKAGE / "atlas"  # templates, styles and scripts of the atlas


@dataclass(frozen=True)
class AtHand:
    """The tables and figures that claims and pages are made of.

    Attributes:
        current: targets of those that are made, or here, as this checkout makes them.
        earlier: of those that earlier code made and that are not made again: digests by target.
    """

    current: set[str]
    earlier: dict[str, str] = field(default_factory=dict)

    def split(self, jobs: list[Job]) -> tuple[tuple[Job, ...], dict[str, dict[str, str]]]:
        """The jobs among some whose results are current, and what a spec says of the earlier."""
        targets = [job.target.as_posix() for job in jobs]
        earlier = {target: self.earlier[target] for target in targets if target in self.earlier}
        current = tuple(job for job in jobs if job.target.as_posix() in self.current)
        return current, {"earlier": earlier} if earlier else {}


def add(plan: Plan, whole: Plan, papers: dict[str, Paper]) -> None:
    """Plan claims and pages.

    Args:
        plan: of all that is made; gets the two jobs.
        whole: this, and the tables and figures of other papers.
        papers: all of these.
    """
    at_hand = _at_hand(plan, whole)
    papers = dict(sorted(papers.items()))  # the same job, whatever is selected
    plan.besides = {Path(target) for target in at_hand.current} - {job.target for job in plan.jobs}
    plan.claims[plan.scale] = claims(whole, papers, at_hand)
    plan.atlas[plan.scale] = atlas(whole, papers, at_hand, plan.claims[plan.scale])


def _at_hand(plan: Plan, whole: Plan) -> AtHand:
    """The tables and figures that a plan makes, and those of others that are here."""
    current = {job.target.as_posix() for job in plan.jobs}
    earlier: dict[str, str] = {}
    for job in (*whole.tables.values(), *whole.figures.values()):
        target = job.target.as_posix()
        if target in current or not all(file.exists() for file in job.outputs):
            continue
        content = freshness.manifest_or_none(job.manifest) or {}
        if whole.is_up_to_date(job):
            current.add(target)
        elif content.get("spec") == job.spec:
            earlier[target] = str(content.get("digest"))
    return AtHand(current, earlier)


def claims(plan: Plan, papers: dict[str, Paper], at_hand: AtHand) -> Job:
    """The job that judges every claim, from the tables of those that the scale can judge."""
    declared: dict[str, list[dict[str, Any]]] = {
        name: [] for name, paper in papers.items() if paper.figures
    }
    tables, modules = {}, ["grokatlas.claims.judging", "grokatlas.claims.controls"]
    for name, paper in papers.items():
        for claim in paper.claims:
            entry = versions.declared_claim(papers, name, claim)
            declared[name].append(entry)
            modules.append(entry["module"])
            if plan.scale in claim.scales:
                entry |= so_far(plan, name, entry["read"])
                if marks := foreign(plan, name, entry["read"]):
                    entry["foreign"] = marks
                for experiment in entry["experiments"]:
                    job = plan.tables[layout.owner_of_table(name, experiment)]
                    tables[job.target] = job
    spec: dict[str, Any] = {"scale": plan.scale, "papers": declared}
    if judgements := _under_interpretations(plan, papers, tables):
        spec["interpretations"] = judgements
        modules.append("grokatlas.claims.interpretations")
    inputs, earlier = at_hand.split(list(tables.values()))
    stem = layout.claims_stem(plan.scale)
    return Job("claims", stem, spec | earlier, plan.sources.code(modules), inputs)


def _under_interpretations(
    plan: Plan, papers: dict[str, Paper], tables: dict[Path, Job]
) -> dict[str, list[dict[str, Any]]]:
    """Claims under other interpretations by paper; the tables that they need join `tables`.

    A table of a paper that is not selected is not made: what it would hold is shown as absent.
    """
    by_paper: dict[str, list[dict[str, Any]]] = {}
    for name, paper in papers.items():
        skipped = {e.id for e in paper.claims if versions.same_claim(papers, name, e)}
        at_scale = {claim.id: claim for claim in paper.claims if plan.scale in claim.scales}
        for judgement in interpretations.judgements(papers, name, skipped):
            entry = asdict(judgement)
            if claim := at_scale.get(judgement.claim):
                read = claim.read(paper.figures[claim.figure].experiments)
                named = [_instead(judgement, experiment) for experiment in read]
                planned = [e for e in named if layout.owner_of_table(name, e) in plan.tables]
                entry |= so_far(plan, name, planned)
                jobs = [plan.tables[layout.owner_of_table(name, e)] for e in planned]
                tables |= {job.target: job for job in jobs}
            by_paper.setdefault(name, []).append(entry)
    return by_paper


def _instead(judgement: interpretations.Judgement, experiment: str) -> str:
    """The experiment whose table a claim reads under an interpretation, for one of its figure."""
    other = judgement.instead.get(experiment.rpartition("/")[2])
    return other["table"] if other else experiment


def atlas(plan: Plan, papers: dict[str, Paper], at_hand: AtHand, judged: Job) -> Job:
    """The job that writes the pages, from figures and the claims."""
    shown = {
        name: paper.model_dump(
            mode="json", include={"source", "deviations", "figures", "interpretations", "findings"}
        )
        for name, paper in papers.items()
        if paper.figures
    }
    for name, paper in papers.items():
        if name in shown:
            shown[name]["why"] = {claim.id: claim.why for claim in paper.claims if claim.why}
            shares = {
                claim.id: so_far(plan, name, claim.read(paper.figures[claim.figure].experiments))
                for claim in paper.claims
            }
            shown[name]["so_far"] = {key: share["so_far"] for key, share in shares.items() if share}
        for key in paper.interpretations:
            choices = interpretations.choices(paper, key)
            shown[name]["interpretations"][key]["choices"] = choices
        for figure, entry in paper.figures.items():
            sizes = _sizes(papers, name, entry.experiments, plan.scale)
            shown[name]["figures"][figure]["sizes"] = sizes
            shown[name]["figures"][figure] |= so_far(plan, name, entry.experiments)
    spec = {
        "scale": plan.scale,
        "papers": shown,
        "parts": {file.relative_to(SITE).as_posix(): hashing.file_sha256(file) for file in parts()},
    }
    if studies := recorded_studies.shown():
        spec["studies"] = studies
    figures = [plan.figures[name, figure] for name in shown for figure in papers[name].figures]
    inputs, earlier = at_hand.split(figures)
    code = plan.sources.code(["grokatlas.atlas.build"])
    return Job("atlas", layout.atlas_folder(plan.scale), spec | earlier, code, (*inputs, judged))


def parts() -> list[Path]:
    """The templates, styles and scripts of the pages."""
    files = registry.own_files(SITE, "**/*")
    return [file for file in files if file.suffix in (".html", ".css", ".js")]


def _sizes(
    papers: dict[str, Paper], name: str, experiments: list[str], scale: str
) -> dict[str, dict[str, list[Any]]]:
    """The settings that are not as published, by dotted name: values here and published."""
    sizes: dict[str, dict[str, list[Any]]] = {}
    for reference in experiments:
        owner, experiment = layout.owner_of_table(name, reference)
        paper = papers[owner]
        for case in paper.experiments[experiment].cases or [None]:
            own, full = (
                overlays.of(owner, paper, experiment, case, at).blocks() for at in (scale, "paper")
            )
            for path, here, published in overlays.differences(own, full):
                values = sizes.setdefault(path, {"here": [], "published": []})
                for place, value in (("here", here), ("published", published)):
                    if value not in values[place]:
                        values[place].append(value)
    return sizes


def so_far(plan: Plan, name: str, experiments: list[str]) -> dict[str, str]:
    """The share of all values that tables have, as ``so_far``; nothing where they have all."""
    tables = {each: plan.tables[layout.owner_of_table(name, each)] for each in experiments}
    shares = {each: text.so_far(job.spec.get("so_far", [])) for each, job in tables.items()}
    if len(set(shares.values())) > 1:
        shares = {each: f"{each}: {shown}" for each, shown in shares.items() if shown}
    shown = "; ".join(dict.fromkeys(shares.values()))
    return {"so_far": shown} if shown else {}


def foreign(plan: Plan, name: str, experiments: list[str]) -> str:
    """The mark of tables whose runs the engine did not train; empty where it trained all."""
    tables = ((each, plan.tables[layout.owner_of_table(name, each)]) for each in experiments)
    named = (
        (each, job.spec) for each, table in tables for job in table.inputs if job.kind == "run"
    )
    return foreign_runs.note(named)
