"""The interface for notebooks and scripts: one run, a table, a figure.

All of it goes the way of the workflow: the same job files, results and manifests in ``results`` of
the working directory, and the same run store. What is up to date is read, the rest is made first.
"""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from grokatlas.declare import cells, renaming, study
from grokatlas.declare.models import EXPERIMENTS, Paper, label
from grokatlas.declare.papers import experiment_alone
from grokatlas.declare.settings import Settings, load_settings
from grokatlas.errors import UserError, shown
from grokatlas.plan import job_files, project, remaining, which_code
from grokatlas.plan.graph import make_plan
from grokatlas.plan.jobs import Job, Plan, with_ancestors
from grokatlas.results import files, layout
from grokatlas.run_store import store
from grokatlas.study import processes

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

NAME = "notebook"  # the paper and the experiment that a spec alone is declared in


def run(spec: dict[str, Any], *, threads: int = 1) -> "pd.DataFrame":
    """Train what a spec says, unless it is trained already, and return its table.

    Args:
        spec: an experiment as ``experiments.yaml`` has it, as a dict: blocks such as ``task``,
            ``model``, ``loss``, ``optimizer`` and ``train``, with ``ensemble``, ``sweep`` and
            ``measures`` as there. It is taken as it is: as at scale paper.
        threads: of the processor that a training may use.

    Returns:
        the tidy table: one row for each member and logged step (``record`` is ``history``), and the
        rows of each measure. The columns ``seed`` and, by their dotted names, all keywords of the
        spec hold the member's values.

    Raises:
        UserError: the spec or `threads` has a mistake, or a job failed.
    """
    if type(threads) is not int or threads < 1:
        raise UserError("threads", f"{shown(threads)} is not allowed: must be a whole number >= 1")
    with _environment():
        plan = _plan_of(spec)
        settings = _settings()
        project.tell_jobs(settings, {}, main=True)
        (table,) = plan.tables.values()
        jobs = with_ancestors(table.inputs)
        plan.look_again(store.bring_missing([job for job in jobs if job.kind == "run"], plan))
        job_files.write(jobs, {job.target: plan.state(job) for job in jobs})
        for job in jobs:
            if job.state() != "up to date" or not all(file.exists() for file in job.outputs):
                processes.execute(job, threads)
        from grokatlas.rules import table as rule

        return renaming.columns_today(rule.joined(table.spec, Path("spec")))


def table(paper: str, experiment: str, scale: str | None = None) -> "pd.DataFrame":
    """The tidy table of an experiment of `config/papers`, made by the workflow if need be.

    Args:
        paper: its folder in `config/papers`.
        experiment: its name in ``experiments.yaml``.
        scale: smoke, quick or paper; None for the one that ``config.yaml`` names.

    Returns:
        the table: see `run`.

    Raises:
        UserError: nothing of that name is declared, the configuration has a mistake, or a job
            failed.
    """
    with _environment():
        job = _made("tables", (paper, experiment), scale)
        (file,) = job.outputs
        frame: pd.DataFrame = renaming.columns_today(files.read_parquet(file))
        return frame


def figure(
    paper: str, name: str, scale: str | None = None
) -> "tuple[Figure, pd.DataFrame] | tuple[pd.DataFrame, pd.DataFrame]":
    """A figure of `config/papers`, made by the workflow if need be and drawn again here.

    Args:
        paper: its folder in `config/papers`.
        name: its name in ``paper.yaml``.
        scale: smoke, quick or paper; None for the one that ``config.yaml`` names.

    Returns:
        what its function ``draw`` returns: the figure, which may be changed and saved, and the data
        that it shows. Of a published table the cells as text, and the numbers.

    Raises:
        UserError: as `table` does.
    """
    with _environment():
        import matplotlib as mpl  # before our plots, which write files: a notebook shows figures

        del mpl
        job = _made("figures", (paper, name), scale)
        from grokatlas.rules import rendering

        spec = job.spec
        stems = layout.table_stems(spec["scale"], spec["paper"], spec["experiments"])
        paths = {name: layout.outputs("table", stem)[0] for name, stem in stems.items()}
        tables = {k: renaming.columns_today(files.read_parquet(f)) for k, f in paths.items()}
        shown, data, _ = rendering.made(spec, tables)
        return shown, data


def _made(group: str, key: tuple[str, str], scale: str | None) -> Job:
    """A job of the configuration, its files made by the workflow where they are not up to date."""
    for place, name in zip(
        ("paper", "experiment" if group == "tables" else "name"), key, strict=True
    ):
        if not isinstance(name, str):
            raise UserError(place, f"{shown(name)} is not allowed: must be text")
    planned = remaining.at(scale)
    job, _ = planned.project.job(group, key, planned.plan.scale)
    if not remaining.made(job):
        processes.snakemake(job.outputs, planned.plan.scale)
    return job


def _plan_of(spec: dict[str, Any]) -> Plan:
    """The plan of a spec alone, in which errors speak of the spec."""
    study.check()
    try:
        paper: Paper = experiment_alone(NAME, spec)
        cells.resolve(NAME, paper, NAME, "paper")
        return make_plan({NAME: paper}, "paper")
    except UserError as error:
        where = f"{label(NAME, EXPERIMENTS)}: {NAME}"
        if not error.place.startswith(where):
            raise
        raise UserError(f"spec{error.place.removeprefix(where)}", error.problem) from None


def _settings() -> Settings:
    """The settings of the working directory; the defaults where it has no configuration."""
    file = remaining.CONFIG / "config.yaml"
    return load_settings(file, {}) if file.is_file() else Settings()


@contextlib.contextmanager
def _environment() -> Iterator[None]:
    """Give back the variables of this process as they were: jobs are told things by them."""
    before = dict(os.environ)
    which_code.keep_libraries()
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)
