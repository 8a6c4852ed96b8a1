"""The jobs that papers declare at a scale, which reads whose files, and their digests.

Functions of the configuration and of the source tree; of results they see only what `shown` adds.
Nothing here imports torch, pandas or matplotlib: every cluster job parses the Snakefile.
"""

from collections import Counter
from typing import Any

from grokatlas.code import code_digest
from grokatlas.declare import cells, drawing, run_shares, signatures, versions
from grokatlas.declare.models import Paper
from grokatlas.declare.run_shares import Cell
from grokatlas.engine import members
from grokatlas.plan import summaries
from grokatlas.plan.jobs import Job, Plan
from grokatlas.registry import module_name
from grokatlas.results import foreign, hashing, layout

READER = "grokatlas.rules.foreign.log_reader"  # the code of an imported run, and of a script's log


def make_plan(papers: dict[str, Paper], scale: str, shown: dict[str, Paper] | None = None) -> Plan:
    """Every job that the papers declare at a scale; equal cells become one run.

    Args:
        papers: those of which everything is made.
        scale: smoke, quick or paper.
        shown: these and others, which claims and pages are of as well, as far as their tables and
            figures are here; only these by default.
    """
    plan = Plan(scale)
    declare(plan, papers)
    whole = plan.copy()
    declare(whole, shown or {})
    summaries.add(plan, whole, shown or papers)
    return plan


def declare(plan: Plan, papers: dict[str, Paper]) -> None:
    """Add the experiments and figures of papers to a plan, but for those that it has."""
    for name, paper in papers.items():
        for experiment in paper.experiments:
            if (name, experiment) not in plan.tables:
                _add_experiment(plan, name, paper, experiment)
    for name, paper in papers.items():
        for figure in paper.figures:
            if (name, figure) not in plan.figures:
                plan.figures[name, figure] = _figure(plan, name, paper, figure)


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
        "published": entry.published | drawing.asked(entry.draw),
        # of the published size: beside smaller curves they would say nothing
        "digitised_points": versions.digitised_points(paper, figure)
        if plan.scale == "paper"
        else [],
    }
    spec |= summaries.so_far(plan, name, entry.experiments)
    notes = [
        entry.quick_note if plan.scale != "paper" else "",
        summaries.foreign(plan, name, entry.experiments),
    ]
    if any(notes):
        spec["quick_note"] = "  ·  ".join(filter(None, notes))
    tables = [plan.tables[table] for table in versions.tables(name, entry)]
    undrawn = entry.undrawn or drawing.left_out(entry.draw, _cases(tables))
    if undrawn:
        spec["undrawn"] = undrawn
    code = plan.sources.code([module, "grokatlas.rules.rendering"])
    stem = layout.figure_stem(plan.scale, name, figure)
    return Job("figure", stem, spec, code, tuple(tables))


def _cases(tables: list[Job]) -> list[str]:
    """The cases of some tables, as a figure of them calls them."""
    return [
        layout.case_of_figure(table.spec["experiment"], cell["case"], len(tables))
        for table in tables
        for cell in table.spec["cells"]
    ]


def _add_experiment(plan: Plan, name: str, paper: Paper, experiment: str) -> None:
    resolved = cells.resolve(name, paper, experiment, plan.scale)
    rows, inputs, modules = [], [], ["grokatlas.rules.tidy_table"]
    computed = signatures.that_define("measures", "LIGHT")  # by the table's own job
    for cell in resolved:
        light = [measure for measure in cell.measures if measure["name"] in computed]
        for part in cell.parts:
            run = _add_run(plan, part)
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
    spec |= _left_out(resolved)
    stem = layout.table_stem(plan.scale, name, experiment)
    code = plan.sources.code(modules)
    plan.tables[name, experiment] = Job(
        "table", stem, spec, code, tuple({job.target: job for job in inputs}.values())
    )


def _left_out(resolved: list[Cell]) -> dict[str, list[dict[str, Any]]]:
    """The axes of which cells leave out values so far, as ``so_far``; nothing where none do."""
    shares: list[dict[str, Any]] = []
    for (axis, values, of), count in Counter(e for cell in resolved for e in cell.left_out).items():
        where = {"cells": count, "of_cells": len(resolved)} if count < len(resolved) else {}
        shares.append({"axis": axis, "values": values, "of": of, **where})
    return {"so_far": shares} if shares else {}


def _add_run(plan: Plan, part: run_shares.RunShare) -> Job:
    spec, parents = part.spec, [_add_run(plan, parent) for parent in part.parents]
    foreign_run = bool(foreign.kind(spec))
    data = [] if foreign_run else [_add_dataset(plan, spec)]
    run = hashing.of(spec)[:12]
    if run not in plan.runs:
        modules = [READER] if foreign_run else code_digest.run_modules(spec)
        inputs = (*data, *parents)
        code = plan.sources.code(modules)
        plan.runs[run] = Job("run", layout.run_folder(run), spec, code, inputs)
    return plan.runs[run]


def _add_dataset(plan: Plan, spec: dict[str, Any]) -> Job:
    data_spec = {"tasks": members.tasks(spec)}
    dataset = hashing.of(data_spec)[:12]
    if dataset not in plan.datasets:
        code = plan.sources.code(code_digest.dataset_modules(spec))
        plan.datasets[dataset] = Job("dataset", layout.data_folder(dataset), data_spec, code)
    return plan.datasets[dataset]


def _add_measure(plan: Plan, run: Job, measure: dict[str, Any]) -> Job:
    name = layout.measure_id(measure)
    key = (run.target.name, name)
    if key not in plan.measures:
        model = module_name("model", run.spec["model"]["name"])  # a measure may rebuild networks
        code = plan.sources.code([module_name("measures", measure["name"]), model])
        stem = layout.measure_stem(*key)
        inputs = (run, *(each for each in run.inputs if each.kind == "dataset"))
        plan.measures[key] = Job("measure", stem, {"measure": measure}, code, inputs)
    return plan.measures[key]
