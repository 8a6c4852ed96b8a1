"""Specs as dotted names: flat, compared, and in one line."""

from typing import Any

from grokatlas.engine import members as run_members
from grokatlas.results import hashing

ABSENT = "absent"


def flat(value: Any, path: str = "") -> dict[str, Any]:
    """Nested dicts and lists as ``penalties.0.weight: 0.1``; an empty one is a value."""
    if isinstance(value, dict) and value:
        items = [(str(key), inner) for key, inner in value.items()]
    elif isinstance(value, list) and value:
        items = [(str(index), inner) for index, inner in enumerate(value)]
    else:
        return {path: value}
    values_by_path: dict[str, Any] = {}
    for key, inner in items:
        values_by_path |= flat(inner, f"{path}.{key}" if path else key)
    return values_by_path


def differences(old: Any, new: Any) -> list[tuple[str, str, str]]:
    """Every dotted name whose value differs, with both values as text, sorted by name."""
    a, b = flat(old), flat(new)
    same = {path for path in a.keys() & b.keys() if repr(a[path]) == repr(b[path])}
    paths = sorted((a.keys() | b.keys()) - same)
    texts = [(path, _text(a, path), _text(b, path)) for path in paths]
    return [(path, before, after) for path, before, after in texts if before != after]


def compact(spec: dict[str, Any]) -> list[str]:
    """A run's spec, one line for each block: ``optimizer: adam(beta1=0.9, lr=0.001)``."""
    lines = []
    for block, value in spec.items():
        if block == "ensemble":
            continue
        entries = value if isinstance(value, list) else [value]
        lines.append(f"{block}: {', '.join(_call(entry) for entry in entries)}")
    return lines


def light(spec: dict[str, Any]) -> list[dict[str, Any]]:
    """The measures that a table computed, of every cell in turn."""
    return [measure for cell in spec.get("cells", []) for measure in cell.get("light", [])]


def members(spec: dict[str, Any]) -> str:
    """The axes of a run's members: ``4 members: seed 0..3``; ``with`` is between joined paths."""
    count, parts = 1, []
    for axis in run_members.axes(spec):
        count *= len(next(iter(axis.values())))
        parts.append(" with ".join(f"{path} {values(listed)}" for path, listed in axis.items()))
    return f"{count} member{'s' if count != 1 else ''}: {'; '.join(parts)}"


def values(listed: list[Any]) -> str:
    """Some values in words: ``0.1, 0.2``, or ``0..9`` for whole numbers that follow each other."""
    first = listed[0] if listed else None
    if (
        len(listed) > 2
        and isinstance(first, int)
        and listed == list(range(first, first + len(listed)))
    ):
        return f"{first}..{listed[-1]}"
    return ", ".join(map(hashing.canonical, listed))


def _call(entry: Any) -> str:
    if not isinstance(entry, dict):
        return hashing.canonical(entry)
    keywords = {k: v for k, v in entry.items() if k != "name"}
    inner = ", ".join(
        f"{path}={hashing.canonical(v)}" for path, v in flat(keywords).items() if path
    )
    return f"{entry.get('name', '')}({inner})" if inner else str(entry.get("name", ""))


def _text(values: dict[str, Any], path: str) -> str:
    return hashing.canonical(values[path]) if path in values else ABSENT
