"""Conditions on fields of runs: ``optimizer.lr>=1e-3``, and which members meet them."""

import fnmatch
import json
import operator
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from grokatlas import registry
from grokatlas.declare import strict_yaml
from grokatlas.errors import UserError, closest
from grokatlas.results import layout
from grokatlas.runs.run import DATES, DIGITS, FACTS, PLACES, RENAMED, STATES, RunEntry

ORDERED = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}
OPERATORS = ("=", "!=", *ORDERED)
LISTED = 8  # values or fields that an error names
DATE = re.compile(r"\d{4}[-\d]*(T[:\d]*Z?)?")  # or its beginning
CONSTANTS = {"true": True, "false": False, "null": None, "none": None}


@dataclass(frozen=True)
class Condition:
    """One condition.

    Attributes:
        values: as they were given; one must be met for ``=``, and none for ``!=``.
    """

    text: str
    name: str
    operator: str
    values: tuple[str, ...]

    def holds(self, values: list[Any]) -> bool:
        """Tell if it holds for a field's values; ``!=`` also holds where there is none."""
        if self.operator in ORDERED:
            return any(self._ordered(value, self.values[0]) for value in values)
        same = any(self._same(value, text) for value in values for text in self.values)
        return same == (self.operator == "=")

    def _same(self, value: Any, text: str) -> bool:
        if not isinstance(value, str):
            plain = _plain(text)
            return _is_number(value) == _is_number(plain) and value == plain
        value, text = value.lower(), text.lower()
        if self.name in (*DIGITS, *DATES):
            return value.startswith(text)
        return fnmatch.fnmatchcase(value, text)

    def _ordered(self, value: Any, text: str) -> bool:
        if self.name in DATES:
            return bool(ORDERED[self.operator](value[: len(text)], text))
        plain = _plain(text)
        both = _is_number(value) and _is_number(plain)
        return both and bool(ORDERED[self.operator](value, plain))


def parse(text: str) -> Condition:
    """A condition from the command line."""
    parts = re.fullmatch(r"\s*([\w./-]+)\s*([=!<>~:&|^]+)?\s*(.*?)\s*", text, re.DOTALL)
    how = "write FIELD=VALUE, and in quotes 'FIELD>=VALUE'"
    if parts is None:
        raise UserError(repr(text), f"is no condition; {how}")
    name, compared, given = parts[1], parts[2], parts[3]
    if compared is None:
        problem = f"compares nothing; {how}, or --show {name} for a column of its values"
        raise UserError(text, problem if not given else f"has no comparison; {how}")
    if compared not in OPERATORS:
        raise UserError(text, f"no comparison {compared!r}; allowed: {', '.join(OPERATORS)}")
    values = tuple(each.strip() for each in given.split(","))
    if not all(values):
        raise UserError(text, f"lacks a value after {compared!r}; {how}")
    if len(values) > 1 and compared in ORDERED:
        raise UserError(text, f"{compared!r} takes one value; a list is for = and !=")
    return Condition(text, name, compared, values)


def matching(run: RunEntry, conditions: list[Condition]) -> list[int]:
    """The members of a run that meet all conditions, by their positions."""
    own = set(run.members[0])
    shared = [condition for condition in conditions if condition.name not in own]
    if not all(condition.holds(run.of(condition.name)) for condition in shared):
        return []
    varied = [condition for condition in conditions if condition.name in own]
    every = range(len(run.members))
    return [m for m in every if all(c.holds(run.of(c.name, m)) for c in varied)]


def check(conditions: list[Condition], shown: list[str], runs: list[RunEntry]) -> None:
    """Refuse fields and values that no run has, and comparisons that cannot be made."""
    names = set(FACTS).union(*(run.names() for run in runs))
    places = [(c.name, c.text) for c in conditions] + [(n, f"--show {n}") for n in shown]
    for name, place in places:
        if name not in names:
            problem = f"no run here has a field {name!r}; {_nearest_field(name, names)}"
            raise UserError(place, problem)
    for condition in conditions:
        _check_values(condition, _all_values(condition.name, runs))


def _check_values(condition: Condition, there: list[Any]) -> None:
    """Refuse a comparison of what cannot be compared, and a text that no run has."""
    numbers = any(map(_is_number, there))
    for text in condition.values:
        is_number = _is_number(_plain(text))
        if condition.name in DATES:
            if not DATE.fullmatch(text):
                raise UserError(condition.text, "a date is such as 2026-11-20, or its beginning")
        elif condition.operator not in ORDERED:
            if there and not (numbers and is_number):
                _check_text(condition, text, there)
        elif there and not numbers:
            problem = f"{condition.operator!r} compares numbers; {condition.name} is {_some(there)}"
            raise UserError(condition.text, f"{problem}; use = or !=")
        elif numbers and not is_number:
            values = f"{condition.name} is {_some(there)}"
            raise UserError(condition.text, f"{text!r} is no number; {values}")


def _check_text(condition: Condition, text: str, there: list[Any]) -> None:
    """Refuse a text that no run has and none may have."""
    allowed = _allowed(condition.name)
    if condition.name == "state" and text in RENAMED:
        raise UserError(condition.text, f"is called state={RENAMED[text]!r}")
    lone = Condition(condition.text, condition.name, "=", (text,))
    if any(mark in text for mark in "*?[") or lone.holds([*there, *allowed]):
        return
    if condition.name in DIGITS:
        raise UserError(condition.text, f"no {condition.name} begins with {text!r}")
    texts = [value for value in there if isinstance(value, str)]
    hint = closest(text, sorted([*texts, *allowed])) if texts else ""
    values = f"{hint}{' ' * bool(hint)}{condition.name} is {_some([*there, *allowed])}"
    raise UserError(condition.text, f"no run here has {text!r}; {values}")


def _allowed(name: str) -> list[str]:
    """The values that a field may have though no run here has: components, states and such."""
    block = name.removesuffix(".name").partition(".")[0]
    if block in registry.FOLDERS and re.fullmatch(rf"{block}(\.\d+)?(\.name)?", name):
        return registry.names(block)
    return list({"state": STATES, "scale": layout.SCALES, "where": PLACES}.get(name, ()))


def _some(values: Iterable[Any]) -> str:
    """Some of the values, in order."""
    ordered = sorted(set(values), key=lambda each: (isinstance(each, str), each is None, str(each)))
    if all(map(_is_number, ordered)):
        ordered.sort()
    texts = [shown(each) for each in ordered]
    more = f" or one of {len(texts) - LISTED} others" if len(texts) > LISTED else ""
    return ", ".join(texts[:LISTED]) + more


def _all_values(name: str, runs: list[RunEntry]) -> list[Any]:
    """Every value that a field has somewhere, each once."""
    by_text: dict[str, Any] = {}
    for run in runs:
        by_text |= {repr(value): value for value in run.of(name)}
    return [value for value in by_text.values() if not isinstance(value, list | dict)]


def _nearest_field(name: str, names: set[str]) -> str:
    """The hint after an unknown field: the nearest, then those of its block, or all blocks."""
    block = name.partition(".")[0]
    bare = {each for each in names if not re.search(r"\.\d+(\.|$)", each)}
    inner = sorted(
        each for each in bare if each.startswith(f"{block}.") and not each.endswith(".name")
    )
    hint = closest(name, sorted(bare))
    question = f"{hint} " if hint else ""
    if inner:
        return f"{question}{block} has: {', '.join(inner)}"
    blocks = sorted({each.partition(".")[0] for each in bare} - set(FACTS))
    return f"{question}fields are those of {', '.join(blocks)}, and {', '.join(FACTS)}"


def shown(value: Any) -> str:
    """A value as a condition spells it."""
    return value if isinstance(value, str) else json.dumps(value)


def _plain(text: str) -> Any:
    """A value as YAML has it: a number, true, false, null or text."""
    number = strict_yaml.NUMBER.fullmatch(text)
    return float(text) if number else CONSTANTS.get(text.lower(), text)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
