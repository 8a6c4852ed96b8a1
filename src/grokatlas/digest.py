"""Canonical hashing of specs and of the code that a job can reach."""

import ast
import functools
import hashlib
import json
from pathlib import Path
from typing import Any

from grokatlas import components
from grokatlas.components import PACKAGE
from grokatlas.errors import UserError

# modules without behaviour: names of types, the class of a user's error
INERT = ("grokatlas", "grokatlas.kinds", "grokatlas.errors")


def canonical(data: Any) -> str:
    """Plain data as one text: sorted keys, no spaces, shortest float form.

    Raises:
        ValueError: for a number that is not finite.
    """
    return json.dumps(data, sort_keys=True, separators=(",", ":"), allow_nan=False)


def of(data: Any) -> str:
    """sha256 of plain data in canonical form, as 64 hexadecimal digits."""
    return hashlib.sha256(canonical(data).encode()).hexdigest()


def file_sha256(path: Path) -> str:
    """sha256 of a file's bytes."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def run_modules(spec: dict[str, Any]) -> list[str]:
    """The modules a run starts from: the loop and exactly the components its spec names."""
    modules = ["grokatlas.training"]
    for block in components.FOLDERS:
        if block == "task" or block not in spec:
            continue
        entries = spec[block] if block in components.LISTS else [spec[block]]
        modules += [components.module_name(block, entry["name"]) for entry in entries]
    return modules


def of_job(kind: str, spec: dict[str, Any], code: dict[str, str], upstream: list[str]) -> str:
    """The digest of a job: of its kind, spec, code and the digests of the jobs it reads from."""
    return of([kind, spec, code, upstream])


def dataset_modules(spec: dict[str, Any]) -> list[str]:
    """The modules a run's data set is made from."""
    return ["grokatlas.datasets", components.module_name("task", spec["task"]["name"])]


def code(modules: list[str]) -> dict[str, str]:
    """The digest of every project module that `modules` can reach by imports, by module name."""
    found: dict[str, str] = {}
    waiting = list(modules)
    while waiting:
        name = waiting.pop()
        path = _path(name)
        if name in found or path is None:
            continue
        stat = path.stat()
        found[name], imported = _module(name, path, stat.st_mtime_ns, stat.st_size)
        waiting += [*imported, *_parents(name)]
    return dict(sorted(found.items()))


def syntax_tree(path: Path) -> ast.Module:
    """The source of a module of the package, parsed.

    Raises:
        UserError: it is not valid Python, or not UTF-8 text.
    """
    place = f"src/{path.relative_to(PACKAGE.parent).as_posix()}"
    try:
        return ast.parse(path.read_text(encoding="utf-8"))
    except SyntaxError as error:
        raise UserError(f"{place}: line {error.lineno}", f"not valid Python: {error.msg}") from None
    except UnicodeDecodeError as error:
        raise UserError(place, f"not UTF-8 text (byte {error.start}); save it as UTF-8") from None


@functools.cache
def _module(name: str, path: Path, _mtime: int, _size: int) -> tuple[str, tuple[str, ...]]:
    tree = syntax_tree(path)
    package = name if path.stem == "__init__" else name.rpartition(".")[0]
    return hashlib.sha256(_shape(tree).encode()).hexdigest(), _imports(tree, package)


def _path(name: str) -> Path | None:
    """The file of a project module; None for a library's or a name that is no module."""
    parts = name.split(".")
    if parts[0] != PACKAGE.name:
        return None
    base = PACKAGE.joinpath(*parts[1:])
    for candidate in (base.with_suffix(".py"), base / "__init__.py"):
        if candidate.is_file():
            return candidate
    return None


def _parents(name: str) -> list[str]:
    """The packages whose ``__init__`` Python runs before a module."""
    parts = name.split(".")
    return [parent for k in range(1, len(parts)) if (parent := ".".join(parts[:k])) not in INERT]


def _imports(tree: ast.Module, package: str) -> tuple[str, ...]:
    names: list[str] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            above = package.split(".")[: len(package.split(".")) + 1 - node.level]
            base = above if node.level else []
            module = ".".join([*base, *filter(None, [node.module])])
            names += [module, *(f"{module}.{alias.name}" for alias in node.names)]
    return tuple(found for found in names if found not in INERT)


def _shape(node: Any) -> str:
    """A syntax tree as text without positions, comments, docstrings and empty fields.

    Empty fields are left out so that a field that a later Python adds changes no digest.
    """
    if isinstance(node, list):
        return "[" + ",".join(_shape(item) for item in node) + "]"
    if not isinstance(node, ast.AST):
        return repr(node)
    fields = []
    for name, value in ast.iter_fields(node):
        if name == "body" and isinstance(
            node, ast.Module | ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
        ):
            value = _without_docstring(value)
        if value is None and not isinstance(node, ast.Constant):
            continue
        if value == [] or name in ("ctx", "kind", "type_comment"):
            continue
        fields.append(f"{name}={_shape(value)}")
    return f"{type(node).__name__}({','.join(fields)})"


def _without_docstring(body: list[ast.stmt]) -> list[ast.stmt]:
    first = body[0] if body else None
    if (
        isinstance(first, ast.Expr)
        and isinstance(first.value, ast.Constant)
        and isinstance(first.value.value, str)
    ):
        return body[1:]
    return body
