"""The jobs that papers declare at a scale, which reads whose files, and their digests.

Pure functions of the configuration and of the source tree. Nothing here imports torch, pandas or
matplotlib: every cluster job parses the Snakefile.
"""

import functools
from collections import Counter
from dataclasses import asdict
from pathlib import Path
from typing import Any

from grokatlas import code_digest, registry, text
from grokatlas.declare import cells, layers, other_readings, signatures, versions
from grokatlas.declare.models import Paper
from grokatlas.engine import members
from grokatlas.plan.jobs import Job, Plan
from grokatlas.registry import PACKAGE, module_name
from grokatlas.results import hashing, layout

SITE = PACKAGE / "atlas"  # templates, styles and scripts of the atlas


def make_plan(papers: dict[str, Paper], scale: str) -> Plan:
    """Every job that the papers declare at a scale; equal cells become one run."""
    plan = Plan(scale)
    for name, paper in papers.items():
        for experiment in paper.experiments:
            _add_experiment(plan, name, paper, experiment)
    for name, paper in papers.items():
        for figure in paper.figures:
            plan.figures[name, figure] = _figure(plan, name, paper, figure)
    plan.claims[scale] = _claims(plan, papers)
    plan.atlas[scale] = _atlas(plan, papers)
    return plan


def _figure(plan: Plan, name: str, paper: Paper, figure: str) -> Job:
    """The job that draws a figure, from the tables of its paper or of others."""
    entry = paper.figures[figure]
    module = versions.figure_module(name, paper, figure)
    spec = {
        "figure": figure,
        "paper": name,
        "scale": plan.scale,
        "experiments": entry.experiments,
        "module": module,
        "published": entry.published,
        # of the published size: beside smaller curves they would say nothing
        "readings": versions.readings(paper, figure) if plan.scale == "paper" else [],
    }
    spec |= _so_far(plan, name, entry.experiments)
    if entry.quick_note and plan.scale != "paper":
        spec["quick_note"] = entry.quick_note
    if entry.undrawn:
        spec["undrawn"] = entry.undrawn
    tables = [plan.tables[layout.owner_of_table(name, each)] for each in entry.experiments]
    code = plan.sources.code([module, "grokatlas.rules.rendering"])
    stem = layout.figure_stem(plan.scale, name, figure)
    return Job("figure", stem, spec, code, tuple(tables))


def _claims(plan: Plan, papers: dict[str, Paper]) -> Job:
    """The job that judges every claim, from the tables of those that the scale can judge."""
    declared: dict[str, list[dict[str, Any]]] = {
        name: [] for name, paper in papers.items() if paper.figures
    }
    tables, modules = {}, ["grokatlas.claims.judging"]
    for name, paper in papers.items():
        for claim in paper.claims:
            entry = versions.declared_claim(papers, name, claim)
            declared[name].append(entry)
            modules.append(entry["module"])
            if plan.scale in claim.scales:
                entry |= _so_far(plan, name, entry["experiments"])
                for each in entry["experiments"]:
                    job = plan.tables[layout.owner_of_table(name, each)]
                    tables[job.target] = job
    spec: dict[str, Any] = {"scale": plan.scale, "papers": declared}
    if found := _under_other_readings(plan, papers, tables):
        spec["other_readings"] = found
        modules.append("grokatlas.claims.other_readings")
    stem = layout.claims_stem(plan.scale)
    return Job("claims", stem, spec, plan.sources.code(modules), tuple(tables.values()))


def _under_other_readings(
    plan: Plan, papers: dict[str, Paper], tables: dict[Path, Job]
) -> dict[str, list[dict[str, Any]]]:
    """By paper, its claims under other readings; the tables that these need are added to `tables`.

    A table of a paper that is not selected is not made: what it would hold is told as absent.
    """
    found: dict[str, list[dict[str, Any]]] = {}
    for name, paper in papers.items():
        skipped = {e.id for e in paper.claims if versions.same_claim(papers, name, e)}
        at_scale = {claim.id for claim in paper.claims if plan.scale in claim.scales}
        for each in other_readings.judgements(papers, name, skipped):
            entry, named = asdict(each), [told["table"] for told in each.instead.values()]
            made = [e for e in named if layout.owner_of_table(name, e) in plan.tables]
            if each.claim in at_scale:
                entry |= _so_far(plan, name, made)
                jobs = [plan.tables[layout.owner_of_table(name, e)] for e in made]
                tables |= {job.target: job for job in jobs}
            found.setdefault(name, []).append(entry)
    return found


def _atlas(plan: Plan, papers: dict[str, Paper]) -> Job:
    """The job that writes the atlas, from all figures and the claims."""
    told = {
        name: paper.model_dump(
            mode="json", include={"source", "deviations", "figures", "other_readings"}
        )
        for name, paper in papers.items()
        if paper.figures
    }
    for name, paper in papers.items():
        for key in paper.other_readings:
            choices = other_readings.choices(paper, key)
            told[name]["other_readings"][key]["choices"] = choices
        for figure, entry in paper.figures.items():
            sizes = _sizes(papers, name, entry.experiments, plan.scale)
            told[name]["figures"][figure]["sizes"] = sizes
            told[name]["figures"][figure] |= _so_far(plan, name, entry.experiments)
    parts = sorted(file for file in SITE.rglob("*") if file.suffix in (".html", ".css", ".js"))
    spec = {
        "scale": plan.scale,
        "papers": told,
        "parts": {file.relative_to(SITE).as_posix(): hashing.file_sha256(file) for file in parts},
    }
    inputs = (*plan.figures.values(), *plan.claims.values())
    code = plan.sources.code(["grokatlas.atlas.build"])
    return Job("atlas", layout.atlas_folder(plan.scale), spec, code, inputs)


def _sizes(
    papers: dict[str, Paper], name: str, experiments: list[str], scale: str
) -> dict[str, dict[str, list[Any]]]:
    """What of some experiments is not as published, by dotted name: values here and published."""
    found: dict[str, dict[str, list[Any]]] = {}
    for reference in experiments:
        owner, experiment = layout.owner_of_table(name, reference)
        paper = papers[owner]
        for case in paper.experiments[experiment].cases or [None]:
            blocks = [
                layers.of(owner, paper, experiment, case, at).blocks() for at in (scale, "paper")
            ]
            for path, here, published in layers.differences(*blocks):
                values = found.setdefault(path, {"here": [], "published": []})
                for place, value in (("here", here), ("published", published)):
                    if value not in values[place]:
                        values[place].append(value)
    return found


def _so_far(plan: Plan, name: str, experiments: list[str]) -> dict[str, str]:
    """Of how many values some tables are, as ``so_far``; nothing where they leave out none."""
    tables = {each: plan.tables[layout.owner_of_table(name, each)] for each in experiments}
    told = {each: text.so_far(job.spec.get("so_far", [])) for each, job in tables.items()}
    if len(set(told.values())) > 1:
        told = {each: f"{each}: {found}" for each, found in told.items() if found}
    found = "; ".join(dict.fromkeys(told.values()))
    return {"so_far": found} if found else {}


def _add_experiment(plan: Plan, name: str, paper: Paper, experiment: str) -> None:
    found = cells.resolve(name, paper, experiment, plan.scale)
    rows, inputs, modules = [], [], ["grokatlas.rules.tidy_table"]
    for cell in found:
        light = [each for each in cell.measures if each["name"] in light_measures()]
        for part in cell.parts:
            run = _add_run(plan, part.spec)
            jobs = [_add_measure(plan, run, each) for each in cell.measures if each not in light]
            label = ", ".join(filter(None, [cell.label, part.label]))
            row: dict[str, Any] = {"case": cell.case, "label": label, "run": run.target.name}
            row["measures"] = [job.target.name for job in jobs]
            row |= {"light": light} if light else {}
            row |= {"part": {"of": cell.label, "members": part.members}} if part.label else {}
            rows.append(row)
            inputs += [run, *jobs]
        modules += [module_name("measures", each["name"]) for each in light]
        modules += ["grokatlas.rules.split_table"] if len(cell.parts) > 1 else []
    spec = {"experiment": experiment, "paper": name, "scale": plan.scale, "cells": rows}
    spec |= _left_out(found)
    stem = layout.table_stem(plan.scale, name, experiment)
    code = plan.sources.code(modules)
    plan.tables[name, experiment] = Job(
        "table", stem, spec, code, tuple({job.target: job for job in inputs}.values())
    )


def _left_out(found: list[cells.Cell]) -> dict[str, list[dict[str, Any]]]:
    """The axes of which cells leave out values so far, as ``so_far``; nothing where none do."""
    told: list[dict[str, Any]] = []
    for (axis, values, of), count in Counter(e for cell in found for e in cell.left_out).items():
        where = {"cells": count, "of_cells": len(found)} if count < len(found) else {}
        told.append({"axis": axis, "values": values, "of": of, **where})
    return {"so_far": told} if told else {}


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
        plan.datasets[dataset] = Job("dataset", layout.data_folder(dataset), data_spec, code)
    run = hashing.of(spec)[:12]
    if run not in plan.runs:
        code = plan.sources.code(code_digest.run_modules(spec))
        inputs = (plan.datasets[dataset],)
        plan.runs[run] = Job("run", layout.run_folder(run), spec, code, inputs)
    return plan.runs[run]


def _add_measure(plan: Plan, run: Job, measure: dict[str, Any]) -> Job:
    name = layout.measure_id(measure)
    key = (run.target.name, name)
    if key not in plan.measures:
        model = module_name("model", run.spec["model"]["name"])  # a measure may rebuild networks
        code = plan.sources.code([module_name("measures", measure["name"]), model])
        stem = layout.measure_stem(*key)
        inputs = (run, *run.inputs)
        plan.measures[key] = Job("measure", stem, {"measure": measure}, code, inputs)
    return plan.measures[key]
