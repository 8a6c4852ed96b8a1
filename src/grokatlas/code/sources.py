"""The text of this package's modules: Python runs the bytes that were hashed, and no others.

Python takes a compiled module from ``__pycache__`` if the date and the size of its source are those
that were noted there, whatever the source says. Here the content alone decides. A job that has
hashed its modules gets those bytes when it imports one of them later, also after an edit.

This module and ``__init__`` are imported by Python's own means, and have no effect on a number.
"""

import contextlib
import importlib.util
import marshal
import sys
from collections.abc import Iterable, Iterator, Sequence
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from pathlib import Path
from types import CodeType, ModuleType

CHECKED = 0b11  # flags of a compiled module that its source's hash decides (PEP 552)
HEADER = 16  # bytes: magic number, flags and the hash of the source
PACKAGE = __name__.partition(".")[0]

executed: dict[str, bytes] = {}  # the text of every module that this process has imported
_hashing: list[bool] = []
_pinned: dict[Path, bytes] = {}


def read(file: Path) -> bytes:
    """The bytes of a source file as this process hashes and runs them."""
    text = _pinned.get(file)
    return file.read_bytes() if text is None else text


def pin(files: Iterable[Path]) -> None:
    """Let this process import the present text of some files, even if they change."""
    _pinned.update({file: file.read_bytes() for file in files})


@contextlib.contextmanager
def hashing() -> Iterator[None]:
    """Mark that this process reads files to hash them (`rules.jobs.undeclared_reads`)."""
    _hashing.append(True)
    try:
        yield
    finally:
        _hashing.pop()


def is_hashing() -> bool:
    """Tell if this process reads a file to hash it."""
    return bool(_hashing)


class Loader(SourceFileLoader):
    """Loads a module from the bytes of its source."""

    def get_code(self, fullname: str) -> CodeType:
        """The module's code: compiled before from the same bytes, or compiled now."""
        path = self.get_filename(fullname)
        text = executed[fullname] = read(Path(path))
        compiled = Path(importlib.util.cache_from_source(path))
        head = importlib.util.MAGIC_NUMBER + CHECKED.to_bytes(4, "little")
        head += importlib.util.source_hash(text)
        try:
            known = compiled.read_bytes()
            if known[:HEADER] == head:
                code: CodeType = marshal.loads(known[HEADER:])
                return code
        except (OSError, EOFError, ValueError, TypeError):
            pass  # not compiled yet, or damaged
        code = self.source_to_code(text, path)
        if not sys.dont_write_bytecode:
            self.set_data(str(compiled), head + marshal.dumps(code))
        return code


class Finder:
    """Finds this package's modules for Python, and gives them a `Loader`."""

    @staticmethod
    def find_spec(
        module: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The module's place; for the arguments see `importlib.abc.MetaPathFinder`."""
        if not module.startswith(f"{PACKAGE}."):
            return None
        spec = PathFinder.find_spec(module, path, target)
        if spec is not None and type(spec.loader) is SourceFileLoader:
            spec.loader = Loader(spec.loader.name, spec.loader.path)
        return spec


def install() -> None:
    """Let Python import this package's modules so."""
    if Finder not in sys.meta_path:
        sys.meta_path.insert(0, Finder)
