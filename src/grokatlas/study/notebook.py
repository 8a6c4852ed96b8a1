"""The interface for notebooks and scripts: one run, tables, a figure.

All of it goes the way of the workflow: the same job files, results and manifests in ``results`` of
the working directory, and the same run store. What is up to date is read, the rest is made first.
"""

import contextlib
import functools
import hashlib
import io
import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from grokatlas import registry
from grokatlas.declare import cells, renaming, study
from grokatlas.declare.models import EXPERIMENTS, Overrides, Paper, label
from grokatlas.declare.names import CONFIG, PAPERS
from grokatlas.declare.papers import experiment_alone, load_papers
from grokatlas.declare.settings import Settings, load_settings
from grokatlas.errors import UserError, closest, nearest, shown
from grokatlas.export import archive_files, evidence
from grokatlas.plan import job_files, project, remaining, which_code
from grokatlas.plan.graph import make_plan
from grokatlas.plan.jobs import Job, Plan, with_ancestors
from grokatlas.results import files, layout
from grokatlas.results.result import MANIFEST_TABLES, parse_json_file
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
        job = _finished_job("tables", (paper, experiment), scale)
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
        what its function ``draw`` returns: the figure, which may be changed and saved, and which a
        notebook shows where a cell ends with it, and the data that it shows. Of a published table
        the cells as text, and the numbers.

    Raises:
        UserError: as `table` does.
    """
    with _environment():
        import matplotlib as mpl  # before our plots, which write files: a notebook shows figures

        del mpl
        job = _finished_job("figures", (paper, name), scale)
        from grokatlas.rules import rendering

        spec = job.spec
        stems = layout.table_stems(spec["scale"], spec["paper"], spec["experiments"])
        paths = {name: layout.outputs("table", stem)[0] for name, stem in stems.items()}
        tables = {k: renaming.columns_today(files.read_parquet(f)) for k, f in paths.items()}
        shown, data, _ = rendering.made(spec, tables)
        if not layout.is_published_table(name):
            vars(shown)["_repr_png_"] = functools.partial(_png, shown)
        return shown, data


def tables() -> "pd.DataFrame":
    """The experiments of `config/papers`, each with the figures that draw its table.

    Returns:
        a row for each, in the columns ``paper``, ``experiment``, ``figures``, ``about`` and
        ``recorded`` (the scales that `recorded` can read).

    Raises:
        UserError: this is no checkout or study, or a file of `config/papers` has a mistake.
    """
    import pandas as pd

    papers = load_papers(PAPERS, "all")
    drawn: dict[tuple[str, str], list[str]] = {}
    for name, paper in papers.items():
        for figure, entry in paper.figures.items():
            for own in entry.experiments:
                drawn.setdefault(layout.owner_of_table(name, own), []).append(f"{name}/{figure}")
    scales: dict[tuple[str, str], list[str]] = {}
    for scale, *key in evidence.archives():
        scales.setdefault((key[0], key[1]), []).append(scale)
    return pd.DataFrame(
        [
            (name, own, ", ".join(drawn.get((name, own), [])), each.about, scales.get((name, own)))
            for name, paper in papers.items()
            for own, each in paper.experiments.items()
        ],
        columns=["paper", "experiment", "figures", "about", "recorded"],
    )


def recorded(name: str, scale: str = "paper", folder: str | Path | None = None) -> "pd.DataFrame":
    """The table of an experiment as this project records it, with nothing made or unpacked.

    Args:
        name: ``paper/experiment``.
        scale: at which it is recorded.
        folder: the folder `recorded` of a checkout; by default that of the working directory, else
            that of the checkout which is installed.

    Returns:
        the table: see `run`.

    Raises:
        UserError: there is no such archive here, it holds no table, or it is damaged.
    """
    places = [evidence.FOLDER, registry.PACKAGE.parents[1] / evidence.FOLDER]
    places = [Path(folder)] if folder is not None else places
    files_of = [place / scale / f"{name}.zip" for place in places]
    file = next((file for file in files_of if file.is_file()), None)
    if file is None:
        known = [f"{p}/{e}" for place in places for _, p, e in evidence.archives(scale, place)]
        hint = closest(name, known) or "clone the repository, and give folder='.../recorded'"
        raise UserError(f"recorded {name}", f"no archive {files_of[0]}; {hint}")
    paper, _, experiment = name.partition("/")
    stem = layout.table_stem(scale, paper, experiment).as_posix()
    held = {each.name: b"".join(each.chunks) for each in archive_files.entries(file)}
    content, manifest = held.get(f"{stem}.parquet"), held.get(f"{stem}.manifest.json")
    if content is None or manifest is None:
        raise UserError(str(file), "holds runs and no table, as its experiment is not finished")
    vouched = parse_json_file(f"{stem}.manifest.json", manifest, MANIFEST_TABLES).checked()
    if hashlib.sha256(content).hexdigest() != vouched["outputs"].get(f"{experiment}.parquet"):
        raise UserError(str(file), "is damaged: its table is not the one of its manifest")
    import pandas as pd

    frame: pd.DataFrame = renaming.columns_today(pd.read_parquet(io.BytesIO(content)))
    return frame


def _png(figure: "Figure") -> bytes:
    """A figure as a notebook shows it."""
    picture = io.BytesIO()
    figure.savefig(picture, format="png")
    return picture.getvalue()


def _finished_job(group: str, key: tuple[str, str], scale: str | None) -> Job:
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
    _check_keys(spec)
    try:
        paper: Paper = experiment_alone(NAME, spec)
        cells.resolve(NAME, paper, NAME, "paper")
        return make_plan({NAME: paper}, "paper")
    except UserError as error:
        where = f"{label(NAME, EXPERIMENTS)}: {NAME}"
        if not error.place.startswith(where):
            raise
        raise UserError(f"spec{error.place.removeprefix(where)}", error.problem) from None


def _check_keys(spec: Any) -> None:
    """Refuse the keys of ``experiments.yaml`` that mean nothing in a spec of one size."""
    allowed = ["about", "cases", *Overrides.blocks()]
    for key in spec if isinstance(spec, dict) else ():
        if key not in [*allowed, *Overrides.RENAMED, *Overrides.GONE]:
            problem = f"unknown key; {nearest(str(key), allowed)}"
            if key in ("quick", "smoke", "as"):
                problem = "means nothing here, as a spec has one size and no paper; remove it"
            raise UserError(f"spec.{key}", problem)


def _settings() -> Settings:
    """The settings of the working directory; the defaults where it has no configuration."""
    file = CONFIG / "config.yaml"
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
