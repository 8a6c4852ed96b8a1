"""Conditions on fields of runs: ``optimizer.lr>=1e-3``, and which members meet them."""

import contextlib
import fnmatch
import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from grokatlas import registry
from grokatlas.declare import strict_yaml
from grokatlas.errors import UserError, closest
from grokatlas.results import layout
from grokatlas.runs.run import DATES, DIGITS, FACTS, PLACES, RENAMED, STATES, RunEntry

OPERATORS = ("=", "!=", "<", "<=", ">", ">=")
ORDERED = OPERATORS[2:]
LISTED = 8  # values or fields that an error names
DATE = re.compile(r"\d{4}(-\d\d(-\d\d(T\d\d(:\d\d(:\d\dZ?)?)?)?)?)?")  # or its beginning
CONSTANTS = {"true": True, "false": False, "null": None, "none": None}


@dataclass(frozen=True)
class Value:
    """What a field is compared with: the text as given, and what it is in YAML."""

    text: str
    plain: Any


@dataclass(frozen=True)
class Condition:
    """One condition.

    Attributes:
        values: of which one must be met for ``=``, and none for ``!=``.
    """

    text: str
    name: str
    operator: str
    values: tuple[Value, ...]

    def holds(self, found: list[Any]) -> bool:
        """Whether it holds for a field's values; ``!=`` also holds where there is none."""
        if self.operator == "!=":
            return not any(self._same(value, each) for value in found for each in self.values)
        if self.operator == "=":
            return any(self._same(value, each) for value in found for each in self.values)
        return any(self._ordered(value, self.values[0]) for value in found)

    def _same(self, found: Any, given: Value) -> bool:
        if not isinstance(found, str):
            return _is_number(found) == _is_number(given.plain) and found == given.plain
        if self.name in DIGITS:
            return found.startswith(given.text.lower())
        if self.name in DATES:
            return found.startswith(given.text)
        return fnmatch.fnmatchcase(found.lower(), given.text.lower())

    def _ordered(self, found: Any, given: Value) -> bool:
        a, b = found, given.plain
        if self.name in DATES and isinstance(found, str):
            a, b = found[: len(given.text)], given.text
        elif not (_is_number(a) and _is_number(b)):
            return False
        compared = {"<": a < b, "<=": a <= b, ">": a > b, ">=": a >= b}
        return bool(compared[self.operator])


def parse(text: str) -> Condition:
    """A condition from the command line."""
    parts = re.fullmatch(r"\s*([\w./-]+)\s*([=!<>~:&|^]+)?\s*(.*?)\s*", text, re.DOTALL)
    how = "write FIELD=VALUE, and in quotes 'FIELD>=VALUE'"
    if parts is None:
        raise UserError(repr(text), f"is no condition; {how}")
    name, operator, given = parts[1], parts[2], parts[3]
    if operator is None:
        problem = f"compares nothing; {how}, or --show {name} for a column of its values"
        raise UserError(text, problem if not given else f"has no comparison; {how}")
    if operator not in OPERATORS:
        raise UserError(text, f"no comparison {operator!r}; allowed: {', '.join(OPERATORS)}")
    listed = [each.strip() for each in given.split(",")]
    if not all(listed):
        raise UserError(text, f"lacks a value after {operator!r}; {how}")
    if len(listed) > 1 and operator in ORDERED:
        raise UserError(text, f"{operator!r} takes one value; a list is for = and !=")
    values = tuple(Value(each, _plain(each)) for each in listed)
    for value in values:
        if isinstance(value.plain, float) and not math.isfinite(value.plain):
            raise UserError(text, f"{value.text} is not a finite number; write a finite one")
    return Condition(text, name, operator, values)


def matching(run: RunEntry, conditions: list[Condition]) -> list[int]:
    """The members of a run that meet all conditions, by their positions."""
    own = set(run.members[0])
    shared = [each for each in conditions if each.name not in own]
    if not all(each.holds(run.of(each.name)) for each in shared):
        return []
    varied = [each for each in conditions if each.name in own]
    every = range(len(run.members))
    return [m for m in every if all(each.holds(run.of(each.name, m)) for each in varied)]


def check(conditions: list[Condition], shown: list[str], runs: list[RunEntry]) -> None:
    """Refuse fields and values that no run has, and comparisons that cannot be made."""
    names = set(FACTS).union(*(run.names() for run in runs))
    for name, place in (
        *((c.name, c.text) for c in conditions),
        *((n, f"--show {n}") for n in shown),
    ):
        if name not in names:
            raise UserError(
                place, f"no run here has a field {name!r}; {_nearest_field(name, names)}"
            )
    for condition in conditions:
        _check_values(condition, _all_values(condition.name, runs))


def _check_values(condition: Condition, there: list[Any]) -> None:
    """Refuse a comparison of what cannot be compared, and a text that no run has."""
    numbers = any(map(_is_number, there))
    texts = [value for value in there if isinstance(value, str)]
    dates = condition.name in DATES
    if dates and not all(_is_date(given.text) for given in condition.values):
        raise UserError(condition.text, "a date is such as 2026-11-20, or its beginning")
    if condition.operator in ORDERED:
        given = condition.values[0]
        if there and not numbers and not dates:
            problem = f"{condition.operator!r} compares numbers; {condition.name} is {_some(there)}"
            raise UserError(condition.text, f"{problem}; use = or !=")
        if numbers and not _is_number(given.plain):
            raise UserError(
                condition.text, f"{given.text!r} is no number; {_values(condition, there)}"
            )
        return
    if dates or not there:
        return
    known = [*texts, *_allowed(condition.name)]
    for given in condition.values:
        if condition.name == "state" and given.text in RENAMED:
            raise UserError(condition.text, f"is called state={RENAMED[given.text]!r}")
        lone = Condition(condition.text, condition.name, "=", (given,))
        if any(mark in given.text for mark in "*?[") or lone.holds([*there, *known]):
            continue
        if numbers and _is_number(given.plain):
            continue
        if condition.name in DIGITS:
            raise UserError(condition.text, f"no {condition.name} begins with {given.text!r}")
        hint = closest(given.text, sorted(known)) if texts else ""
        told = f"{hint}{' ' * bool(hint)}{_values(condition, there)}"
        raise UserError(condition.text, f"no run here has {given.text!r}; {told}")


def _allowed(name: str) -> list[str]:
    """What a field may be though no run here is: the components of a block, states and such."""
    block = name.removesuffix(".name").partition(".")[0]
    if block in registry.FOLDERS and re.fullmatch(rf"{block}(\.\d+)?(\.name)?", name):
        return registry.names(block)
    return list({"state": STATES, "scale": layout.SCALES, "where": PLACES}.get(name, ()))


def _values(condition: Condition, there: list[Any]) -> str:
    return f"{condition.name} is {_some([*there, *_allowed(condition.name)])}"


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
    found: dict[str, Any] = {}
    for run in runs:
        found |= {repr(value): value for value in run.of(name)}
    return [value for value in found.values() if not isinstance(value, list | dict)]


def _nearest_field(name: str, names: set[str]) -> str:
    """The hint after an unknown field: the nearest, then those of its block, or all blocks."""
    block = name.partition(".")[0]
    bare = {each for each in names if not re.search(r"\.\d+(\.|$)", each)}
    inner = sorted(
        each for each in bare if each.startswith(f"{block}.") and not each.endswith(".name")
    )
    hint = closest(name, sorted(bare))
    told = f"{hint} " if hint else ""
    if inner:
        return f"{told}{block} has: {', '.join(inner)}"
    blocks = sorted({each.partition(".")[0] for each in bare} - set(FACTS))
    return f"{told}fields are those of {', '.join(blocks)}, and {', '.join(FACTS)}"


def shown(value: Any) -> str:
    """A value as a condition spells it."""
    if value is None or isinstance(value, bool):
        return str(value).lower() if value is not None else "null"
    return str(value)


def _plain(text: str) -> Any:
    """A value as YAML has it: a number, true, false, null or text."""
    if strict_yaml.NUMBER.fullmatch(text):
        number = float(text)
        whole = math.isfinite(number) and re.fullmatch(r"[-+]?\d+", text)
        return int(text) if whole else number
    return CONSTANTS.get(text.lower(), text)


def _is_date(text: str) -> bool:
    """Test for a date that there is, with or without a time, or for the beginning of one."""
    if DATE.fullmatch(text):
        with contextlib.suppress(ValueError):
            return bool(datetime.fromisoformat(text + "2000-01-01"[len(text) :]))
    return False


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
