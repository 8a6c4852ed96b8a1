"""The overlays of a cell: how they merge, and which of them holds a mistake.

Overlays, weakest first: the paper's defaults, the experiment, the case, then the overrides of the
scale (`quick`; for `smoke`, `smoke` on top of `quick`) of each of them, then the sweep's point.
Blocks merge key by key, but a block that names another component replaces the whole block; lists
are replaced; null takes away what weaker overlays give.
"""

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from grokatlas import registry
from grokatlas.declare import joined, renaming, run_shares
from grokatlas.declare.models import (
    EXPERIMENTS,
    PAPER,
    Experiment,
    Overlay,
    Overrides,
    Paper,
    label,
)
from grokatlas.errors import UserError, nearest, shown
from grokatlas.results.layout import SCALES

MOST = 10_000  # cells of a sweep, members of a run
KEPT = ("observables", "measures", "log", "snapshots")  # what is kept of a run


@dataclass(frozen=True)
class PlacedOverlay:
    """One overlay: the file and the place in it, and the values that it sets."""

    place: str
    values: dict[str, Any]


@dataclass(frozen=True)
class Overlays:
    """The overlays of one cell.

    Attributes:
        place: the file, and the experiment's or the case's place in it.
        parts: the overlays, weakest first.
    """

    place: str
    parts: tuple[PlacedOverlay, ...]

    def merged(self) -> dict[str, Any]:
        """One block of values, without nulls."""
        values: dict[str, Any] = {}
        for part in self.parts:
            values = merged(values, part.values)
        without: dict[str, Any] = _without_nulls(values)
        return without

    def blocks(self) -> dict[str, Any]:
        """The settings of a run, without logging and `members_per_run`; with a sweep's axes."""
        other = (*KEPT, *run_shares.KEYS)
        values = {key: value for key, value in self.merged().items() if key not in other}
        train = {k: v for k, v in values.get("train", {}).items() if k not in KEPT}
        axes = {**values.pop("sweep", {}), **joined.flat(values.get("ensemble", {}))}
        return renaming.canonical_spec({**values, "train": train, "ensemble": axes})

    def points(self) -> Iterator[tuple[dict[str, Any], "Overlays", dict[str, Any]]]:
        """Each point of the sweep's product: its axes, the overlays with it on top, the values."""
        values = self.merged()
        axes = values.pop("sweep", {})
        self._check_axes(axes, joined.flat(values.get("ensemble", {})))
        for choice in itertools.product(*axes.values()):
            point = dict(zip(axes, choice, strict=True))
            chosen, parts = values, list(self.parts)
            for path, value in point.items():
                chosen = self._with(chosen, keys_of(path), value, path)
                self._check_block(keys_of(path)[0], chosen, path)
                holder = self._holder(["sweep", path])
                place = f"{holder.place if holder else self.place}.sweep"
                parts.append(PlacedOverlay(place, _nested(keys_of(path), value)))
            yield point, replace(self, parts=tuple(parts)), _without_nulls(chosen)

    def _check_block(self, name: str, values: dict[str, Any], path: str) -> None:
        """Check that a point of the sweep leaves a block what it is."""
        block, listed = values[name], name in registry.LISTS
        if block is not None and not (_blocks(block) if listed else isinstance(block, dict)):
            kind = "a list of blocks" if listed else "a block"
            problem = f"makes {name} {shown(block)}; it must be {kind}"
            raise self.error(["sweep", path], f"{problem} at each point of the axis")

    def _check_axes(self, axes: dict[str, list[Any]], ensemble: dict[str, Any]) -> None:
        cells = 1
        other = ("sweep", *run_shares.KEYS)
        blocks = [name for name in Overrides.blocks() if name not in other]
        for path, choices in axes.items():
            if keys_of(path)[0] in run_shares.KEYS:
                problem = "says which members share a run, not what is run, so it is no axis"
                raise self.error(["sweep", path], f"{problem}; write it beside `sweep`")
            if keys_of(path)[0] not in blocks:
                hint = nearest(keys_of(path)[0], blocks)
                raise self.error(["sweep", path], f"no such block to sweep; {hint}")
            shared = [own for own in ensemble if f"{path}.".startswith(f"{own}.")]
            if shared:
                problem = f"members differ in {shared[0]} already (ensemble); keep one of both"
                raise self.error(["sweep", path], problem)
            if inner := [other for other in axes if other.startswith(f"{path}.")]:
                problem = f"contains {inner[0]}, which is an axis too; keep one of both"
                raise self.error(["sweep", path], problem)
            if not choices:
                raise self.error(["sweep", path], "an axis needs at least one value")
            if any(choices.count(value) > 1 for value in choices):
                raise self.error(["sweep", path], "a value is listed twice; remove one")
            cells *= len(choices)
        if cells > MOST:
            raise self.error(["sweep"], f"makes {cells} runs; at most {MOST}")

    def _with(self, values: Any, keys: list[str], value: Any, path: str) -> Any:
        """A copy of nested dicts and lists with one place set."""
        if not keys:
            return value
        head, rest = keys[0], keys[1:]
        if isinstance(values, list):
            if not head.isdigit() or int(head) >= len(values):
                problem = f"there is no entry {head!r} (the list has {len(values)})"
                raise self.error(["sweep", path], problem)
            inner = self._with(values[int(head)], rest, value, path)
            return [*values[: int(head)], inner, *values[int(head) + 1 :]]
        if not isinstance(values, dict):
            problem = f"{head!r} leads into {shown(values)}, which is not a block"
            raise self.error(["sweep", path], problem)
        inner = values.get(head, [] if head in registry.LISTS else {})
        return {**values, head: self._with(inner, rest, value, path)}

    def error(self, keys: list[str], problem: str, beside: list[str] | None = None) -> UserError:
        """An error at the strongest overlay that holds `keys`, or holds most of them.

        Args:
            keys: path of the mistake in the merged values.
            problem: what is wrong.
            beside: for a missing key: the overlay that holds this path should hold the key too.
        """
        for length in range(len(keys), 0, -1):
            wanted = beside if beside and length == len(keys) else keys[:length]
            holder = self._holder(wanted)
            if holder:
                return UserError(f"{holder.place}.{'.'.join(keys)}", problem)
        return UserError(f"{self.place}.{'.'.join(keys)}", problem)

    def is_as_strong(self, keys: list[str], other: list[str]) -> bool:
        """Compare the overlays that give two paths: true if the first one is not weaker."""
        places = [self.parts.index(part) for part in map(self._holder, (keys, other)) if part]
        return len(places) == 2 and places[0] >= places[1]

    def _holder(self, keys: list[str]) -> PlacedOverlay | None:
        return next((part for part in reversed(self.parts) if _holds(part.values, keys)), None)


def of(paper_name: str, paper: Paper, name: str, case: str | None, scale: str) -> Overlays:
    """The overlays of a case (or of the experiment, if it has none) at a scale."""
    experiment: Experiment = paper.experiments[name]
    defaults = f"{label(paper_name, PAPER)}: defaults"
    place = f"{label(paper_name, EXPERIMENTS)}: {name}"
    full: list[tuple[str, Overlay]] = [(defaults, paper.defaults), (place, experiment)]
    if case is not None and experiment.cases:
        place = f"{place}.cases.{case}"
        full.append((place, experiment.cases[case]))
    parts = [PlacedOverlay(where, overlay.content()) for where, overlay in full]
    for override in SCALES[SCALES.index(scale) : SCALES.index("paper")][::-1]:
        for where, overlay in full:
            over: Overrides | None = getattr(overlay, override)
            if over is not None:
                parts.append(PlacedOverlay(f"{where}.{override}", over.content()))
    return Overlays(place, tuple(parts))


def merged(base: Any, over: Any) -> Any:
    """`over` laid over `base`.

    Blocks merge key by key, but a block that names another component replaces the whole block, and
    so does anything that is no block.
    """
    if not isinstance(base, dict) or not isinstance(over, dict):
        return over
    if "name" in over and over["name"] != base.get("name"):
        return over
    return base | {key: merged(base.get(key), value) for key, value in over.items()}


def differences(here: Any, there: Any, path: str = "") -> Iterator[tuple[str, Any, Any]]:
    """Every dotted path at which two merged overlays differ, with both values (None: absent).

    Of a block that names another component only the names are returned.
    """
    if isinstance(here, dict) and isinstance(there, dict):
        keys = sorted(here.keys() | there.keys())
        if here.get("name") != there.get("name"):
            keys = ["name"]
        for key in keys:
            inner = f"{path}.{key}" if path else key
            yield from differences(here.get(key), there.get(key), inner)
    elif _blocks(here) and _blocks(there) and len(here) == len(there):
        for index, (one, other) in enumerate(zip(here, there, strict=True)):
            yield from differences(one, other, f"{path}.{index}")
    elif here != there:
        yield path, here, there


def keys_of(path: str) -> list[str]:
    """The keys of a dotted path; an axis of the ensemble is one key."""
    head, _, rest = path.partition(".")
    if head == "ensemble" and rest:
        return [head, rest]
    return path.split(".")


def _without_nulls(values: Any) -> Any:
    if isinstance(values, list):
        return [_without_nulls(value) for value in values]
    if not isinstance(values, dict):
        return values
    return {key: _without_nulls(value) for key, value in values.items() if value is not None}


def _blocks(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(entry, dict) for entry in value)


def _nested(keys: list[str], value: Any) -> Any:
    return {keys[0]: _nested(keys[1:], value)} if keys else value


def _holds(overlay: Any, keys: list[str]) -> bool:
    """True if an overlay gives something at a path; a key may hold dots (an ensemble's axis)."""
    if not keys:
        return True
    if isinstance(overlay, list):
        index = int(keys[0]) if keys[0].isdigit() else len(overlay)
        return index < len(overlay) and _holds(overlay[index], keys[1:])
    return isinstance(overlay, dict) and keys[0] in overlay and _holds(overlay[keys[0]], keys[1:])
