"""Mistakes in what papers declare, found when the configuration is read: before anything runs."""

import ast
from collections.abc import Iterator

from grokatlas import cells, store
from grokatlas.components import PACKAGE
from grokatlas.config import SCALES, Paper
from grokatlas.errors import UserError, nearest


def check(papers: dict[str, Paper]) -> None:
    """Check every figure, and every cell at every scale.

    Raises:
        UserError: for the first mistake.
    """
    for name, paper in papers.items():
        for figure, entry in paper.figures.items():
            _check_figure(name, paper, figure, entry.experiments)
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
            raise UserError(where, f"{experiment!r} stands twice; keep one")
    folder = PACKAGE / "papers" / name
    label = f"src/grokatlas/papers/{name}/{figure}.py"
    try:
        tree = ast.parse((folder / f"{figure}.py").read_text(encoding="utf-8"))
    except FileNotFoundError:
        known = sorted(file.stem for file in folder.glob("[!_]*.py"))
        problem = f"no function draws it ({label} is missing); {nearest(figure, known)}"
        raise UserError(place, problem) from None
    except SyntaxError as error:
        raise UserError(f"{label}: line {error.lineno}", f"not valid Python: {error.msg}") from None
    wanted = "tabulate" if store.is_published_table(figure) else "draw"
    if not any(isinstance(node, ast.FunctionDef) and node.name == wanted for node in tree.body):
        problem = f"no function draws it ({label} has no function `{wanted}`); add one"
        raise UserError(place, problem)


def unused_experiments(papers: dict[str, Paper]) -> Iterator[str]:
    """A warning for every experiment that no figure uses."""
    for name, paper in papers.items():
        used = {experiment for entry in paper.figures.values() for experiment in entry.experiments}
        for experiment in paper.experiments:
            if experiment not in used:
                place = f"papers/{name}.yaml: experiments.{experiment}"
                yield f"{place}: no figure uses it; it is not run"
