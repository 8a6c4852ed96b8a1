"""Reading `config/papers/`: a folder for each paper, and papers that are versions of others.

``paper.yaml`` has the source, deviations, defaults and figures, ``experiments.yaml`` the
experiments, ``claims.yaml`` the claims by figure, ``digitised_points.csv`` points of its published
curves. An experiment may say ``as: <name>``: it is then the one of this name, which is above it in
the file, but for the keys that it gives itself. A paper that names another one by ``version_of``
takes the defaults of that one, and in its figures, experiments and claims ``as`` names those of the
other paper.
"""

import operator
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

from grokatlas import registry
from grokatlas.declare import (
    bound_numbers,
    claim_groups,
    digitised_points,
    starts,
    strict_yaml,
    versions,
)
from grokatlas.declare.model_base import NAME, NAME_RULE
from grokatlas.declare.models import CLAIMS, EXPERIMENTS, OTHER_FILES, PAPER, Paper, label
from grokatlas.declare.overlays import merged
from grokatlas.declare.validation import check_block
from grokatlas.errors import MistakeError, UserError, check_known, nearest, shown
from grokatlas.results import layout

Block = dict[str, Any]


def load_papers(
    folder: Path, selection: Literal["all"] | list[str], place: str = "config.yaml: papers"
) -> dict[str, Paper]:
    """The selected papers of `config/papers/`, by name; `place` is that of the selection.

    A paper that is not selected, but whose tables a selected one draws, is there as well, with
    these experiments alone: it has no figures and no claims.
    """
    available = _available(folder)
    chosen = available if selection == "all" else selection
    for position, name in enumerate(chosen):
        check_known(f"{place}.{position}", "no paper", name, available)
        if name in chosen[:position]:
            raise UserError(f"{place}.{position}", f"{name!r} is listed twice; remove one")
    papers = {name: _load(folder, name, available) for name in chosen}
    for name, paper in papers.items():
        points = digitised_points.load(folder / name, name, list(paper.figures))
        papers[name] = paper.model_copy(update={"digitised_points": points})
    for owner in _owners(papers, available) - set(papers):
        papers[owner] = _load(folder, owner, available)
    return select(papers, chosen)


def select(papers: dict[str, Paper], chosen: list[str]) -> dict[str, Paper]:
    """Some of the papers, with the experiments of others whose tables these draw."""
    figures = ((name, figure) for name in chosen for figure in papers[name].figures.values())
    used = {table for name, figure in figures for table in versions.tables(name, figure)}
    others = {}
    for name in sorted({owner for owner, _ in used} - set(chosen)):
        experiments = papers[name].experiments
        related = starts.related(experiments, [own for owner, own in used if owner == name])
        drawn = {key: experiment for key, experiment in experiments.items() if key in related}
        nothing: dict[str, Any] = {
            "figures": {},
            "claims": [],
            "deviations": [],
            "interpretations": {},
            "findings": [],
        }
        others[name] = papers[name].model_copy(update={**nothing, "experiments": drawn})
    return others | {name: papers[name] for name in chosen}


def experiment_alone(name: str, experiment: Block) -> Paper:
    """A paper of one experiment and one figure of it, all three of this name; nothing is read."""
    figures = {name: {"experiments": [name], "caption": ""}}
    return _checked(name, {"source": {"title": name}, "figures": figures}, {name: experiment}, [])


def _available(folder: Path) -> list[str]:
    """The names of all papers."""
    entries = registry.own_files(folder, "*")
    for entry in entries:
        if entry.suffix in (".yaml", ".yml"):
            problem = f"is not read: a paper is a folder of {PAPER}, {EXPERIMENTS} and {CLAIMS}"
            raise UserError(f"papers/{entry.name}", f"{problem}; move its parts there")
    names = [entry.name for entry in entries if (entry / PAPER).exists()]
    for name in names:
        if not re.fullmatch(NAME, name):
            raise UserError(f"papers/{name}", f"is not a name for a paper: {NAME_RULE}")
    if not names:
        raise UserError("papers", f"no paper in {folder}; add one, such as my_paper/{PAPER}")
    return names


def _load(folder: Path, name: str, available: list[str]) -> Paper:
    """One paper, checked."""
    about, experiments, groups = _read(folder, name)
    version_of = about.get("version_of")
    if version_of is None:
        _figures(name, about, "", {})
        return _checked(
            name, about, experiments, claim_groups.flat(label(name, CLAIMS), groups, {}, "")
        )
    others = [each for each in available if each != name]
    place = f"{label(name, PAPER)}: version_of"
    if version_of not in others:
        hint = nearest(str(version_of), others)
        raise UserError(place, f"no other paper {shown(version_of)}; {hint}")
    its_about, its_experiments, its_groups = _read(folder, version_of)
    if its_about.get("version_of") is not None:
        problem = f"{version_of} is a version of {its_about['version_of']} itself"
        raise UserError(place, f"{problem}; name that one")
    its_claims = claim_groups.flat(label(version_of, CLAIMS), its_groups, {}, "")
    it = _checked(version_of, its_about, its_experiments, its_claims)
    about = about | {
        "defaults": merged(its_about.get("defaults", {}), about.get("defaults", {})),
        "figures": _figures(name, about, version_of, its_about["figures"]),
    }
    place = f"{label(name, EXPERIMENTS)}: "
    experiments = _by_reference(place, experiments, its_experiments, version_of, merged)
    repeated = claim_groups.repeated(it)
    claims = claim_groups.flat(label(name, CLAIMS), groups, repeated, version_of)
    return _checked(name, about, experiments, claims)


def _read(folder: Path, name: str) -> tuple[Block, Block, Block]:
    """The contents of a paper's files; no experiments or no claims where there is no such file.

    An experiment that says ``as`` is completed by the one above it.
    """
    contents = []
    for file in (PAPER, EXPERIMENTS, CLAIMS):
        there = file == PAPER or (folder / name / file).exists()
        content = strict_yaml.load(folder / name / file, label(name, file)) if there else {}
        if not isinstance(content, dict):
            problem = f"must be a block of keys, not {shown(content)}"
            raise UserError(label(name, file), problem)
        contents.append(bound_numbers.filled(content, name, folder / ".." / ".."))
    about, experiments, groups = contents
    if about.get("version_of") is not None:
        return about, experiments, groups
    whole: Block = {}
    for key, entry in experiments.items():
        place = f"{label(name, EXPERIMENTS)}: "
        whole |= _by_reference(place, {key: entry}, whole, "the experiments above it", merged)
    return about, whole, groups


def _checked(name: str, about: Block, experiments: Block, claims: claim_groups.Placed) -> Paper:
    """A paper from the contents of its files."""
    for key, file in OTHER_FILES.items():
        if key in about:
            problem = f"unknown key; {key} are in {label(name, file)}"
            raise UserError(f"{label(name, PAPER)}: {key}", problem)
    try:
        paper: Paper = check_block(Paper, {**about, "experiments": experiments})
    except MistakeError as mistake:
        if mistake.path[:1] == ["experiments"]:
            inner = MistakeError(mistake.path[1:], mistake.problem)
            raise inner.at(label(name, EXPERIMENTS)) from None
        raise mistake.at(label(name, PAPER)) from None
    place = label(name, CLAIMS)
    return paper.model_copy(update={"claims": claim_groups.checked(place, claims, paper)})


def _figures(name: str, about: Block, other: str, its_figures: Block) -> Any:
    """The figures of a version: those that are drawn as the other paper's ones completed."""
    figures = about.get("figures")
    if not isinstance(figures, dict):
        return figures
    there = {
        key: {**entry, "experiments": [f"{other}/{each}" for each in entry["experiments"]]}
        for key, entry in its_figures.items()
    }
    return _by_reference(f"{label(name, PAPER)}: figures.", figures, there, other, operator.or_)


def _by_reference(
    place: str, own: Block, others: Block, other: str, merge: Callable[[Block, Block], Block]
) -> Block:
    """Entries of which some are as those of another paper, with their own keys laid over them."""
    entries = {}
    for key, entry in own.items():
        entries[key] = entry
        if isinstance(entry, dict) and entry.get("as") is not None:
            named = claim_groups.repeats(f"{place}{key}.as", entry["as"], others, other)
            entries[key] = merge(named, entry)
    return entries


def _owners(papers: dict[str, Paper], available: list[str]) -> set[str]:
    """The papers whose tables are drawn; a table of a paper that is not there is an error."""
    owners = set()
    for name, paper in papers.items():
        drawn = {
            f"figures.{figure}.experiments.{position}": reference
            for figure, entry in paper.figures.items()
            for position, reference in enumerate(entry.experiments)
        }
        others = {
            f"interpretations.{key}.instead.{experiment}.of": instead.of or experiment
            for key, interpretation in paper.interpretations.items()
            for experiment, instead in interpretation.instead.items()
        }
        for key, reference in (drawn | others).items():
            owner, _ = layout.owner_of_table(name, reference)
            check_known(f"{label(name, PAPER)}: {key}", "no paper", owner, available)
            owners |= {owner} if key in drawn else set()
    return owners
