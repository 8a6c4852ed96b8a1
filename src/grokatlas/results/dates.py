"""The dates that files of results are given, by which Snakemake knows what is stale.

They are constants, so neither the clock of a machine, nor that of a file server, nor the precision
of a file system matters.
"""

import contextlib
import os
import shutil
from collections.abc import Iterable
from pathlib import Path

from grokatlas.errors import UserError
from grokatlas.results import files as store

WRITTEN = 1_000_000_000  # the date of every job file: September 2001
STALE = WRITTEN - 86_400  # the date of a stale result: a day before


def date(path: Path, when: float) -> None:
    """Give a file a date; a file of another user is written anew for that."""
    try:
        if path.stat().st_mtime == when:
            return
        try:
            os.utime(path, (when, when))
        except PermissionError:  # only the owner may
            with store.atomic(path) as temporary:
                shutil.copyfile(path, temporary)
            os.utime(path, (when, when))
        written = path.stat().st_mtime
    except OSError as error:
        raise UserError(str(path), f"cannot be written: {error.strerror or error}") from None
    if abs(written - when) > 43_200:
        problem = "its file system does not keep the dates of files, which Snakemake needs"
        raise UserError(str(path), f"{problem}; put results on another disk")


def date_back(files: Iterable[Path], limit: float) -> None:
    """Date files of results back that are dated after a limit, if this account may."""
    for file in files:
        with contextlib.suppress(OSError, UserError):
            if file.stat().st_mtime > limit:
                date(file, WRITTEN)
