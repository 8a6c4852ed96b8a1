"""From YAML to jobs: which runs, measures, tables and figures exist at a scale, and their digests.

Pure functions of the configuration and of the source tree. Nothing here imports torch, pandas or
matplotlib: every cluster job parses the Snakefile.
"""

import os
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from grokatlas import cells, declarations, digest, members, run_store, store
from grokatlas.components import PACKAGE, module_name
from grokatlas.config import SCALES, Paper, Settings, load_papers, load_settings
from grokatlas.errors import UserError, nearest


@dataclass(frozen=True)
class Job:
    """One job of the workflow: what it makes, from what, under which digest.

    Attributes:
        kind: dataset, run, measure, table or figure.
        target: the folder (dataset, run) or the stem (measure, table, figure) of its files.
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
        return digest.of([self.kind, self.spec, self.code, upstream])

    @property
    def spec_path(self) -> Path:
        """The job file, which is the rule's first input."""
        return store.spec_path(self.kind, self.target)

    @property
    def manifest(self) -> Path:
        """The manifest that the job leaves."""
        return store.manifest_of(self.kind, self.target)

    @property
    def outputs(self) -> list[Path]:
        """The files that the job makes, without its manifest."""
        return store.outputs(self.kind, self.target)

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
    fits: dict[Path, bool] = field(default_factory=dict)

    @property
    def jobs(self) -> list[Job]:
        """Every job, upstream first."""
        groups = (self.datasets, self.runs, self.measures, self.tables, self.figures)
        return [job for group in groups for job in group.values()]

    def hanging_on(self, targets: Iterable[Path]) -> list[Job]:
        """The jobs with these targets and all that hang on them, upstream first."""
        found = set(targets)
        for job in self.jobs:
            if any(each.target in found for each in job.inputs):
                found.add(job.target)
        return [job for job in self.jobs if job.target in found]

    def inputs(self, job: Job) -> list[tuple[Path, bool]]:
        """Every file that a job reads, and whether it fits.

        A run that was made elsewhere waits for no data set that is not here.
        """
        files = [file for each in job.inputs for file in each.outputs]
        alone = job.kind == "run" and self.fits[job.target] and not all(map(Path.exists, files))
        if alone and run_store.made_elsewhere(store.read_json(job.manifest)):
            return []
        return [(file, self.fits[each.target]) for each in job.inputs for file in each.outputs]


class Project:
    """The plans of a configuration folder, made when asked for.

    Args:
        folder: the folder of ``config.yaml`` and ``papers/``.
        overrides: keys of ``config.yaml`` that the command line sets.
        warn: called with each one-line warning.
    """

    def __init__(
        self, folder: Path, overrides: dict[str, Any], warn: Callable[[str], None] | None = None
    ) -> None:
        self.settings: Settings = load_settings(folder / "config.yaml", overrides)
        place = "--config: papers" if "papers" in overrides else "config.yaml: papers"
        self.papers: dict[str, Paper] = load_papers(folder / "papers", self.settings.papers, place)
        self._overridden = {*overrides}
        self._plans: dict[str, Plan] = {}
        self._store: Path | None = None  # looked up for missing runs
        self._sought: set[Path] = set()  # runs that were looked up in it
        declarations.check(self.papers)
        for text in declarations.unused_experiments(self.papers):
            (warn or _to_stderr)(f"warning: {text}")

    def at(self, scale: str) -> Plan:
        """The plan of one scale, with its job files written.

        Raises:
            UserError: for a mistake in the configuration.
        """
        if scale not in self._plans:
            self._plans[scale] = make_plan(self.papers, scale)
            write_job_files(self._plans[scale])
        return self._plans[scale]

    def prepare_jobs(self, main: bool = True) -> None:
        """Let jobs run this code, with the Python that runs Snakemake, on the chosen device.

        Args:
            main: whether this process decides what runs, so that it looks into the run store; a
                job's own Snakemake does not.

        Raises:
            UserError: a folder that the configuration names is not there.
        """
        for variable, first in (("PATH", Path(sys.executable)), ("PYTHONPATH", PACKAGE)):
            entries = [str(first.parent), os.environ.get(variable)]
            os.environ[variable] = os.pathsep.join(filter(None, entries))
        os.environ["GROKATLAS_DEVICE"] = self.settings.device
        self._tell_jobs("GROKATLAS_DATA", "data_dir", needed=True)
        self._tell_jobs(run_store.VARIABLE, "run_store", needed=main)
        self._store = run_store.chosen() if main else None

    def _tell_jobs(self, variable: str, key: str, needed: bool) -> None:
        """Put a folder of the settings, if it is set, into the environment."""
        value = getattr(self.settings, key)
        if value is None:
            return
        folder = Path(value).expanduser().resolve()
        if needed and not folder.is_dir():
            place = "--config" if key in self._overridden else "config.yaml"
            raise UserError(f"{place}: {key}", f"no folder {folder}; make it or use null")
        os.environ[variable] = str(folder)

    def figure_files(self, scale: str) -> list[Path]:
        """Every figure's files at a scale."""
        return [file for job in self.at(scale).figures.values() for file in job.outputs]

    def inputs(self, group: str, key: Any, scale: str | None = None) -> list[tuple[Path, bool]]:
        """Every file of every job that a job reads, and whether that file fits the plan.

        Args:
            group: ``runs``, ``measures``, ``tables`` or ``figures``.
            key: the job's key in that group of a `Plan`.
            scale: the scale of its plan; where a path names none, the configured scale is searched
                first, then the others.

        Raises:
            UserError: nothing of that name is declared.
        """
        job, plan = self.job(group, key, scale)
        self._bring_in(plan, job)
        return plan.inputs(job)

    def job(self, group: str, key: Any, scale: str | None = None) -> tuple[Job, Plan]:
        """A job, and the plan it stands in; arguments and errors as for `inputs`."""
        first = [self.settings.scale]
        for each in [scale] if scale else first + [s for s in SCALES if s not in first]:
            jobs: dict[Any, Job] = getattr(self.at(each), group)
            if key in jobs:
                return jobs[key], self.at(each)
        known = [name if isinstance(name, str) else "/".join(name) for name in jobs]
        wanted = key if isinstance(key, str) else "/".join(key)
        raise UserError(f"{group}: {wanted}", f"not declared in config; {nearest(wanted, known)}")

    def _bring_in(self, plan: Plan, job: Job) -> None:
        """Bring the missing runs that a job hangs on from the run store, and plan with them."""
        if self._store is None:
            return
        runs = [each for each in upstream(job) if each.kind == "run"]
        wanted = [run for run in runs if run.target not in self._sought]
        self._sought |= {run.target for run in wanted}
        renewed = run_store.bring_missing(self._store, wanted, plan.fits)
        for each in self._plans.values() if renewed else ():
            write_job_files(each, each.hanging_on(renewed))


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
            stem = store.figure_stem(scale, name, figure)
            spec = {
                "figure": figure,
                "paper": name,
                "scale": scale,
                "experiments": entry.experiments,
            }
            tables = tuple(plan.tables[name, experiment] for experiment in entry.experiments)
            code = digest.code([f"grokatlas.papers.{name}.{figure}", "grokatlas.rendering"])
            plan.figures[name, figure] = Job("figure", stem, spec, code, tables)
    return plan


def _add_experiment(plan: Plan, name: str, paper: Paper, experiment: str) -> None:
    rows, inputs = [], []
    for cell in cells.resolve(name, paper, experiment, plan.scale):
        run = _add_run(plan, cell.spec)
        jobs = [_add_measure(plan, run, measure) for measure in cell.measures]
        row = {"case": cell.case, "label": cell.label, "run": run.target.name}
        rows.append(row | {"measures": [*cell.measure_ids]})
        inputs += [run, *jobs]
    spec = {"experiment": experiment, "paper": name, "scale": plan.scale, "cells": rows}
    stem = store.table_stem(plan.scale, name, experiment)
    code = digest.code(["grokatlas.tables"])
    plan.tables[name, experiment] = Job(
        "table", stem, spec, code, tuple({job.target: job for job in inputs}.values())
    )


def _add_run(plan: Plan, spec: dict[str, Any]) -> Job:
    tasks = members.tasks(spec)
    data_spec = {"tasks": tasks}
    dataset = digest.of(data_spec)[:12]
    if dataset not in plan.datasets:
        modules = ["grokatlas.datasets", module_name("task", spec["task"]["name"])]
        folder = store.data_folder(dataset)
        plan.datasets[dataset] = Job("dataset", folder, data_spec, digest.code(modules))
    run = digest.of(spec)[:12]
    if run not in plan.runs:
        code = digest.code(digest.run_modules(spec))
        inputs = (plan.datasets[dataset],)
        plan.runs[run] = Job("run", store.run_folder(run), spec, code, inputs)
    return plan.runs[run]


def _add_measure(plan: Plan, run: Job, measure: dict[str, Any]) -> Job:
    name = cells.measure_id(measure)
    key = (run.target.name, name)
    if key not in plan.measures:
        model = module_name("model", run.spec["model"]["name"])  # a measure may rebuild networks
        code = digest.code([module_name("measures", measure["name"]), model])
        stem = store.measure_stem(*key)
        inputs = (run, *run.inputs)
        plan.measures[key] = Job("measure", stem, {"measure": measure}, code, inputs)
    return plan.measures[key]


def _to_stderr(text: str) -> None:
    print(text, file=sys.stderr)


def write_job_files(plan: Plan, jobs: Iterable[Job] | None = None) -> None:
    """Write job files, all by default, and let their times tell Snakemake which results still fit.

    A result fits if its manifest carries the planned digest and the hashes of the inputs that lie
    there now. The job file of a fitting result is made older than any result; of one that does not
    fit, newer. As inputs that fit are `ancient`, what is remade depends on digests alone: not on
    touched files, not on a copy's times, and not on whether `.snakemake` came along.
    """
    for job in plan.jobs if jobs is None else jobs:
        inputs = {str(file): file for upstream in job.inputs for file in upstream.outputs}
        plan.fits[job.target] = store.write_job_file(
            job.spec_path, job.manifest, job.content, list(inputs.values())
        )
