"""Files moved to their places, all of them or none, also where folders are on several disks."""

import contextlib
import errno
import os
import shutil
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

from grokatlas.results import files


def all_or_none(moves: list[tuple[Path, Path]], removed: list[Path]) -> None:
    """Move files to their targets and remove others; after any error everything is as before.

    Every file is first moved to a temporary name beside its target, where a disk that is full or
    may not be written shows. A file that is removed or replaced keeps such a name until the end.

    Args:
        moves: pairs of a file and its target, in the order in which they appear.
        removed: files that are to be gone, in the order in which they go; some may be absent.
    """
    token = uuid.uuid4().hex[:8]
    aside = []
    with contextlib.ExitStack() as undo:
        for source, target in moves:
            _make_folder(target.parent, undo)
            undo.callback(_try, Path.unlink, _near(target, token))
            _move(source, _near(target, token))
        for target in dict.fromkeys([*removed, *(target for _, target in moves)]):
            if os.path.lexists(target):
                old = _near(target, f"{token}.old")
                undo.callback(_try, Path.rename, old, target)
                target.rename(old)
                aside.append(old)
        for _, target in moves:
            near = _near(target, token)
            undo.callback(_withdraw, near, target)
            near.rename(target)
        undo.pop_all()
    for old in aside:
        _try(Path.unlink, old)


def _near(target: Path, token: str) -> Path:
    """A temporary name beside a target."""
    return target.with_name(f".{target.name}.{token}.part")


def _make_folder(folder: Path, undo: contextlib.ExitStack) -> None:
    """Make a folder with those above it; an error removes those that were made."""
    made = [each for each in (folder, *folder.parents) if not os.path.lexists(each)]
    for each in reversed(made):
        undo.callback(_try, Path.rmdir, each)
        each.mkdir()


def _move(source: Path, target: Path) -> None:
    try:
        source.replace(target)
    except OSError as error:
        if error.errno != errno.EXDEV:
            raise
        with source.open("rb") as read, target.open("xb") as written:
            shutil.copyfileobj(read, written)
            written.flush()
            files.sync(written)


def _withdraw(near: Path, target: Path) -> None:
    """Remove a target that a temporary file became."""
    if not os.path.lexists(near):
        _try(Path.unlink, target)


def _try(act: Callable[..., Any], *paths: Path) -> None:
    with contextlib.suppress(OSError):
        act(*paths)
