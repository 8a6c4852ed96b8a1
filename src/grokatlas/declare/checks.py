"""Mistakes in what papers declare, found when the configuration is read: before anything runs."""

import ast
from collections.abc import Iterator
from pathlib import Path

from grokatlas import code_digest
from grokatlas.declare import cells
from grokatlas.declare.models import SCALES, Paper
from grokatlas.errors import UserError, nearest
from grokatlas.registry import PACKAGE
from grokatlas.results import layout


def check(papers: dict[str, Paper]) -> None:
    """Check every figure, and every cell at every scale.

    Raises:
        UserError: for the first mistake.
    """
    for name, paper in papers.items():
        for figure, entry in paper.figures.items():
            _check_figure(name, paper, figure, entry.experiments)
        _check_claims(name, paper)
        _check_deviations(name, paper)
        for scale in reversed(SCALES):
            for experiment in paper.experiments:
                cells.resolve(name, paper, experiment, scale)


def _check_figure(name: str, paper: Paper, figure: str, experiments: list[str]) -> None:
    place = f"papers/{name}.yaml: figures.{figure}"
    for position, experiment in enumerate(experiments):
        where = f"{place}.experiments.{position}"
        if experiment not in paper.experiments:
            hint = nearest(experiment, list(paper.experiments))
            raise UserError(where, f"no experiment {experiment!r}; {hint}")
        if experiment in experiments[:position]:
            raise UserError(where, f"{experiment!r} is listed twice; remove one")
    folder = PACKAGE / "papers" / name
    label = f"src/grokatlas/papers/{name}/{figure}.py"
    if not (folder / f"{figure}.py").is_file():
        known = sorted(file.stem for file in folder.glob("[!_]*.py") if file.stem != "claims")
        problem = f"no function draws it ({label} is missing); {nearest(figure, known)}"
        raise UserError(place, problem)
    wanted = "tabulate" if layout.is_published_table(figure) else "draw"
    if wanted not in _functions(folder / f"{figure}.py"):
        problem = f"no function draws it ({label} has no function `{wanted}`); add one"
        raise UserError(place, problem)


def _check_claims(name: str, paper: Paper) -> None:
    label = f"src/grokatlas/papers/{name}/claims.py"
    functions = _functions(PACKAGE / "papers" / name / "claims.py") if paper.claims else {}
    seen: set[str] = set()
    for position, claim in enumerate(paper.claims):
        where = f"papers/{name}.yaml: claims.{position} ({claim.id})"
        if claim.id in seen:
            raise UserError(where, f"{claim.id} is used twice; number each claim once")
        seen.add(claim.id)
        if claim.figure not in paper.figures:
            hint = nearest(claim.figure, list(paper.figures))
            raise UserError(where, f"no figure {claim.figure!r}; {hint}")
        if claim.value not in functions:
            hint = nearest(claim.value, [each for each in functions if not each.startswith("_")])
            raise UserError(where, f"no function {claim.value!r} in {label}; {hint}")
        known = [argument.arg for argument in functions[claim.value].args.args][1:]
        if sorted(claim.keywords) != sorted(known):
            problem = f"{claim.value} takes {', '.join(known) or 'no keywords'}"
            given = ", ".join(claim.keywords) or "none"
            raise UserError(f"{where}.keywords", f"{problem}, not {given}; correct `keywords`")


def _check_deviations(name: str, paper: Paper) -> None:
    known = [claim.id for claim in paper.claims]
    for position, deviation in enumerate(paper.deviations):
        for wanted in deviation.claims:
            if wanted not in known:
                where = f"papers/{name}.yaml: deviations.{position}.claims"
                raise UserError(where, f"no claim {wanted!r}; {nearest(wanted, known)}")


def _functions(file: Path) -> dict[str, ast.FunctionDef]:
    """The functions of a module by name, also those that it imports from the package.

    None where there is no such file.
    """
    try:
        tree = code_digest.syntax_tree(file)
    except FileNotFoundError:
        return {}
    found = {}
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            found[node.name] = node
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("grokatlas."):
            there = PACKAGE.parent.joinpath(*node.module.split(".")).with_suffix(".py")
            known = _functions(there)
            names = {alias.asname or alias.name: alias.name for alias in node.names}
            found |= {name: known[own] for name, own in names.items() if own in known}
    return found


def unused_experiments(papers: dict[str, Paper]) -> Iterator[str]:
    """A warning for every experiment that no figure uses."""
    for name, paper in papers.items():
        used = {experiment for entry in paper.figures.values() for experiment in entry.experiments}
        for experiment in paper.experiments:
            if experiment not in used:
                place = f"papers/{name}.yaml: experiments.{experiment}"
                yield f"{place}: no figure uses it; it is not run"
