"""Digests of the code that a job can reach; moving or renaming a module changes none of them.

A module's hash is of its syntax tree without comments, docstrings and imports of this package. A
name that is bound to one of our modules counts by that module's own hash instead of by its
spelling, so it does not matter what the module is called or where it is. A job hashes the hash of
each module that its spec names, in the order of the spec, then all hashes sorted; the names beside
them serve `verify` and `explain`.

A component that reads files of its own names them: ``FILES = ("points.csv",)``, beside its module.
Their bytes are part of its hash. A keyword that was renamed (``RENAMED``, see
`grokatlas.declare.renaming`) counts by its oldest name.
"""

import hashlib
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from grokatlas import registry
from grokatlas.code import module_shape, sources
from grokatlas.code.module_shape import INERT, Source
from grokatlas.errors import UserError
from grokatlas.registry import PACKAGE

ROUNDS = 8  # how far a hash looks along imports; the closure of a job holds what is beyond
HALF = 32  # hexadecimal digits of a module's text, then as many of it among what it imports
# what an earlier Snakemake read in a module, by its name and the sha256 of its file (`plan.cache`)
KNOWN: dict[tuple[str, str], Source] = {}


def run_modules(spec: dict[str, Any]) -> list[str]:
    """The modules a run starts from: the loop and exactly the components its spec names."""
    return ["grokatlas.engine.training", *named_modules("run", spec)]


def named_modules(kind: str, spec: dict[str, Any]) -> list[str]:
    """The modules that a job's spec names, in its order; none for a spec that no plan has."""
    try:
        return list(dict.fromkeys(_named_modules(kind, spec)))
    except (AttributeError, KeyError, TypeError):  # of a record that was damaged or forged
        return []


def _named_modules(kind: str, spec: dict[str, Any]) -> Iterator[str]:
    if kind == "figure":
        yield spec["module"]
    if kind == "claims":
        yield from (claim["module"] for paper in spec["papers"].values() for claim in paper)
    entries: list[tuple[str, dict[str, Any]]] = []
    if kind == "dataset":
        entries = [("task", task) for task in spec["tasks"]]
    elif kind == "run":
        for block in registry.FOLDERS:
            listed = spec.get(block, []) if block in registry.LISTS else [spec.get(block)]
            entries += [(block, each) for each in listed if each and block != "task"]
    elif kind == "measure":
        entries = [("measures", spec["measure"])]
    elif kind == "table":
        light = (each for cell in spec["cells"] for each in cell.get("light", []))
        entries = [("measures", each) for each in light]
    for block, entry in entries:
        yield registry.module_name(block, entry["name"])


def dataset_modules(spec: dict[str, Any]) -> list[str]:
    """The modules a run's data set is made from."""
    return ["grokatlas.engine.dataset", registry.module_name("task", spec["task"]["name"])]


def code(modules: list[str]) -> dict[str, str]:
    """The result of `Sources.code`, for the sources as they are now."""
    return Sources().code(modules)


class Sources:
    """The package's source files as they were first read: for the many jobs of one plan.

    `read` returns the bytes of a file. `parsed` has, by the name of the module, the sha256 of its
    file and what was found in it.
    """

    def __init__(self, read: Callable[[Path], bytes] = Path.read_bytes) -> None:
        self._read = read
        self.parsed: dict[str, tuple[str, Source]] = {}
        self._sources: dict[str, Source | None] = {}
        self._hashes: dict[tuple[str, int], str] = {}

    def code(self, modules: list[str]) -> dict[str, str]:
        """The hash of every project module that `modules` can reach by imports, by module name.

        Modules without a statement are left out, so that a new folder changes nothing.

        Returns:
            64 hexadecimal digits each: 32 of the module's own text, by which `changed` names it,
            then 32 of the text with what it imports, by which `values` tells jobs apart.
        """
        reached = self.reached(modules)
        return {
            name: reached[name].own[:HALF] + self._hash(name, ROUNDS)[:HALF]
            for name in sorted(reached)
            if not reached[name].empty
        }

    def reached(self, modules: list[str]) -> dict[str, Source]:
        """Every project module that `modules` can reach by imports, by name."""
        reached: dict[str, Source] = {}
        waiting = list(modules)
        while waiting:
            name = waiting.pop()
            if name not in reached and (source := self._source(name)):
                reached[name] = source
                waiting += [*source.imports, *_parents(name)]
        return reached

    def _source(self, name: str) -> Source | None:
        """A module that counts; None for one of a library, or one without behaviour."""
        if name not in self._sources:
            path = None if name in INERT else module_shape.path_of(name)
            self._sources[name] = None if path is None else self._parse(name, path)
        return self._sources[name]

    def _parse(self, name: str, path: Path) -> Source:
        content = self._read(path)
        digest = hashlib.sha256(content).hexdigest()
        source = KNOWN.get((name, digest)) or module_shape.source(name, path, content)
        self.parsed[name] = digest, source
        return source.with_files(path)

    def _hash(self, name: str, rounds: int) -> str:
        """The hash of a module that looks so far along imports; empty for one that has none."""
        source = self._source(name)
        if source is None or source.empty:
            return ""
        if rounds == 0:
            return source.own
        key = (name, rounds)
        if key not in self._hashes:
            self._hashes[key] = source.among(lambda other: self._hash(other, rounds - 1))
        return self._hashes[key]


def values(code: dict[str, str]) -> list[str]:
    """The part of a job's digest that is of its code: equal for code that was moved or renamed."""
    return sorted(value[HALF:] or value for value in code.values())


def named_values(code: dict[str, str], modules: list[str]) -> list[str]:
    """The part of a job's digest that is of the modules that its spec names.

    The code may be of a time when rooms of the package had other names: a module is known by its
    folder and its own name.
    """
    ends = {_end(name): value for name, value in code.items()}
    known = [code.get(name) or ends.get(_end(name), "") for name in modules]
    return [value[HALF:] or value for value in known]


def _end(module: str) -> str:
    return ".".join(module.split(".")[-2:])


def changed(old: dict[str, str], new: dict[str, str]) -> list[str]:
    """The modules whose own text differs, sorted; a module that was only moved is none of them.

    Two modules that exchanged their names are both among them.
    """
    texts_old = {value[:HALF] for value in old.values()}
    texts_new = {value[:HALF] for value in new.values()}
    edited = {name for name, value in new.items() if value[:HALF] not in texts_old}
    edited |= {n for n, value in new.items() if n in old and value[:HALF] != old[n][:HALF]}
    removed = {n for n, v in old.items() if v[:HALF] not in texts_new and n not in new}
    return sorted(edited | removed)


def files(modules: list[str]) -> dict[str, list[Path]]:
    """The source of every module that some modules can reach, with the files that it reads."""
    reached = Sources().reached(modules)
    paths = {name: path for name in reached if (path := module_shape.path_of(name))}
    return {n: [path, *(path.parent / f for f in reached[n].files)] for n, path in paths.items()}


def pinned(modules: list[str]) -> dict[str, str]:
    """The result of `code`; this process then imports the very text that was hashed.

    Raises:
        UserError: a module was edited after this process had imported it.
    """
    paths = {name: each[0] for name, each in files(modules).items()}
    sources.pin(paths.values())
    reader = Sources(sources.read)
    code = reader.code(modules)
    for name, path in paths.items():
        text = sources.executed.get(name) if name in sys.modules else None
        if text not in (None, sources.read(path)):
            imported = module_shape.source(name, path, text)
            if imported.with_files(path).own[:HALF] != code[name][:HALF]:
                problem = "was edited after this process had imported it"
                place = registry.shown(path, PACKAGE)
                raise UserError(place, f"{problem}; run it again, in a notebook with a new kernel")
    return code


def _parents(name: str) -> list[str]:
    """The packages whose ``__init__`` Python runs before a module."""
    parts = name.split(".")
    return [".".join(parts[:k]) for k in range(1, len(parts))]
