"""From the merged overlays of an experiment to the checked specs of its runs."""

from dataclasses import replace

from grokatlas.declare import foreign, overlays, starts
from grokatlas.declare.cell_check import Checker
from grokatlas.declare.models import Paper
from grokatlas.declare.run_shares import Cell
from grokatlas.results import foreign as foreign_runs


def resolve(paper_name: str, paper: Paper, name: str, scale: str) -> list[Cell]:
    """The cells of an experiment at a scale, checked."""
    family = starts.Family(paper_name, paper, scale, _of_case)
    cases: list[str | None] = [*(paper.experiments[name].cases or [None])]
    return [cell for case in cases for cell in _of_case(family, name, case, ())]


def _of_case(
    family: starts.Family, name: str, case: str | None, behind: tuple[str, ...]
) -> list[Cell]:
    """The cells of one case; `behind` are the cases that start from it."""
    cells = []
    merged = overlays.of(family.paper_name, family.paper, name, case, family.scale)
    for point, with_point, values in merged.points():
        parts = [case, *(f"{path}={value}" for path, value in point.items())]
        label = ", ".join(filter(None, parts))
        checker, named = Checker(with_point), case or label
        if foreign_runs.kind(values):
            cells.append(replace(foreign.cell(checker, named, label, values), point=point))
            continue
        cell = replace(checker.cell(named, label, values), point=point)
        cell = family.with_states(name, case, cell)
        if "start" in values:
            own = (*behind, starts.place(name, case))
            cell = family.linked(cell, with_point, values["start"], own)
        cells.append(cell)
    return cells
