"""The settings that changed since a result was made, of a table those of its runs."""

from collections.abc import Callable
from typing import Any

from grokatlas.engine import members
from grokatlas.results import dotted

Spec = dict[str, Any]
SpecOf = Callable[[str], Spec | None]  # by the id of a run
Change = tuple[str, str, str]  # dotted name, old value, new value


def of_settings(old: Spec, new: Spec, made: SpecOf, planned: SpecOf) -> list[Change]:
    """The differences of a made spec and the declared one.

    Where a table has other runs, the settings of these runs are compared: an id says nothing.

    Args:
        old: of a result that was made.
        new: of the same as it is declared.
        made: the spec of a run that was made; None where it is not known.
        planned: the same of one that is declared.
    """
    if "cells" not in old or "cells" not in new:
        return dotted.differences(old, new)
    differences = dotted.differences(_without_cells(old), _without_cells(new))
    pairs, removed, added = _paired(old["cells"], new["cells"])
    for before, after in pairs:
        if before["run"] != after["run"]:
            specs = made(before["run"]), planned(after["run"])
            differences += _between_runs(before["run"], after["run"], *specs)
        differences += dotted.differences(_measured(before), _measured(after))
    for cells, was, now in ((removed, "declared", "not"), (added, dotted.ABSENT, "declared")):
        differences += [(f"cell {_label(cell) or cell['run']}", was, now) for cell in cells]
    return list(dict.fromkeys(differences))


def _paired(
    old: list[Spec], new: list[Spec]
) -> tuple[list[tuple[Spec, Spec]], list[Spec], list[Spec]]:
    """The cells of two tables that correspond, by run, then by label, then in order; and others."""
    pairs, old, new = [], list(old), list(new)
    for named in (lambda cell: cell["run"], _label):
        waiting = {named(cell): cell for cell in reversed(new)}
        for cell in list(old):
            twin = waiting.pop(named(cell), None)
            if twin is not None:
                pairs.append((cell, twin))
                old.remove(cell)
                new.remove(twin)
    count = min(len(old), len(new))
    pairs += zip(old[:count], new[:count], strict=True)
    return pairs, old[count:], new[count:]


def _label(cell: Spec) -> str:
    """The name of a cell in its table."""
    return str(cell.get("label") or cell.get("case") or "")


def _between_runs(old: str, new: str, before: Spec | None, after: Spec | None) -> list[Change]:
    """The differences of the specs of two runs, axes of members as wholes."""
    if before is None or after is None:
        return [("run", old, new)]
    differences = dotted.differences(*({**each, "ensemble": {}} for each in (before, after)))
    a, b = _axes(before), _axes(after)
    changed = [path for path in sorted(a.keys() | b.keys()) if a.get(path) != b.get(path)]
    absent = dotted.ABSENT
    return differences + [(path, a.get(path, absent), b.get(path, absent)) for path in changed]


def _axes(spec: Spec) -> dict[str, str]:
    """The axes of a run's members in words, and which of them are joined."""
    joined = ", ".join("+".join(axis) for axis in members.axes(spec) if len(axis) > 1)
    known = {path: dotted.values(values) for path, values in members.paths(spec).items()}
    return {**known, f"ensemble.{members.ZIP}": joined or dotted.ABSENT}


def _without_cells(spec: Spec) -> Spec:
    return {key: value for key, value in spec.items() if key != "cells"}


def _measured(cell: Spec) -> Spec:
    """The measures of a cell."""
    return {"measures": {key: cell.get(key, []) for key in ("measures", "light")}}
