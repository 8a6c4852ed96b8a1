"""Digests of the code that a job can reach; moving or renaming a module changes none of them.

A module's hash is of its syntax tree without comments, docstrings and imports of this package. A
name that is bound to one of our modules counts by that module's own hash instead of by its
spelling, so it does not matter what the module is called or where it is. A job hashes the sorted
hashes; the names beside them serve `verify` and `explain`.
"""

import ast
import functools
import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from grokatlas import registry
from grokatlas.errors import UserError
from grokatlas.registry import PACKAGE

# modules without behaviour of their own: names of types, the class of a user's error, and the
# registry, which leads to modules that are hashed themselves
INERT = ("grokatlas", "grokatlas.engine.contracts", "grokatlas.engine.keyword_types")
INERT += ("grokatlas.errors", "grokatlas.registry")
ROUNDS = 8  # how far a hash looks along imports; the closure of a job holds what is beyond
HALF = 32  # hexadecimal digits of a module's text, then as many of it among what it imports
# what an earlier Snakemake found in a module, by its name and the sha256 of its file (`plan.kept`)
KNOWN: dict[tuple[str, str], "Source"] = {}


def run_modules(spec: dict[str, Any]) -> list[str]:
    """The modules a run starts from: the loop and exactly the components its spec names.

    The loop of every run is watched, but what watches is among them only where it may stop members:
    else it reads what is logged, and changes no number.
    """
    modules = ["grokatlas.engine.training"]
    modules += ["grokatlas.engine.watching"] if "watch" in spec else []
    for block in registry.FOLDERS:
        if block == "task" or block not in spec:
            continue
        entries = spec[block] if block in registry.LISTS else [spec[block]]
        modules += [registry.module_name(block, entry["name"]) for entry in entries]
    return modules


def dataset_modules(spec: dict[str, Any]) -> list[str]:
    """The modules a run's data set is made from."""
    return ["grokatlas.engine.dataset", registry.module_name("task", spec["task"]["name"])]


def code(modules: list[str]) -> dict[str, str]:
    """What `Sources.code` returns, for the sources as they are now."""
    return Sources().code(modules)


class Sources:
    """The package's source files as they were first read: for the many jobs of one plan.

    Attributes:
        parsed: sha256 of the file, and what was found in it, by the name of the module.
    """

    def __init__(self) -> None:
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
        reached: dict[str, Source] = {}
        waiting = list(modules)
        while waiting:
            name = waiting.pop()
            if name not in reached and (source := self._source(name)):
                reached[name] = source
                waiting += [*source.imports, *_parents(name)]
        return {
            name: reached[name].own[:HALF] + self._hash(name, ROUNDS)[:HALF]
            for name in sorted(reached)
            if not reached[name].empty
        }

    def _source(self, name: str) -> "Source | None":
        """A module that counts; None for one of a library, or one without behaviour."""
        if name not in self._sources:
            path = None if name in INERT else _path(name)
            self._sources[name] = None if path is None else self._parse(name, path)
        return self._sources[name]

    def _parse(self, name: str, path: Path) -> "Source":
        content = path.read_bytes()
        digest = hashlib.sha256(content).hexdigest()
        source = KNOWN.get((name, digest)) or _source(name, path, content)
        self.parsed[name] = digest, source
        return source

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
    """What a job's digest holds of its code: equal for code that was moved or renamed."""
    return sorted(value[HALF:] or value for value in code.values())


def changed(old: dict[str, str], new: dict[str, str]) -> list[str]:
    """The modules whose own text differs, sorted; a module that was only moved is none of them."""
    texts_old = {value[:HALF] for value in old.values()}
    texts_new = {value[:HALF] for value in new.values()}
    edited = {name for name, value in new.items() if value[:HALF] not in texts_old}
    removed = {n for n, v in old.items() if v[:HALF] not in texts_new and n not in new}
    return sorted(edited | removed)


def syntax_tree(path: Path) -> ast.Module:
    """The source of a module, parsed; a caller leaves it as it is.

    Raises:
        UserError: it is not valid Python, or not UTF-8 text.
    """
    return _tree(path, path.read_bytes())


@functools.cache
def _tree(path: Path, content: bytes) -> ast.Module:
    place = registry.shown(path, PACKAGE)
    try:
        return ast.parse(content.decode("utf-8"))
    except SyntaxError as error:
        where = f"{place}: line {error.lineno}" if error.lineno else place
        raise UserError(where, f"not valid Python: {error.msg}") from None
    except UnicodeDecodeError as error:
        raise UserError(place, f"not UTF-8 text (byte {error.start}); save it as UTF-8") from None


@dataclass(frozen=True)
class Source:
    """A module as far as it counts.

    Attributes:
        own: hash of its syntax tree, with the names that it takes from modules of the package.
        references: these modules, in the order in which the tree refers to them.
        imports: every module of the package that it may import.
        empty: whether it has no statement.
    """

    own: str
    references: tuple[str, ...]
    imports: tuple[str, ...]
    empty: bool

    def among(self, hash_of: Callable[[str], str]) -> str:
        """Hash of the module where others have these hashes."""
        referred = [hash_of(name) for name in self.references]
        reached = sorted({hash_of(name) for name in self.imports} - {""})
        text = "\0".join([self.own, *referred, "imports", *reached])
        return hashlib.sha256(text.encode()).hexdigest()


@functools.cache
def _source(name: str, path: Path, content: bytes) -> Source:
    tree = _tree(path, content)
    package = name if path.stem == "__init__" else name.rpartition(".")[0]
    bound, imports = _bindings(tree, package)
    shape = _Shape(bound)
    shape.add(tree)
    for local, (_, member) in sorted(bound.items()):
        if member:  # what others may import from here in turn; a module's local name is free
            shape.add_reference(local)
    own = hashlib.sha256("".join(shape.text).encode()).hexdigest()
    empty = not _without_docstring(tree.body)
    return Source(own, tuple(shape.references), imports, empty)


def _bindings(tree: ast.Module, package: str) -> tuple[dict[str, tuple[str, str]], tuple[str, ...]]:
    """The module and member of each local name, and every module that may be imported."""
    bound: dict[str, tuple[str, str]] = {}
    imports: dict[str, None] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                imports[alias.name] = None
                if alias.asname and _path(alias.name):
                    bound[alias.asname] = (alias.name, "")
        elif isinstance(node, ast.ImportFrom) and (module := _absolute(node, package)):
            imports[module] = None
            for alias in node.names:
                inner = f"{module}.{alias.name}"
                imports[inner] = None
                target = (inner, "") if _path(inner) else (module, alias.name)
                bound[alias.asname or alias.name] = target
    return bound, tuple(name for name in imports if _path(name) and name not in INERT)


def _absolute(node: ast.ImportFrom, package: str) -> str | None:
    """The module of the package that an import reads from; None for one of a library."""
    parts = package.split(".")
    base = parts[: len(parts) + 1 - node.level] if node.level else []
    module = ".".join([*base, *filter(None, [node.module])])
    return module if module.split(".")[0] == PACKAGE.name else None


class _Shape:
    """A syntax tree as text, without positions, comments, docstrings and empty fields.

    Empty fields are left out so that a field that a later Python adds changes no digest.
    """

    def __init__(self, bound: dict[str, tuple[str, str]]) -> None:
        self.text: list[str] = []
        self.references: list[str] = []
        self._bound = bound

    def add(self, node: Any) -> None:
        """Append a node."""
        if isinstance(node, list):
            self.text.append("[")
            for item in node:
                if not self._binds_our_names(item):
                    self.add(item)
                    self.text.append(",")
            self.text.append("]")
        elif not isinstance(node, ast.AST):
            self.text.append(repr(node))
        elif isinstance(node, ast.Name) and node.id in self._bound:
            self.add_reference(node.id)
        else:
            self.text.append(f"{type(node).__name__}(")
            for name, value in ast.iter_fields(node):
                self._add_field(node, name, value)
            self.text.append(")")

    def add_reference(self, local: str) -> None:
        """Append the module and member that a local name of an import refers to."""
        module, member = self._bound[local]
        self.references.append(module)
        self.text.append(f"<{member}>" if member else "<>")

    def _add_field(self, node: ast.AST, name: str, value: Any) -> None:
        if name == "body" and isinstance(
            node, ast.Module | ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
        ):
            value = _without_docstring(value)
        if value is None and not isinstance(node, ast.Constant):
            return
        if value == [] or name in ("ctx", "kind", "type_comment"):
            return
        self.text.append(f"{name}=")
        self.add(value)
        self.text.append(",")

    def _binds_our_names(self, node: Any) -> bool:
        """Whether a statement only imports from this package: its names are references."""
        if not isinstance(node, ast.Import | ast.ImportFrom):
            return False
        names = [alias.asname or alias.name for alias in node.names]
        return all(name in self._bound for name in names)


def _path(name: str) -> Path | None:
    """The file of a project module; None for a library's or a name that is no module."""
    parts = name.split(".")
    if parts[0] != PACKAGE.name:
        return None
    base = PACKAGE.joinpath(*parts[1:])
    for candidate in (base.with_suffix(".py"), base / "__init__.py"):
        if candidate.is_file():
            return candidate
    return registry.file_in_study(name)


def _parents(name: str) -> list[str]:
    """The packages whose ``__init__`` Python runs before a module."""
    parts = name.split(".")
    return [".".join(parts[:k]) for k in range(1, len(parts))]


def _without_docstring(body: list[ast.stmt]) -> list[ast.stmt]:
    first = body[0] if body else None
    if (
        isinstance(first, ast.Expr)
        and isinstance(first.value, ast.Constant)
        and isinstance(first.value.value, str)
    ):
        return body[1:]
    return body
