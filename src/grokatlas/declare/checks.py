"""Mistakes in what papers declare, found when the configuration is read: before anything runs."""

import ast
import fnmatch
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from grokatlas import registry
from grokatlas.code import module_shape
from grokatlas.declare import (
    cells,
    drawing,
    interpretation_checks,
    interpretations,
    signatures,
    versions,
)
from grokatlas.declare.claim_models import Claim
from grokatlas.declare.models import CLAIMS, EXPERIMENTS, PAPER, Paper, label
from grokatlas.errors import UserError, check_known, nearest
from grokatlas.results import foreign, layout
from grokatlas.results.layout import SCALES


def check(papers: dict[str, Paper]) -> None:
    """Check every figure, and every cell at every scale."""
    for name, paper in papers.items():
        for figure in paper.figures:
            _check_figure(papers, name, figure)
        _check_claims(papers, name)
        _check_deviations(name, paper)
        interpretation_checks.check(papers, name)
        for scale in reversed(SCALES):
            for experiment in paper.experiments:
                cells.resolve(name, paper, experiment, scale)


def _check_figure(papers: dict[str, Paper], name: str, figure: str) -> None:
    paper = papers[name]
    place = f"{label(name, PAPER)}: figures.{figure}"
    own_names: list[str] = []
    for position, reference in enumerate(paper.figures[figure].experiments):
        where = f"{place}.experiments.{position}"
        owner, experiment = layout.owner_of_table(name, reference)
        if experiment not in papers[owner].experiments:
            hint = nearest(experiment, list(papers[owner].experiments))
            raise UserError(where, f"no experiment {reference!r}; {hint}")
        if experiment in own_names:
            raise UserError(where, f"{experiment!r} is listed twice; remove one")
        own_names.append(experiment)
    _check_cases(papers, name, figure)
    _check_columns(papers, name, figure)
    if paper.figures[figure].draw is not None:
        _check_alone(name, figure, place)
    else:
        _check_function(registry.source_file(versions.figure_module(name, paper, figure)), place)


def _check_function(file: Path, place: str) -> None:
    """A figure that is not declared is drawn by a function of the file of its name."""
    shown = registry.shown(file)
    if not file.is_file():
        modules = registry.own_files(file.parent, "[!_]*.py")
        known = [module.stem for module in modules if module.stem != "claims"]
        problem = f"no function draws it ({shown} is missing); {nearest(file.stem, known)}"
        raise UserError(place, problem)
    wanted = "tabulate" if layout.is_published_table(file.stem) else "draw"
    if wanted not in _functions(file):
        problem = f"no function draws it ({shown} has no function `{wanted}`); add one"
        raise UserError(place, problem)


def _check_cases(papers: dict[str, Paper], name: str, figure: str) -> None:
    """A case that a figure leaves out, or alone shows, is one of its experiments, at some scale."""
    entry = papers[name].figures[figure]
    shown = entry.draw.cases if isinstance(entry.draw, drawing.Curves) else None
    owners = versions.tables(name, entry)
    known = {
        layout.case_of_figure(experiment, cell.case, len(owners))
        for owner, experiment in (owners if entry.undrawn or shown else [])
        for scale in SCALES
        for cell in cells.resolve(owner, papers[owner], experiment, scale)
    }
    where = f"{label(name, PAPER)}: figures.{figure}"
    for key, named in (("undrawn", entry.undrawn), ("draw.cases", shown or [])):
        for position, case in enumerate(named):
            check_known(f"{where}.{key}.{position}", "no case", case, known)
            if case in named[:position]:
                raise UserError(f"{where}.{key}.{position}", "is listed twice; remove one")
    if entry.draw is not None and entry.undrawn:
        problem = "has no meaning beside `draw`; name the cases that are drawn in `draw.cases`"
        raise UserError(f"{where}.undrawn", problem)


def _check_columns(papers: dict[str, Paper], name: str, figure: str) -> None:
    """A column that is drawn is logged, as far as observables say what they log.

    What measures compute is seen when it is drawn.
    """
    entry = papers[name].figures[figure]
    columns = entry.draw.columns if isinstance(entry.draw, drawing.Curves) else None
    logged: set[str] = set()
    for owner, experiment in versions.tables(name, entry) if columns else ():
        for cell in cells.resolve(owner, papers[owner], experiment, "paper"):
            known, whole = _logged(cell.spec)
            if not whole or cell.measures:
                return
            logged |= known
    for position, column in enumerate(columns or []):
        if not any(fnmatch.fnmatchcase(column, each) for each in logged):
            place = f"{label(name, PAPER)}: figures.{figure}.draw.columns.{position}"
            raise UserError(place, f"no column {column!r} is logged; {nearest(column, [*logged])}")


def _logged(spec: dict[str, Any]) -> tuple[set[str], bool]:
    """The columns of a run's history that are known beforehand; True if these are all."""
    if block := foreign.kind(spec):
        columns = spec[block].get("columns")
        return set((columns or {}).values()), columns is not None
    known, whole = signatures.logged(spec.get("observables", []))
    return set(known), whole


def _check_alone(name: str, figure: str, place: str) -> None:
    """A figure that is declared has no function of its own, and is no table of a paper."""
    if layout.is_published_table(figure):
        problem = "a name that begins with `table` is that of a printed table; give another one"
        raise UserError(place, f"`draw` makes curves, and {problem}")
    file = registry.source_file(f"grokatlas.papers.{name}.{figure}")
    if file.is_file():
        problem = f"{registry.shown(file)} draws the figure already; remove this key, or that file"
        raise UserError(f"{place}.draw", problem)


def _check_claims(papers: dict[str, Paper], name: str) -> None:
    paper = papers[name]
    seen: set[str] = set()
    for claim in paper.claims:
        where = f"{label(name, CLAIMS)}: {claim.figure} ({claim.id})"
        if claim.id in seen:
            raise UserError(where, f"{claim.id} is used twice; number each claim once")
        seen.add(claim.id)
        file = registry.source_file(versions.claims_module(name, paper, claim))
        functions = _functions(file)
        if claim.value not in functions:
            shown = registry.shown(file)
            hint = nearest(claim.value, [each for each in functions if not each.startswith("_")])
            raise UserError(where, f"no function {claim.value!r} in {shown}; {hint}")
        arguments = [argument.arg for argument in functions[claim.value].args.args][1:]
        if "readings" in arguments:
            problem = f"`readings` of {claim.value} is named digitised_points now"
            raise UserError(where, f"{problem}; rename it in {registry.shown(file)}")
        known = [each for each in arguments if each not in ("published", "digitised_points")]
        if sorted(claim.keywords) != sorted(known):
            problem = f"{claim.value} takes {', '.join(known) or 'no keywords'}"
            listed = ", ".join(claim.keywords) or "none"
            raise UserError(f"{where}.keywords", f"{problem}, not {listed}; correct `keywords`")
        _check_experiment(papers, name, claim, where)
        _check_case(papers, name, claim, where)
        _check_control(papers, name, claim, functions, f"{where}.fails_with")


def _check_experiment(papers: dict[str, Paper], name: str, claim: Claim, where: str) -> None:
    """A keyword `experiment` of a claim, or of its control, is one of the figure's."""
    known = {own for _, own in versions.tables(name, papers[name].figures[claim.figure])}
    for key, block in (("keywords", claim.keywords), ("fails_with", claim.control)):
        if "experiment" in block:
            place = f"{where}.{key}.experiment"
            check_known(place, "the figure has no experiment", str(block["experiment"]), known)


def _check_case(papers: dict[str, Paper], name: str, claim: Claim, where: str) -> None:
    """A keyword `case` of a claim, or of its control, is a case of the figure's experiments."""
    declared = versions.tables(name, papers[name].figures[claim.figure])
    cases = [papers[owner].experiments[own].cases for owner, own in declared]
    if not all(cases):
        return  # points of a sweep, or members of one run, are cases of their own
    known = {case for each in cases for case in each or ()}
    for key, block in (("keywords", claim.keywords), ("fails_with", claim.control)):
        case = block.get("case")
        if isinstance(case, str):
            check_known(f"{where}.{key}.case", "no case", case, known)


def _check_control(
    papers: dict[str, Paper],
    name: str,
    claim: Claim,
    functions: dict[str, ast.FunctionDef],
    where: str,
) -> None:
    """Refuse a control that is no keywords, no interpretation and no function of tables."""
    if isinstance(claim.fails_with, dict):
        if not claim.fails_with or claim.keywords | claim.fails_with == claim.keywords:
            raise UserError(where, "changes no keyword of the claim; give another value of one")
        for keyword in claim.fails_with:
            check_known(where, "the claim has no keyword", keyword, claim.keywords)
        return
    other = papers.get(papers[name].version_of or "")
    if claim.fails_with is None or (claim.as_ and other and not other.claims):
        return  # a control of the other paper's, which is not selected
    owner, _, counted = versions.same_claim(papers, name, claim).partition("/")
    owner, counted = owner or name, counted or claim.id
    judgements = interpretations.judgements(papers, owner, set())
    others = [each.interpretation for each in judgements if each.claim == counted]
    changes = [key for key, function in functions.items() if _takes_tables_alone(function)]
    problem = "no interpretation of the claim and no function of tables"
    check_known(where, problem, claim.fails_with, [*others, *changes])


def _is_for_claims(function: ast.FunctionDef) -> bool:
    """True for a function that takes tables and returns a number for each seed, or tables."""
    names = [argument.arg for argument in function.args.args]
    returned = ast.unparse(function.returns) if function.returns else ""
    return names[:1] == ["tables"] and returned in ("list[float]", "Tables")


def _takes_tables_alone(function: ast.FunctionDef) -> bool:
    """True for a function that may be a control: it returns tables, and takes nothing else."""
    returned = ast.unparse(function.returns) if function.returns else ""
    return _is_for_claims(function) and returned == "Tables" and len(function.args.args) == 1


def _check_deviations(name: str, paper: Paper) -> None:
    known = [claim.id for claim in paper.claims]
    for position, deviation in enumerate(paper.deviations):
        where = f"{label(name, PAPER)}: deviations.{position}.claims"
        for wanted in deviation.claims:
            check_known(where, "no claim", wanted, known)


def _functions(file: Path) -> dict[str, ast.FunctionDef]:
    """The functions of a module by name, also those that it imports from the package.

    By ``import *`` it has those for claims. Empty where there is no such file.
    """
    try:
        tree = module_shape.syntax_tree(file)
    except FileNotFoundError:
        return {}
    functions = {}
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            functions[node.name] = node
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("grokatlas."):
            known = _functions(registry.source_file(node.module or ""))
            names = {alias.asname or alias.name: alias.name for alias in node.names}
            if "*" in names:
                names = {name: name for name in known if _is_for_claims(known[name])}
            functions |= {name: known[own] for name, own in names.items() if own in known}
    return functions


def unused_experiments(papers: dict[str, Paper]) -> Iterator[str]:
    """A warning for every experiment that no figure uses."""
    figures = ((name, each) for name, paper in papers.items() for each in paper.figures.values())
    used = {table for name, figure in figures for table in versions.tables(name, figure)}
    for name, paper in papers.items():
        others = {other for each in paper.experiments.values() for other in each.starts_from}
        # of a paper without figures there is only what others draw, and what starts from that
        for experiment in paper.experiments.keys() - others if paper.figures else ():
            if (name, experiment) not in used:
                place = f"{label(name, EXPERIMENTS)}: {experiment}"
                yield f"{place}: no figure uses it; it is not run"
