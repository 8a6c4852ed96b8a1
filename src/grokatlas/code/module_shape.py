"""A module's text as far as it counts: its syntax tree, what it imports, and the files it reads.

See `grokatlas.code.code_digest` for what is made of it.
"""

import ast
import functools
import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from grokatlas import registry
from grokatlas.code import sources
from grokatlas.errors import UserError
from grokatlas.registry import PACKAGE, RENAMED

# modules without behaviour of their own: names of types, the class of a user's error, and the
# registry, which leads to modules that are hashed themselves
INERT = (
    *("grokatlas", "grokatlas.engine.contracts", "grokatlas.engine.keyword_types"),
    *("grokatlas.errors", "grokatlas.registry", "grokatlas.code.sources"),
)
FILES = "FILES"  # the constant by which a module names the files that it reads, beside it


def syntax_tree(path: Path) -> ast.Module:
    """The source of a module, parsed; a caller leaves it as it is."""
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
        files: those that it reads, from its folder.
    """

    own: str
    references: tuple[str, ...]
    imports: tuple[str, ...]
    empty: bool
    files: tuple[str, ...] = ()

    def with_files(self, path: Path) -> "Source":
        """This module, its hash that of its text and of the files that it reads as they are now."""
        if not self.files:
            return self
        hashes = [self.own]
        for name in self.files:
            try:
                with sources.hashing():
                    hashes.append(hashlib.sha256((path.parent / name).read_bytes()).hexdigest())
            except OSError as error:
                place = f"{registry.shown(path, PACKAGE)}: {FILES}"
                problem = f"{name} cannot be read: {error.strerror}"
                raise UserError(place, f"{problem}; put it beside the module") from None
        return replace(self, own=hashlib.sha256("\0".join(hashes).encode()).hexdigest())

    def among(self, hash_of: Callable[[str], str]) -> str:
        """Hash of the module where others have these hashes."""
        referred = [hash_of(name) for name in self.references]
        reached = sorted({hash_of(name) for name in self.imports} - {""})
        text = "\0".join([self.own, *referred, "imports", *reached])
        return hashlib.sha256(text.encode()).hexdigest()


@functools.cache
def source(name: str, path: Path, content: bytes) -> Source:
    """A module as far as it counts, from its text."""
    tree = _tree(path, content)
    package = name if path.stem == "__init__" else name.rpartition(".")[0]
    bound, imports = _bindings(tree, package)
    room = name.partition(".")[2].partition(".")[0]
    older = _older_names(tree, registry.shown(path, PACKAGE)) if room == "components" else {}
    body = [node for node in tree.body if not older or RENAMED not in _assigned(node)]
    shape = _Shape(bound, older)
    shape.add(ast.Module(body, []))
    for local, (_, member) in sorted(bound.items()):
        if member:  # what others may import from here in turn; a module's local name is free
            shape.add_reference(local)
    own = hashlib.sha256("".join(shape.text).encode()).hexdigest()
    empty = not _without_docstring(tree.body)
    files = _own_files(tree, path) if room in registry.ROOMS else ()
    return Source(own, tuple(shape.references), imports, empty, files)


def _own_files(tree: ast.Module, path: Path) -> tuple[str, ...]:
    """The files that a module names by `FILES`: paths from its folder to files of the study."""
    names = constant(tree, FILES, ())
    place = f"{registry.shown(path, PACKAGE)}: {FILES}"
    if not isinstance(names, tuple | list) or not all(isinstance(name, str) for name in names):
        raise UserError(place, 'write out the files as text, such as ("points.csv",)')
    root = PACKAGE if path.is_relative_to(PACKAGE) else registry.study() or path.parent
    for name in names:
        if not (path.parent / name).resolve().is_relative_to(root.resolve()):
            problem = f"{name} is outside of {root.name}, so it would not travel with the code"
            raise UserError(place, f"{problem}; put it beside the module")
    return tuple(names)


def constant(tree: ast.Module, name: str, absent: Any) -> Any:
    """The value of a constant of a module that is written out; None where it is something else."""
    for node in tree.body:
        if isinstance(node, ast.Assign | ast.AnnAssign) and name in _assigned(node):
            try:
                return ast.literal_eval(node.value) if node.value else None
            except (TypeError, ValueError):
                return None
    return absent


def _assigned(node: ast.stmt) -> list[str]:
    """The plain names that a statement assigns to."""
    targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
    return [target.id for target in targets if isinstance(target, ast.Name)]


def _older_names(tree: ast.Module, place: str) -> dict[str, str]:
    """The oldest name of each keyword that a component renamed.

    Raises:
        UserError: the constant is no dictionary of names, or the module uses an old name for
            something else, so that two programs would have one hash.
    """
    older = constant(tree, RENAMED, {})
    if older == {}:
        return {}
    where = f"{place}: {RENAMED}"
    names = [*older.keys(), *older.values()] if isinstance(older, dict) else [None]
    if not all(isinstance(name, str) for name in names) or len(set(names)) < len(names):
        example = '{"train_fraction": "fraction"}'
        raise UserError(where, f"write out each keyword with its older name, such as {example}")
    body = (node for node in tree.body if RENAMED not in _assigned(node))
    used = {text for node in body for text in _texts(node)}
    for name, old in older.items():
        if old in used:
            problem = f"{old} is the older name of {name}, and the module still uses it"
            raise UserError(where, f"{problem}; write {name} everywhere")
    return dict(older)


def _texts(node: ast.AST) -> Iterator[str]:
    """Every name and every text in a syntax tree."""
    for inner in ast.walk(node):
        for _, value in ast.iter_fields(inner):
            if isinstance(value, str):
                yield value


def _bindings(tree: ast.Module, package: str) -> tuple[dict[str, tuple[str, str]], tuple[str, ...]]:
    """The module and member of each local name, and every module that may be imported."""
    bound: dict[str, tuple[str, str]] = {}
    imports: dict[str, None] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                imports[alias.name] = None
                if alias.asname and path_of(alias.name):
                    bound[alias.asname] = (alias.name, "")
        elif isinstance(node, ast.ImportFrom) and (module := _absolute(node, package)):
            imports[module] = None
            for alias in node.names:
                inner = f"{module}.{alias.name}"
                imports[inner] = None
                target = (inner, "") if path_of(inner) else (module, alias.name)
                bound[alias.asname or alias.name] = target
    return bound, tuple(name for name in imports if path_of(name) and name not in INERT)


def _absolute(node: ast.ImportFrom, package: str) -> str | None:
    """The module of the package that an import reads from; None for one of a library."""
    parts = package.split(".")
    base = parts[: len(parts) + 1 - node.level] if node.level else []
    module = ".".join([*base, *filter(None, [node.module])])
    return module if module.split(".")[0] == PACKAGE.name else None


class _Shape:
    """A syntax tree as text, without positions, comments, docstrings and empty fields.

    Empty fields are left out so that a field that a later Python adds changes no digest.

    Args:
        bound: module and member of each name that an import of this package binds.
        older: the oldest name of each keyword that was renamed.
    """

    def __init__(self, bound: dict[str, tuple[str, str]], older: dict[str, str]) -> None:
        self._older = older
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
            self.text.append(repr(self._older.get(node, node) if isinstance(node, str) else node))
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
        """True if a statement only imports from this package: its names are references."""
        if not isinstance(node, ast.Import | ast.ImportFrom):
            return False
        names = [alias.asname or alias.name for alias in node.names]
        return all(name in self._bound for name in names)


def path_of(name: str) -> Path | None:
    """The file of a project module; None for a library's or a name that is no module."""
    parts = name.split(".")
    if parts[0] != PACKAGE.name:
        return None
    base = PACKAGE.joinpath(*parts[1:])
    for candidate in (base.with_suffix(".py"), base / "__init__.py"):
        if candidate.is_file():
            return candidate
    return registry.file_in_study(name)


def _without_docstring(body: list[ast.stmt]) -> list[ast.stmt]:
    first = body[0] if body else None
    if (
        isinstance(first, ast.Expr)
        and isinstance(first.value, ast.Constant)
        and isinstance(first.value.value, str)
    ):
        return body[1:]
    return body
