"""From an experiment and values to try to the configuration of a trial.

A trial is the experiment with further axes. It is declared in a folder of its own, which uses the
workflow as a module: its results are another tree, and nothing declared here reads them.
"""

import contextlib
import json
import re
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml
from pydantic import BaseModel

from grokatlas import registry
from grokatlas.cluster import unlock
from grokatlas.declare import cells, overlays, starts, strict_yaml
from grokatlas.declare.models import EXPERIMENTS, PAPER, Paper
from grokatlas.declare.names import CONFIG, PAPERS
from grokatlas.declare.papers import load_papers
from grokatlas.declare.settings import home_expanded, load_settings
from grokatlas.errors import UserError, nearest
from grokatlas.results import locks
from grokatlas.study import shipped

FOLDER = Path("trials")
PAPER_OF_TRIALS, FIGURE = "trials", "runs"
LOCK = ".grokatlas_try.lock"  # in the folder of a trial, held while it runs
SETTINGS = CONFIG / "config.yaml"
PATH = r"seed|[a-z][a-z0-9_]*(\.[a-z0-9_]+)+"
SNAKEFILE = """\
# Written by `grokatlas try`: the workflow, with the configuration of the trial.
module atlas:
    snakefile:
        {workflow!r}
    config:
        config


use rule * from atlas


workflow.default_target = "all"
"""

Block = dict[str, Any]
Values = dict[str, list[Any]]


def values(given: list[str]) -> Values:
    """The values of each path, read as YAML: ``["optimizer.lr=1e-3,1e-2"]``."""
    tried: Values = {}
    for text in given:
        path, equals, listed = text.partition("=")
        if not equals or not re.fullmatch(PATH, path) or not listed:
            raise UserError(f"--set {text}", "must be like optimizer.lr=1e-3,1e-2")
        if path in tried:
            raise UserError(f"--set {text}", f"{path} is given twice; list its values in one")
        tried[path] = strict_yaml.parse(f"[{listed}]\n", f"--set {text}")
    return tried


def experiment(name: str) -> tuple[str, str, dict[str, Paper]]:
    """Paper and experiment that a name means, and all papers."""
    papers = load_papers(PAPERS, "all")
    owner, _, own = name.partition("/")
    known = [f"{paper}/{each}" for paper in papers for each in papers[paper].experiments]
    if owner not in papers or own not in papers[owner].experiments:
        raise UserError(name, f"no such experiment; {nearest(name, known)}")
    tried = papers[owner].experiments[own]
    if any(each.import_ or each.script for each in (tried, *(tried.cases or {}).values())):
        raise UserError(name, "is of runs of others (import, script); try one that is trained here")
    return owner, own, papers


def _dumped(model: BaseModel) -> Block:
    """A part of the configuration as a block of YAML; one that was `as` another is whole here."""
    return model.model_dump(mode="json", by_alias=True, exclude_unset=True, exclude={"as_"})


def block(paper_name: str, paper: Paper, name: str, scale: str, tried: Values) -> Block:
    """The experiment's block with the values as axes at a scale.

    An axis of the ensemble gets the values itself. Any other path becomes an axis of the sweep,
    which is stronger than every overlay, so that each value makes a run of its own.
    """
    declared = _dumped(paper.experiments[name])
    cases = list(declared.get("cases") or {}) or [None]
    own = [overlays.of(paper_name, paper, name, case, scale).merged() for case in cases]
    for path, listed in tried.items():
        is_axis = path == "seed" or any(path in each.get("ensemble", {}) for each in own)
        key = "ensemble" if is_axis else "sweep"
        for overlay in (declared, *(declared.get("cases") or {}).values()):
            holder = overlay if scale == "paper" else (overlay.get(scale) or {})
            holder[key] = {**(holder.get(key) or {}), path: listed}
            if scale != "paper":
                overlay[scale] = holder
    return {"about": declared.pop("about", f"a trial of {name}"), **declared}


@contextlib.contextmanager
def declared(name: str, tried: Values, scale: str) -> Iterator[Path]:
    """Declare a trial in ``trials/<paper>-<experiment>``, and hold that folder; the folder.

    Results of earlier trials there stay, so that a further value makes a further run alone.
    """
    paper_name, own, papers = experiment(name)
    paper = papers[paper_name]
    title = f"{name} with {', '.join(f'{path} {listed}' for path, listed in tried.items())}"
    about = {
        "source": {"title": f"Trial of {title}"},
        "defaults": _dumped(paper.defaults),
        "figures": {
            FIGURE: {"experiments": [own], "draw": "curves", "caption": f"A trial of {title}."}
        },
    }
    there = FOLDER / f"{paper_name}-{own}"
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / "papers" / PAPER_OF_TRIALS
        folder.mkdir(parents=True)
        (folder / PAPER).write_text(text(about), encoding="utf-8")
        others = sorted(starts.behind(paper.experiments, own))
        blocks = {other: _dumped(paper.experiments[other]) for other in others}
        blocks |= {own: block(paper_name, paper, own, scale, tried)}
        (folder / EXPERIMENTS).write_text(text(blocks), encoding="utf-8")
        trial = load_papers(folder.parent, "all")[PAPER_OF_TRIALS]
        _check(PAPER_OF_TRIALS, trial, own, scale, tried)
        settings = {"scale": scale, **_settings()}
        with _alone(there):
            with _written(there):
                shutil.rmtree(there / CONFIG, ignore_errors=True)
                shutil.copytree(folder.parent, there / PAPERS)
                (there / SETTINGS).write_text(text(settings), encoding="utf-8")
                (there / "workflow").mkdir(exist_ok=True)
                workflow = SNAKEFILE.format(workflow=shipped.snakefile())
                (there / "workflow" / "Snakefile").write_text(workflow, encoding="utf-8")
                _link_study(there)
            yield there


def _link_study(there: Path) -> None:
    """Let jobs of a trial, which run in its folder, find the modules of the study."""
    for name in (registry.STUDY, *registry.ROOMS) if registry.study() else ():
        if Path(name).exists() and not (there / name).exists():
            (there / name).symlink_to(Path("../..", name))


@contextlib.contextmanager
def _alone(there: Path) -> Iterator[None]:
    """Hold the folder of a trial: another would replace the configuration that this one reads."""
    with _written(there):
        there.mkdir(parents=True, exist_ok=True)
    with locks.held(there / LOCK) as alone:
        if not alone:
            raise UserError(str(there), "another trial of the experiment runs; wait for its end")
        if unlock.locked(there):
            hint = f"if it was killed: (cd {there} && grokatlas unlock)"
            raise UserError(str(there), f"is locked by a Snakemake; {hint}")
        yield


@contextlib.contextmanager
def _written(folder: Path) -> Iterator[None]:
    """Write into a folder; that it cannot be written is one line."""
    try:
        yield
    except OSError as error:
        raise UserError(str(folder), f"cannot be written: {error.strerror or error}") from None


def _settings() -> Block:
    """The settings that a trial takes from the checkout; folders are absolute paths."""
    settings = load_settings(SETTINGS, {})
    folders = {"data_dir": settings.data_dir, "run_store": settings.run_store}
    held = {key: str(home_expanded(f).resolve()) if f else None for key, f in folders.items()}
    return {"device": settings.device, **held}


def _check(paper_name: str, paper: Paper, name: str, scale: str, tried: Values) -> None:
    """Refuse values that the experiment cannot have, by the argument that gave them."""
    try:
        cells.resolve(paper_name, paper, name, scale)
    except UserError as error:
        for path in tried:
            if error.place.endswith(path) or f".{path}." in error.place:
                raise UserError(f"--set {path}", error.problem) from None
        raise


def text(content: Block) -> str:
    """Plain data as YAML that `strict_yaml` reads."""
    unshared = json.loads(json.dumps(content))  # equal lists would become anchors
    return yaml.safe_dump(
        unshared, sort_keys=False, allow_unicode=True, width=100, default_flow_style=None
    )
