"""The jobs that papers declare at a scale, which reads whose files, and their digests.

Pure functions of the configuration and of the source tree. Nothing here imports torch, pandas or
matplotlib: every cluster job parses the Snakefile.
"""

import functools
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from grokatlas import code_digest, registry
from grokatlas.declare import cells, layers, signatures
from grokatlas.declare.models import Paper
from grokatlas.engine import members
from grokatlas.registry import PACKAGE, module_name
from grokatlas.results import files, freshness, hashing, manifest

SITE = PACKAGE / "atlas"  # templates, styles and scripts of the atlas


@dataclass(frozen=True)
class Job:
    """One job of the workflow: what it makes, from what, under which digest.

    Attributes:
        kind: dataset, run, measure, table, figure, claims or atlas.
        target: the folder (dataset, run, atlas) or the stem (the others) of its files.
        spec: plain data that describes the job completely.
        code: digest of every module that it can reach.
        inputs: the jobs whose files it reads.
    """

    kind: str
    target: Path
    spec: dict[str, Any]
    code: dict[str, str]
    inputs: tuple["Job", ...] = ()

    @cached_property
    def digest(self) -> str:
        """Changes with the spec, the code or anything upstream, and with nothing else."""
        upstream = [job.digest for job in self.inputs]
        return hashing.of_job(self.kind, self.spec, self.code, upstream)

    @property
    def spec_path(self) -> Path:
        """The job file, which is the rule's first input."""
        return files.spec_path(self.kind, self.target)

    @property
    def manifest(self) -> Path:
        """The manifest that the job leaves."""
        return files.manifest_of(self.kind, self.target)

    @property
    def outputs(self) -> list[Path]:
        """The files that the job makes, without its manifest."""
        return files.outputs(self.kind, self.target)

    @property
    def files_read(self) -> list[Path]:
        """The files of every job that this one reads."""
        return [file for each in self.inputs for file in each.outputs]

    def state(self) -> freshness.State:
        """Whether its result is up to date, stale or absent now."""
        return freshness.state(self.kind, self.target, self.digest, self.files_read)

    @property
    def content(self) -> dict[str, Any]:
        """What the job file says."""
        return {
            "kind": self.kind,
            "spec": self.spec,
            "code": self.code,
            "digest": self.digest,
            "inputs": [str(job.target) for job in self.inputs],
        }


@dataclass
class Plan:
    """All jobs of one scale, by the wildcards of their rules."""

    scale: str
    datasets: dict[str, Job] = field(default_factory=dict)
    runs: dict[str, Job] = field(default_factory=dict)
    measures: dict[tuple[str, str], Job] = field(default_factory=dict)
    tables: dict[tuple[str, str], Job] = field(default_factory=dict)
    figures: dict[tuple[str, str], Job] = field(default_factory=dict)
    claims: dict[str, Job] = field(default_factory=dict)  # by the scale, as the atlas
    atlas: dict[str, Job] = field(default_factory=dict)
    sources: code_digest.Sources = field(default_factory=code_digest.Sources)
    _states: dict[Path, freshness.State] = field(default_factory=dict)

    @property
    def jobs(self) -> list[Job]:
        """Every job, upstream first."""
        groups = (self.datasets, self.runs, self.measures, self.tables, self.figures)
        return [job for group in (*groups, self.claims, self.atlas) for job in group.values()]

    def state(self, job: Job) -> freshness.State:
        """The state of a job's result when it was first asked for."""
        if job.target not in self._states:
            self._states[job.target] = job.state()
        return self._states[job.target]

    def states(self) -> dict[Path, freshness.State]:
        """The state of every job's result, by target."""
        return {job.target: self.state(job) for job in self.jobs}

    def is_up_to_date(self, job: Job) -> bool:
        """Whether a job's result is up to date."""
        return self.state(job) == "up to date"

    def look_again(self, targets: Iterable[Path]) -> list[Job]:
        """The jobs with these targets and all that depend on them; their states are forgotten."""
        found = set(targets)
        for job in self.jobs:
            if any(each.target in found for each in job.inputs):
                found.add(job.target)
        for target in found:
            self._states.pop(target, None)
        return [job for job in self.jobs if job.target in found]

    def inputs(self, job: Job) -> list[tuple[Path, bool]]:
        """Every file that a job reads, and whether it is up to date.

        A run that was made elsewhere waits for no data set that is not here.
        """
        without = job.kind == "run" and not all(map(Path.exists, job.files_read))
        without = without and self.is_up_to_date(job)
        if without and manifest.made_elsewhere(files.read_json(job.manifest)):
            return []
        return [(file, self.is_up_to_date(each)) for each in job.inputs for file in each.outputs]


def upstream(job: Job) -> list[Job]:
    """A job and all that it hangs on."""
    found = {job.target: job}
    for direct in job.inputs:
        found |= {each.target: each for each in upstream(direct)}
    return list(found.values())


def make_plan(papers: dict[str, Paper], scale: str) -> Plan:
    """Every job that the papers declare at a scale; equal cells become one run."""
    plan = Plan(scale)
    for name, paper in papers.items():
        for experiment in paper.experiments:
            _add_experiment(plan, name, paper, experiment)
        for figure, entry in paper.figures.items():
            stem = files.figure_stem(scale, name, figure)
            spec = {
                "figure": figure,
                "paper": name,
                "scale": scale,
                "experiments": entry.experiments,
            }
            tables = tuple(plan.tables[name, experiment] for experiment in entry.experiments)
            code = plan.sources.code(
                [f"grokatlas.papers.{name}.{figure}", "grokatlas.rules.rendering"]
            )
            plan.figures[name, figure] = Job("figure", stem, spec, code, tables)
    plan.claims[scale] = _claims(plan, papers)
    plan.atlas[scale] = _atlas(plan, papers)
    return plan


def _claims(plan: Plan, papers: dict[str, Paper]) -> Job:
    """The job that judges every claim, from the tables of those that the scale can judge."""
    declared, tables, modules = {}, {}, ["grokatlas.claims.judging"]
    for name, paper in papers.items():
        declared[name] = []
        for claim in paper.claims:
            experiments = paper.figures[claim.figure].experiments
            declared[name].append(claim.model_dump(mode="json") | {"experiments": experiments})
            modules.append(f"grokatlas.papers.{name}.claims")
            if plan.scale in claim.scales:
                jobs = [plan.tables[name, experiment] for experiment in experiments]
                tables |= {job.target: job for job in jobs}
    spec = {"scale": plan.scale, "papers": declared}
    stem = files.claims_stem(plan.scale)
    return Job("claims", stem, spec, plan.sources.code(modules), tuple(tables.values()))


def _atlas(plan: Plan, papers: dict[str, Paper]) -> Job:
    """The job that writes the atlas, from all figures and the claims."""
    told = {
        name: paper.model_dump(mode="json", include={"source", "deviations", "figures"})
        for name, paper in papers.items()
    }
    for name, paper in papers.items():
        for figure, entry in paper.figures.items():
            told[name]["figures"][figure]["sizes"] = _sizes(paper, entry.experiments, plan.scale)
    parts = sorted(file for file in SITE.rglob("*") if file.suffix in (".html", ".css", ".js"))
    spec = {
        "scale": plan.scale,
        "papers": told,
        "parts": {file.relative_to(SITE).as_posix(): hashing.file_sha256(file) for file in parts},
    }
    inputs = (*plan.figures.values(), *plan.claims.values())
    code = plan.sources.code(["grokatlas.atlas.build"])
    return Job("atlas", files.atlas_folder(plan.scale), spec, code, inputs)


def _sizes(paper: Paper, experiments: list[str], scale: str) -> dict[str, dict[str, list[Any]]]:
    """What of some experiments is not as published, by dotted name: values here and published."""
    found: dict[str, dict[str, list[Any]]] = {}
    for experiment in experiments:
        for case in paper.experiments[experiment].cases or [None]:
            blocks = [
                layers.of("", paper, experiment, case, at).blocks() for at in (scale, "paper")
            ]
            for path, here, published in layers.differences(*blocks):
                values = found.setdefault(path, {"here": [], "published": []})
                for place, value in (("here", here), ("published", published)):
                    if value not in values[place]:
                        values[place].append(value)
    return found


def _add_experiment(plan: Plan, name: str, paper: Paper, experiment: str) -> None:
    rows, inputs, modules = [], [], ["grokatlas.rules.tidy_table"]
    for cell in cells.resolve(name, paper, experiment, plan.scale):
        run = _add_run(plan, cell.spec)
        light = [each for each in cell.measures if each["name"] in light_measures()]
        jobs = [_add_measure(plan, run, each) for each in cell.measures if each not in light]
        row = {"case": cell.case, "label": cell.label, "run": run.target.name}
        row |= {"measures": [job.target.name for job in jobs]}
        rows.append(row | ({"light": light} if light else {}))
        inputs += [run, *jobs]
        modules += [module_name("measures", each["name"]) for each in light]
    spec = {"experiment": experiment, "paper": name, "scale": plan.scale, "cells": rows}
    stem = files.table_stem(plan.scale, name, experiment)
    code = plan.sources.code(modules)
    plan.tables[name, experiment] = Job(
        "table", stem, spec, code, tuple({job.target: job for job in inputs}.values())
    )


@functools.cache
def light_measures() -> set[str]:
    """The measures that the table's job computes, as their files say by ``LIGHT = True``."""
    known = registry.names("measures")
    return {name for name in known if signatures.defines("measures", name, "LIGHT")}


def _add_run(plan: Plan, spec: dict[str, Any]) -> Job:
    tasks = members.tasks(spec)
    data_spec = {"tasks": tasks}
    dataset = hashing.of(data_spec)[:12]
    if dataset not in plan.datasets:
        code = plan.sources.code(code_digest.dataset_modules(spec))
        plan.datasets[dataset] = Job("dataset", files.data_folder(dataset), data_spec, code)
    run = hashing.of(spec)[:12]
    if run not in plan.runs:
        code = plan.sources.code(code_digest.run_modules(spec))
        inputs = (plan.datasets[dataset],)
        plan.runs[run] = Job("run", files.run_folder(run), spec, code, inputs)
    return plan.runs[run]


def _add_measure(plan: Plan, run: Job, measure: dict[str, Any]) -> Job:
    name = cells.measure_id(measure)
    key = (run.target.name, name)
    if key not in plan.measures:
        model = module_name("model", run.spec["model"]["name"])  # a measure may rebuild networks
        code = plan.sources.code([module_name("measures", measure["name"]), model])
        stem = files.measure_stem(*key)
        inputs = (run, *run.inputs)
        plan.measures[key] = Job("measure", stem, {"measure": measure}, code, inputs)
    return plan.measures[key]
