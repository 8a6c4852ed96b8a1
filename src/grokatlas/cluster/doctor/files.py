"""The disk that results are on: who may write there, its locks."""

import os
import secrets
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from grokatlas.cluster.doctor.findings import Finding, State
from grokatlas.errors import UserError
from grokatlas.plan.jobs import Job
from grokatlas.results import dates, layout
from grokatlas.results import files as store
from grokatlas.text import file_size

NAME = ".doctor-"  # a check's own files begin so
PART = ".part"  # and end so, as temporary files do, which no command takes for results
ROOM = 10**6  # bytes that a folder of temporary files should take
PATIENCE = 60.0  # seconds that the second process of the locks' check may take
REMEDY = "mount the disk with locks, or keep results on another one"
SECOND = (
    "import fcntl, sys\n"
    "try: fcntl.flock(open(sys.argv[1], 'r+'), fcntl.LOCK_EX | fcntl.LOCK_NB)\n"
    "except BlockingIOError: print('refused')\n"
    "else: print('granted')"
)


def place() -> Path:
    """The results, or the nearest folder above them that is there."""
    results = layout.RESULTS.resolve()
    return next(folder for folder in (results, *results.parents) if folder.is_dir())


def writing(missing: list[Job]) -> Iterator[Finding]:
    """Whether results and the folders in them take a new file, a rename and a removal."""
    folders = [place()]
    if layout.RESULTS.is_dir():
        folders += sorted(entry for entry in layout.RESULTS.iterdir() if entry.is_dir())
    for folder in folders:
        try:
            _exercise(folder)
        except (OSError, UserError) as error:
            why = error.strerror if isinstance(error, OSError) else error.problem
            text = f"{folder} cannot be written ({str(why).removeprefix('cannot be written: ')})"
            hint = "give this account the right to write there, or keep results on another disk"
            state: State = "fail" if missing else "warn"
            yield Finding(state, "writing", f"{text}; {hint}")
            return
    yield Finding("ok", "writing", f"files can be made, renamed and removed in {folders[0]}")


def locks() -> Iterator[Finding]:
    """Whether a second process is refused a lock that this one holds, on the disk of the runs."""
    import fcntl

    runs = layout.run_folder("")
    folder = runs.resolve() if runs.is_dir() else place()
    try:
        with tempfile.NamedTemporaryFile(prefix=NAME, suffix=PART, dir=folder) as stream:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
            command = [sys.executable, "-c", SECOND, stream.name]
            done = subprocess.run(
                command, capture_output=True, text=True, check=True, timeout=PATIENCE
            )
    except OSError as error:
        text = f"this disk has no locks of the kernel (flock: {error.strerror})"
        rest = "files are used instead, and after a lost node its runs wait for minutes"
        yield Finding("warn", "flock", f"{text}; {rest}; {REMEDY}")
        return
    if done.stdout.strip() == "refused":
        yield Finding("ok", "flock", "a second process is refused a lock that is held")
        return
    text = "a second process gets a lock that is held, so two jobs may train one run"
    yield Finding("fail", "flock", f"{text}; {REMEDY}")


def cache() -> Iterator[Finding]:
    """The folder that Snakemake needs for its cache; nothing where it can be made."""
    folder = Path(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"))  # noqa: PTH111
    there = next((each for each in (folder, *folder.parents) if each.is_dir()), Path())
    if not folder.is_absolute() or not os.access(there, os.W_OK | os.X_OK):
        text = f"{folder} cannot be made, and Snakemake keeps its cache there"
        yield Finding("fail", "home", f"{text}; set HOME to a folder that can be written")


def temporary() -> Iterator[Finding]:
    """The folder of temporary files, which Snakemake plans in; nothing where it has room."""
    try:
        with tempfile.TemporaryFile() as stream:
            stream.write(bytes(ROOM))
    except OSError as error:
        folder = os.environ.get("TMPDIR") or "the folder of temporary files"
        text = f"{folder} takes no file of {file_size(ROOM)} ({error.strerror or error})"
        yield Finding("fail", "temporary", f"{text}; make room, or set TMPDIR to another folder")


def _exercise(folder: Path) -> None:
    """Write a file as jobs do, with a date of theirs, and remove it."""
    path = folder / f"{NAME}{secrets.token_hex(4)}{PART}"
    try:
        store.write_text(path, "x")
        dates.date(path, dates.WRITTEN)
    finally:
        path.unlink(missing_ok=True)
