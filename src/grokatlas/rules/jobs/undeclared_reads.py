"""Refusal of files that a job reads and that are in no digest.

A component, a figure or a claim of a study may read a file of its own, such as measured points. It
names the file by ``FILES`` (`code.code_digest`). Here Python's audit events tell of every file
that is opened; what a library opens without Python, as pyarrow does, they do not see. A file that
is neither in the study nor in a room of the package may be read: systems and libraries read many.
"""

import contextlib
import importlib.util
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import Any

from grokatlas import registry
from grokatlas.code import code_digest, sources
from grokatlas.errors import UserError
from grokatlas.results import layout

CODE = (".py", ".pyc", ".pyi")  # what is imported from a room is in the digest as code
APART = (layout.RESULTS.name, "config", "recorded", "Snakefile", registry.STUDY)  # of a study
LIBRARIES = ("__pycache__", "site-packages", "dist-packages")  # folders of what is installed
_watched: dict[str, frozenset[str]] = {}  # folders, and the files in them that are declared
_hooks: list[Any] = []


@contextlib.contextmanager
def refused(modules: list[str]) -> Iterator[None]:
    """Refuse for a while what `refuse` refuses."""
    refuse(modules)
    try:
        yield
    finally:
        end()


def refuse(modules: list[str]) -> None:
    """Refuse from here on to open a file of the study, or of a room with components."""
    files = code_digest.files(modules).values()
    declared = frozenset(os.path.realpath(file) for each in files for file in each)
    study = registry.study()
    folders = [*_rooms_of(registry.PACKAGE), *filter(None, [study])]
    _watched.clear()
    _watched.update({_below(folder): declared for folder in folders})
    if not _hooks:
        _hooks.append(_opened)
        sys.addaudithook(_opened)


def end() -> None:
    """Let a job read what it likes: none of our components runs in it, and its spec has hashes."""
    _watched.clear()


def _opened(event: str, arguments: tuple[Any, ...]) -> None:
    if event != "open" or not _watched or sources.is_hashing():
        return
    name, mode, flags = arguments
    if isinstance(name, int) or not _reads(mode, flags):
        return
    path = _source(os.path.realpath(os.fsdecode(name)))
    for folder, declared in _watched.items():
        if path.startswith(folder) and path not in declared:
            parts = Path(path).relative_to(folder).parts
            if _is_own(parts, path) and Path(path).is_file():
                problem = "is read by the job and is in no digest, so an edit would go unnoticed"
                todo = _remedy(path)
                raise UserError(registry.shown(Path(path)), f"{problem}; {todo}")


def _source(path: str) -> str:
    """The module of a file that Python compiled; of any other file its own path."""
    try:
        return importlib.util.source_from_cache(path) if path.endswith(".pyc") else path
    except ValueError:  # it is named as no version of Python does
        return path


def _remedy(path: str) -> str:
    """The words that end a refusal: where a file belongs, or which module must name it."""
    if path.endswith(CODE):
        return f"move it into {', '.join(registry.ROOMS)}, and import it from there"
    rooms = tuple(map(_below, _rooms_of(registry.study())))
    frame: FrameType | None = sys._getframe()
    while frame is not None:
        reader = os.path.realpath(frame.f_code.co_filename)
        if reader.startswith(rooms):
            name = Path(os.path.relpath(path, Path(reader).parent)).as_posix()
            return f'name it in {registry.shown(Path(reader))}: FILES = ("{name}",)'
        frame = frame.f_back
    return f'name it in the module that reads it, as FILES = ("{Path(path).name}",)'


def _rooms_of(root: Path | None) -> list[Path]:
    """The folders of the package or of a study whose modules are in digests; none for None."""
    return [root / room for room in registry.ROOMS] if root else []


def _below(folder: Path) -> str:
    """The text with which the path of every file below a folder begins."""
    return os.path.realpath(folder) + os.sep


def _reads(mode: str | None, flags: int) -> bool:
    if isinstance(mode, str):
        return "r" in mode or "+" in mode
    return flags & os.O_ACCMODE != os.O_WRONLY and not flags & os.O_DIRECTORY


def _is_own(parts: tuple[str, ...], path: str) -> bool:
    """Tell if a file counts: none of results, settings, environments and data sets does."""
    hidden = any(part.startswith(".") or part in LIBRARIES for part in parts)
    if hidden or parts[0] in APART:
        return False
    rooms = [*_rooms_of(registry.PACKAGE), *_rooms_of(registry.study())]
    if path.endswith(CODE) and path.startswith(tuple(map(_below, rooms))):
        return False
    folders = [sys.prefix, os.environ.get("GROKATLAS_DATA"), os.environ.get("GROKATLAS_RUN_STORE")]
    return not any(path.startswith(_below(Path(each))) for each in folders if each)
