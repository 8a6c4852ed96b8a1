"""From the layers of an experiment to the specs of its runs.

Layers, weakest first: the paper's defaults, the experiment, the case, the sweep's cell, then the
overrides of the scale (`quick`; for `smoke`, `smoke` on top of `quick`) of each of them. Blocks merge
key by key, but a block that names another component replaces the whole block; lists are replaced.
"""

import ast
import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from grokatlas import components, digest, signatures
from grokatlas.config import (
    MEMBER_KINDS,
    SCALES,
    Experiment,
    KeywordError,
    Layer,
    Overrides,
    Paper,
    Train,
    check_keywords,
    check_value,
    validate,
)
from grokatlas.errors import UserError, nearest

BLOCKS = ("task", "model", "loss", "optimizer", "dynamics")
DEFAULT_DYNAMICS = {"name": "gradient_training"}


@dataclass(frozen=True)
class Cell:
    """One cell of an experiment: the spec of its run, and what is measured after it."""

    case: str
    spec: dict[str, Any]
    measures: list[dict[str, Any]]

    @property
    def measure_ids(self) -> list[str]:
        """File names of the measures."""
        return [measure_id(measure) for measure in self.measures]


def measure_id(measure: dict[str, Any]) -> str:
    """A measure's file name: its name, and a digest of its keywords if it has any."""
    keywords = {key: value for key, value in measure.items() if key != "name"}
    return measure["name"] + (f"-{digest.of(keywords)[:8]}" if keywords else "")


def resolve(paper_name: str, paper: Paper, name: str, scale: str) -> list[Cell]:
    """The cells of an experiment at a scale, checked.

    Raises:
        UserError: naming file, place, value and what is allowed.
    """
    experiment = paper.experiments[name]
    label = f"papers/{paper_name}.yaml"
    place = f"experiments.{name}"
    cells = []
    for case, layer in (experiment.cases or {"": Layer()}).items():
        layers = _layers(paper, experiment, layer, name, case, scale)
        merged: dict[str, Any] = {}
        for _, values in layers:
            merged = _merge(merged, values)
        axes = merged.pop("sweep", {})
        for point in _points(axes, f"{label}: {place}.sweep"):
            values = merged
            for path, value in point.items():
                values = _with(values, path, value, f"{label}: {place}.sweep.{path}")
            sweep = (f"{place}.sweep", _nested(point))
            checker = _Checker(label, place, [*layers, sweep] if point else layers)
            parts = [case, *(f"{path}={value}" for path, value in point.items())]
            cells.append(checker.cell(", ".join(filter(None, parts)), values))
    return cells


def _layers(
    paper: Paper, experiment: Experiment, case: Layer, name: str, case_name: str, scale: str
) -> list[tuple[str, dict[str, Any]]]:
    """The layers with their places, weakest first."""
    place = f"experiments.{name}"
    full: list[tuple[str, Layer]] = [("defaults", paper.defaults), (place, experiment)]
    if case_name:
        full.append((f"{place}.cases.{case_name}", case))
    layers = [(where, _given(layer)) for where, layer in full]
    for override in SCALES[SCALES.index(scale) : SCALES.index("paper")][::-1]:
        for where, layer in full:
            part: Overrides | None = getattr(layer, override)
            if part is not None:
                layers.append((f"{where}.{override}", _given(part)))
    return layers


def _given(layer: Overrides) -> dict[str, Any]:
    keys = Overrides.model_fields
    return {key: getattr(layer, key) for key in layer.model_fields_set if key in keys}


def _merge(base: Any, over: Any) -> Any:
    if not isinstance(base, dict) or not isinstance(over, dict):
        return over
    if "name" in over and over["name"] != base.get("name"):
        return over
    return base | {key: _merge(base.get(key), value) for key, value in over.items()}


def _points(axes: dict[str, list[Any]], where: str) -> Iterator[dict[str, Any]]:
    for path, values in axes.items():
        if not values:
            raise UserError(f"{where}.{path}", "an axis needs at least one value")
        if any(values.count(value) > 1 for value in values):
            raise UserError(f"{where}.{path}", "a value stands twice; keep one")
    for point in itertools.product(*axes.values()):
        yield dict(zip(axes, point, strict=True))


def _nested(point: dict[str, Any]) -> dict[str, Any]:
    result: dict[str, Any] = {}
    for path, value in point.items():
        block, _, rest = path.partition(".")
        result.setdefault(block, {})[rest] = value
    return result


def _with(values: Any, path: str, value: Any, where: str) -> Any:
    """A copy of nested dicts and lists with one dotted place set."""
    head, _, rest = path.partition(".")
    if isinstance(values, list):
        if not head.isdigit() or int(head) >= len(values):
            raise UserError(where, f"there is no entry {head!r} (the list has {len(values)})")
        index = int(head)
        return [*values[:index], _with(values[index], rest, value, where), *values[index + 1 :]]
    if not isinstance(values, dict):
        raise UserError(where, f"{head!r} leads into a value that is not a block")
    inner = _with(values.get(head, {}), rest, value, where) if rest else value
    return {**values, head: inner}


class _Checker:
    """Checks one merged cell; an error names the strongest layer that holds the mistake.

    Args:
        label: the file, as errors call it.
        place: the experiment's place in the file.
        layers: the cell's layers with their places, weakest first.
    """

    def __init__(self, label: str, place: str, layers: list[tuple[str, dict[str, Any]]]) -> None:
        self.label = label
        self.place = place
        self.layers = layers

    def cell(self, case: str, values: dict[str, Any]) -> Cell:
        if "task" not in values:
            raise UserError(f"{self.label}: {self.place}.task", "missing; name a task")
        values = {"dynamics": DEFAULT_DYNAMICS, **values}
        train = self._train(values.get("train"))
        axes = self._axes(values)
        varied = {path: path.rpartition(".")[2] for path in axes if path != "seed"}
        spec: dict[str, Any] = {"ensemble": axes, "train": train}
        self._check_used_blocks(values)
        for block in BLOCKS:
            if block in values:
                spec[block] = self._component(block, block, values[block], varied)
        for block in components.LISTS:
            spec[block] = [
                self._component(block, f"{block}.{index}", entry, varied)
                for index, entry in enumerate(values.get(block) or [])
            ]
        measures = spec.pop("measures")
        return Cell(case, {key: spec[key] for key in sorted(spec) if spec[key] != []}, measures)

    def _train(self, values: Any) -> dict[str, Any]:
        if values is None:
            self._fail("train", "missing; give at least `steps`")
        try:
            train: Train = validate(Train, values, "", "train")
        except UserError as error:
            path, _, problem = str(error).partition(": ")[2].partition(": ")
            raise self._error(path, problem) from None
        marks = {"initial": 0, "final": train.steps}
        snapshots = sorted({marks[s] if isinstance(s, str) else s for s in train.snapshots})
        if snapshots and snapshots[-1] > train.steps:
            self._fail(
                "train.snapshots", f"{snapshots[-1]} is beyond the last step {train.steps}"
            )
        return {**train.model_dump(exclude_none=True), "snapshots": snapshots}

    def _check_used_blocks(self, values: dict[str, Any]) -> None:
        name = self._name("dynamics", "dynamics", values["dynamics"])
        used = set(signatures.signature("dynamics", name).blocks)
        for block in ("model", "loss", "optimizer", "penalties", "gradients", "inputs"):
            if block in used and block not in values and block not in components.LISTS:
                self._fail(block, f"missing; dynamics {name} needs it")
            if values.get(block) and block not in used:
                self._fail(block, f"dynamics {name} does not use it; remove it")

    def _axes(self, values: dict[str, Any]) -> dict[str, list[Any]]:
        """The ensemble's axes, checked; the seed last."""
        axes = dict(values.get("ensemble") or {})
        seeds = axes.pop("seed", 1)
        checked = {path: self._axis(path, axis, values) for path, axis in sorted(axes.items())}
        if isinstance(seeds, int) and not isinstance(seeds, bool) and seeds >= 1:
            seeds = list(range(seeds))
        good = isinstance(seeds, list) and bool(seeds)
        if not good or any(type(seed) is not int or seed < 0 for seed in seeds):
            self._fail(
                "ensemble.seed",
                f"{seeds!r} is not allowed: give a number of seeds (>= 1) or a list of whole numbers",
            )
        if len(set(seeds)) < len(seeds):
            self._fail("ensemble.seed", "a seed stands twice; keep one")
        return {**checked, "seed": seeds}

    def _axis(self, path: str, axis: Any, values: dict[str, Any]) -> list[Any]:
        place = f"ensemble.{path}"
        if not isinstance(axis, list) or not axis:
            self._fail(place, f"{axis!r} is not allowed: give a list of at least one value")
        *where, keyword = path.split(".")
        block = where[0] if where else ""
        if block not in components.FOLDERS or block in ("observables", "measures", "task"):
            allowed = ["seed", "model", "loss", "optimizer", "dynamics", "penalties", "gradients"]
            self._fail(place, f"not an axis of members; {nearest(block or path, allowed)}")
        entry = values.get(block)
        if block in components.LISTS:
            index = int(where[1]) if len(where) == 2 and where[1].isdigit() else -1
            if not isinstance(entry, list) or not 0 <= index < len(entry):
                self._fail(place, f"no such entry; write {block}.0.{keyword} for the first")
            entry = entry[index]
        elif len(where) != 1:
            self._fail(place, f"no such keyword; write {block}.{where[-1]}")
        name = self._name(block, ".".join(where), entry)
        keywords = signatures.signature(block, name).keywords
        if keyword not in keywords:
            self._fail(place, f"not a keyword of {name}; {nearest(keyword, list(keywords))}")
        kinds = {node.id for node in ast.walk(keywords[keyword]) if isinstance(node, ast.Name)}
        if not kinds & MEMBER_KINDS or any(isinstance(value, str | bool) for value in axis):
            self._fail(place, "changes a shape or the program, so members cannot share it; sweep it")
        try:
            checked = [check_value(keywords[keyword], value, keyword) for value in axis]
        except KeywordError as error:
            raise self._error(place, str(error)) from None
        if any(checked.count(value) > 1 for value in checked):
            self._fail(place, "a value stands twice; keep one")
        if len({len(value) for value in checked if isinstance(value, list)}) > 1:
            self._fail(place, "the vectors differ in length, so members cannot share a shape")
        return checked

    def _component(
        self, block: str, path: str, entry: Any, varied: dict[str, str]
    ) -> dict[str, Any]:
        name = self._name(block, path, entry)
        here = {key for full, key in varied.items() if full == f"{path}.{key}"}
        keywords = {k: v for k, v in entry.items() if k != "name" and k not in here}
        try:
            checked = check_keywords(block, name, keywords, here)
        except KeywordError as error:
            raise self._error(f"{path}.{error.keyword}", str(error)) from None
        return {"name": name} | {k: v for k, v in checked.items() if v is not None}

    def _name(self, block: str, path: str, entry: Any) -> str:
        if not isinstance(entry, dict) or "name" not in entry:
            self._fail(path, f"must be a block with a name; {nearest('', components.names(block))}")
        name = entry["name"]
        if not isinstance(name, str) or name not in components.names(block):
            hint = nearest(str(name), components.names(block))
            self._fail(f"{path}.name", f"no component {name!r} in {block}; {hint}")
        return str(name)

    def _fail(self, path: str, problem: str) -> None:
        raise self._error(path, problem)

    def _error(self, path: str, problem: str) -> UserError:
        """An error at the strongest layer that holds `path`, or holds most of it."""
        keys = path.split(".")
        for length in range(len(keys), 0, -1):
            for place, layer in reversed(self.layers):
                if _holds(layer, keys[:length]):
                    return UserError(f"{self.label}: {place}.{path}", problem)
        return UserError(f"{self.label}: {self.place}.{path}", problem)


def _holds(layer: Any, keys: list[str]) -> bool:
    if isinstance(layer, dict) and ".".join(keys) in layer:
        return True  # an axis of the ensemble is one dotted key
    for position, key in enumerate(keys):
        if isinstance(layer, dict) and ".".join(keys[position:]) in layer:
            return True
        if isinstance(layer, list) and key.isdigit() and int(key) < len(layer):
            layer = layer[int(key)]
        elif isinstance(layer, dict) and key in layer:
            layer = layer[key]
        else:
            return False
    return True
