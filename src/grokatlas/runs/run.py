"""A run as it is found, and the fields that it can be asked for.

The fields are those of its spec, as dotted names, and `FACTS` of the run itself. A position in a
list may be left out (``penalties.weight`` is that of any penalty), and a component's block stands
for its name (``optimizer`` for ``optimizer.name``). An axis of the ensemble gives each member a
value of its own.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from grokatlas.engine import members
from grokatlas.results import dotted

STATES = ("up to date", "stale", "running", "failed", "waiting", "undeclared", "damaged")
RENAMED = {"done": "up to date", "orphan": "undeclared"}
PLACES = ("results", "store")
FACTS = (
    *("id", "digest", "commit", "state", "scale", "paper", "experiment", "case", "members"),
    *("diverged", "device", "host", "made", "seconds", "where"),
)
DIGITS = ("id", "digest", "commit")  # found by their first digits
DATES = ("made",)  # compared as far as they are given

Values = dict[str, list[Any]]


@dataclass(frozen=True)
class Use:
    """A cell of a table that a run is behind."""

    scale: str
    paper: str
    experiment: str
    label: str = ""

    def __str__(self) -> str:
        return f"{self.scale} {self.paper}/{self.experiment} {self.label}".strip()


@dataclass
class RunEntry:
    """A run, wherever it is.

    Attributes:
        state: one of `STATES`.
        note: what else is known of its state.
        spec: complete; empty where nothing sound says it.
        manifest: what its job recorded; empty if it is not finished or cannot be trusted.
        digest: of its manifest, else the planned one.
        places: where it is: a folder for ``results`` and for ``store``.
    """

    id: str
    state: str
    note: str = ""
    uses: list[Use] = field(default_factory=list)
    spec: dict[str, Any] = field(default_factory=dict)
    manifest: dict[str, Any] = field(default_factory=dict)
    digest: str = ""
    places: dict[str, Path] = field(default_factory=dict)

    @cached_property
    def values(self) -> Values:
        """The values that all members share, by every name that a field has."""
        spec = {key: value for key, value in self.spec.items() if key != "ensemble"}
        flat = dotted.flat(spec) if spec else {}
        shared = _by_name({path: value for path, value in flat.items() if path not in self._drawn})
        return shared | {name: values for name, values in self._facts() if values}

    @cached_property
    def members(self) -> list[Values]:
        """The values of each member's own, by every name that a field has."""
        if not isinstance(self.spec.get("ensemble"), dict):
            return [{}]
        values = []
        for member in members.of(self.spec):
            axes = (dotted.flat(value, axis) for axis, value in member.items())
            flat = {path: value for axis in axes for path, value in axis.items()}
            values.append(_by_name(flat | dict.fromkeys(self._drawn, member["seed"])))
        return values

    @cached_property
    def _drawn(self) -> set[str]:
        """The keywords of the task that are the member's seed."""
        if "seed" not in self.spec.get("ensemble", {}):
            return set()
        task = self.spec.get("task", {}).items()
        return {f"task.{key}" for key, value in task if value == "member"}

    def readable(self) -> bool:
        """Tell if its spec and manifest are such that its fields can be read."""
        try:
            return bool(self.names())
        except (TypeError, AttributeError, KeyError, IndexError, ValueError):
            return False

    def names(self) -> set[str]:
        """Every name that a field of this run has."""
        return {*self.values, *self.members[0]}

    def of(self, name: str, member: int | None = None) -> list[Any]:
        """The values of a field, those of one member or of all."""
        own = self.members if member is None else [self.members[member]]
        by_text: dict[str, Any] = {}
        for values in (self.values, *own):
            for value in values.get(name, []):
                by_text.setdefault(repr(value), value)
        return list(by_text.values())

    def _facts(self) -> Iterator[tuple[str, list[Any]]]:
        manifest = self.manifest
        device, host = (manifest.get(key) or {} for key in ("device", "host"))
        commit = (manifest.get("git") or {}).get("commit")
        kind, model = device.get("type"), device.get("name") or host.get("cpu")
        yield "id", [self.id]
        yield "digest", _known(self.digest)
        yield "commit", _known(commit)
        yield "state", [self.state]
        yield "scale", _unique(use.scale for use in self.uses)
        yield "paper", _unique(use.paper for use in self.uses)
        names = ((use.experiment, f"{use.paper}/{use.experiment}") for use in self.uses)
        yield "experiment", _unique(name for pair in names for name in pair)
        yield "case", _unique(use.label for use in self.uses if use.label)
        yield "members", [len(self.members)] if self.spec else []
        yield "diverged", [len(manifest.get("diverged", {}))] if manifest else []
        yield "device", [*_known(kind), *_known(model)]
        yield "host", _known(host.get("name"))
        yield "made", _known(manifest.get("started"))
        yield "seconds", _known(manifest.get("train_seconds"))
        yield "where", list(self.places)
        for package, version in (manifest.get("versions") or {}).items():
            yield f"versions.{package}", [version]


def _by_name(flat: dict[str, Any]) -> Values:
    """Values by their dotted names, by these without positions, and by blocks for their names."""
    by_name: Values = {}
    for path, value in flat.items():
        bare = re.sub(r"\.\d+(?=\.|$)", "", path)
        for name in dict.fromkeys((path, bare)):
            by_name.setdefault(name, []).append(value)
            if name.endswith(".name"):
                by_name.setdefault(name.removesuffix(".name"), []).append(value)
    return by_name


def _unique(values: Iterator[Any]) -> list[Any]:
    return list(dict.fromkeys(values))


def _known(value: Any) -> list[Any]:
    return [] if value in (None, "") else [value]
