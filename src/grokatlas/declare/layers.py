"""The layers of a cell: how they merge, and which of them holds a mistake.

Layers, weakest first: the paper's defaults, the experiment, the case, then the overrides of the
scale (`quick`; for `smoke`, `smoke` on top of `quick`) of each of them, then the sweep's point.
Blocks merge key by key, but a block that names another component replaces the whole block; lists
are replaced; null takes away what weaker layers give.
"""

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from grokatlas import registry
from grokatlas.declare import joined, renaming, splits
from grokatlas.declare.merging import merged
from grokatlas.declare.models import EXPERIMENTS, PAPER, Experiment, Layer, Overrides, Paper, label
from grokatlas.errors import UserError, nearest, shown
from grokatlas.results.layout import SCALES

MOST = 10_000  # cells of a sweep, members of a run
KEPT = ("observables", "measures", "log", "snapshots")  # what is kept of a run


@dataclass(frozen=True)
class Part:
    """One layer: the file and the place in it, and the values that it sets."""

    place: str
    values: dict[str, Any]


@dataclass(frozen=True)
class Layers:
    """The layers of one cell.

    Attributes:
        place: the file, and the experiment's or the case's place in it.
        parts: the layers, weakest first.
    """

    place: str
    parts: tuple[Part, ...]

    def merged(self) -> dict[str, Any]:
        """One block of values, without nulls."""
        values: dict[str, Any] = {}
        for part in self.parts:
            values = merged(values, part.values)
        without: dict[str, Any] = _without_nulls(values)
        return without

    def blocks(self) -> dict[str, Any]:
        """What is run, without what is kept of it, and without which members share a run.

        A sweep's axes are among the ensemble's.
        """
        other = (*KEPT, *splits.KEYS)
        values = {key: value for key, value in self.merged().items() if key not in other}
        train = {k: v for k, v in values.get("train", {}).items() if k not in KEPT}
        axes = {**values.pop("sweep", {}), **joined.flat(values.get("ensemble", {}))}
        return renaming.canonical_spec({**values, "train": train, "ensemble": axes})

    def points(self) -> Iterator[tuple[dict[str, Any], "Layers", dict[str, Any]]]:
        """Each point of the sweep's product: its axes, the layers with it on top, the values."""
        values = self.merged()
        axes = values.pop("sweep", {})
        self._check_axes(axes, joined.flat(values.get("ensemble", {})))
        for choice in itertools.product(*axes.values()):
            point = dict(zip(axes, choice, strict=True))
            chosen, parts = values, list(self.parts)
            for path, value in point.items():
                chosen = self._with(chosen, split(path), value, path)
                self._check_block(split(path)[0], chosen, path)
                holder = self._holder(["sweep", path])
                place = f"{holder.place if holder else self.place}.sweep"
                parts.append(Part(place, _nested(split(path), value)))
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
        other = ("sweep", *splits.KEYS)
        blocks = [name for name in Overrides.model_fields if name not in other]
        for path, choices in axes.items():
            if split(path)[0] in splits.KEYS:
                problem = "says which members share a run, not what is run, so it is no axis"
                raise self.error(["sweep", path], f"{problem}; write it beside `sweep`")
            if split(path)[0] not in blocks:
                hint = nearest(split(path)[0], blocks)
                raise self.error(["sweep", path], f"no such block to sweep; {hint}")
            shared = [own for own in ensemble if f"{path}.".startswith(f"{own}.")]
            if shared:
                problem = f"members differ in {shared[0]} already (ensemble); keep one of both"
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
        """An error at the strongest layer that holds `keys`, or holds most of them.

        Args:
            keys: path of the mistake in the merged values.
            problem: what is wrong.
            beside: for a missing key: the layer that holds this path should hold the key too.
        """
        for length in range(len(keys), 0, -1):
            wanted = beside if beside and length == len(keys) else keys[:length]
            holder = self._holder(wanted)
            if holder:
                return UserError(f"{holder.place}.{'.'.join(keys)}", problem)
        return UserError(f"{self.place}.{'.'.join(keys)}", problem)

    def is_as_strong(self, keys: list[str], other: list[str]) -> bool:
        """Compare the layers that give two paths: true if the first one is not weaker."""
        places = [self.parts.index(part) for part in map(self._holder, (keys, other)) if part]
        return len(places) == 2 and places[0] >= places[1]

    def _holder(self, keys: list[str]) -> Part | None:
        return next((part for part in reversed(self.parts) if _holds(part.values, keys)), None)


def of(paper_name: str, paper: Paper, name: str, case: str | None, scale: str) -> Layers:
    """The layers of a case (or of the experiment, if it has none) at a scale."""
    experiment: Experiment = paper.experiments[name]
    defaults = f"{label(paper_name, PAPER)}: defaults"
    place = f"{label(paper_name, EXPERIMENTS)}: {name}"
    full: list[tuple[str, Layer]] = [(defaults, paper.defaults), (place, experiment)]
    if case is not None and experiment.cases:
        place = f"{place}.cases.{case}"
        full.append((place, experiment.cases[case]))
    parts = [Part(where, _given(layer)) for where, layer in full]
    for override in SCALES[SCALES.index(scale) : SCALES.index("paper")][::-1]:
        for where, layer in full:
            over: Overrides | None = getattr(layer, override)
            if over is not None:
                parts.append(Part(f"{where}.{override}", _given(over)))
    return Layers(place, tuple(parts))


def differences(here: Any, there: Any, path: str = "") -> Iterator[tuple[str, Any, Any]]:
    """Every dotted path at which two merged layers differ, with both values (None: absent).

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


def split(path: str) -> list[str]:
    """The keys of a dotted path; an axis of the ensemble is one key."""
    head, _, rest = path.partition(".")
    if head == "ensemble" and rest:
        return [head, rest]
    return path.split(".")


def _given(layer: Overrides) -> dict[str, Any]:
    keys = Overrides.model_fields
    return {key: getattr(layer, key) for key in layer.model_fields_set if key in keys}


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


def _holds(layer: Any, keys: list[str]) -> bool:
    """Whether a layer gives something at a path; a key may hold dots (an axis of the ensemble)."""
    if not keys:
        return True
    if isinstance(layer, list):
        index = int(keys[0]) if keys[0].isdigit() else len(layer)
        return index < len(layer) and _holds(layer[index], keys[1:])
    return isinstance(layer, dict) and keys[0] in layer and _holds(layer[keys[0]], keys[1:])
