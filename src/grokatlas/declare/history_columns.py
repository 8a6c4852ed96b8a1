"""The columns of a run's history: each is logged once, and those that are named are logged."""

import ast
import fnmatch
from collections.abc import Iterator
from typing import Any

from grokatlas import registry
from grokatlas.declare import signatures
from grokatlas.engine import members
from grokatlas.errors import nearest, shown
from grokatlas.results.foreign import ACCURACY, OF_TABLES

Reason = tuple[list[str], str]  # the place in a spec, and what is wrong and allowed there
OF_ROWS = ("step", "member", *OF_TABLES)  # columns of every table that has a history
Columns = dict[str, str | None]  # the direction of each; ``*`` in a name matches anything


def why_not(spec: dict[str, Any], measures: list[dict[str, Any]]) -> Reason | None:
    """The first mistake in what a run logs, and in what `train.stop` and measures read of it."""
    columns, whole = signatures.logged(spec["observables"])
    reasons = (
        *_needs(spec, measures),
        *_logged_twice(spec),
        *_stops(spec, columns, whole),
        *_measured(measures, columns, whole),
    )
    return next(iter(reasons), None)


def refused(columns: set[str], spec: dict[str, Any]) -> str:
    """The mistake in the columns that a run does log; empty for none."""
    declared, whole = signatures.logged(spec["observables"])
    for column in sorted(columns):
        if column in (*OF_ROWS, *members.paths(spec)):
            return f"an observable logs {column}, which every table has; rename it"
        if _is_missing(column, declared, whole):
            return f"an observable logs {column}, and no COLUMNS names it; add it there"
    return ""


def _needs(spec: dict[str, Any], measures: list[dict[str, Any]]) -> Iterator[Reason]:
    """A run stores and logs what is measured after it; later it could not be added."""
    logged = [observable["name"] for observable in spec["observables"]]
    for index, name in enumerate(measure["name"] for measure in measures):
        for need in signatures.needs(name):
            if need == "snapshots" and not spec["train"]["snapshots"]:
                problem = f"{name} reads snapshots, and train.snapshots is []; write [final]"
            elif need not in ["snapshots", *logged]:
                problem = f"{name} reads what {need} logs; add {{name: {need}}} to observables"
            else:
                continue
            yield ["measures", str(index), "name"], problem


def _logged_twice(spec: dict[str, Any]) -> Iterator[Reason]:
    """A column has the name of one that each table has, or that another observable logs."""
    owners = dict.fromkeys((*OF_ROWS, *spec["ensemble"]), "every table has")
    for index, entry in enumerate(spec["observables"]):
        columns, _ = signatures.logged([entry])
        for column in columns:
            for other, owner in owners.items():
                if fnmatch.fnmatchcase(other, column) or fnmatch.fnmatchcase(column, other):
                    problem = f"{entry['name']} logs {column}, which {owner}"
                    yield ["observables", str(index), "name"], f"{problem}; rename or remove it"
        owners |= dict.fromkeys(columns, f"observables.{index} logs")


def _stops(spec: dict[str, Any], columns: Columns, whole: bool) -> Iterator[Reason]:
    for column, level in spec["train"].get("stop", {}).items():
        place = ["train", "stop", column]
        if _is_missing(column, columns, whole):
            yield place, _missing(column, columns)
        elif _direction(column, columns) == "falls" and not isinstance(level, dict):
            problem = f"{shown(level)} would be reached at once, as {column} falls"
            yield place, f"{problem}; write {{below: {shown(level)}}}"
        elif ACCURACY.fullmatch(column) and not all(0 <= each <= 1 for each in _levels(level)):
            yield place, f"{shown(level)} is not allowed: an accuracy is a share from 0 to 1"


def _levels(level: Any) -> list[float]:
    return [*level.values()] if isinstance(level, dict) else [level]


def _measured(measures: list[dict[str, Any]], columns: Columns, whole: bool) -> Iterator[Reason]:
    for index, measure in enumerate(measures):
        for keyword, kind in signatures.signature("measures", measure["name"]).keywords.items():
            if isinstance(kind, ast.Name) and kind.id == "Column":
                column = measure[keyword]
                if _is_missing(column, columns, whole):
                    yield ["measures", str(index), keyword], _missing(column, columns)


def _is_missing(column: str, columns: Columns, whole: bool) -> bool:
    """True if a column is known not to be logged."""
    return whole and not any(fnmatch.fnmatchcase(column, each) for each in columns)


def _direction(column: str, columns: Columns) -> str | None:
    matching = (way for name, way in columns.items() if fnmatch.fnmatchcase(column, name))
    return next(matching, None)


def _missing(column: str, columns: Columns) -> str:
    others = registry.names("observables")
    source = next((n for n in others if column in (signatures.columns(n) or {})), None)
    hint = f"add {{name: {source}}} to observables" if source else nearest(column, [*columns])
    return f"no column {shown(column)} is logged; {hint}"
