"""Finished runs in a folder shared by checkouts and users: put there once, not trained again.

A run is in ``runs/<run>-<digest>``, the data set that it was made from in
``data/<dataset>-<sha256>``, each with job file and manifest as in ``results``. The digest covers
spec, code and data: versions of a run lie side by side, and a look-up is one path. An entry appears
by one rename and is never changed. What is read from it is hashed; an entry that is not what its
manifest records is moved to ``damaged``.
"""

import contextlib
import itertools
import os
import shutil
import socket
import sys
import time
import uuid
from collections.abc import Iterable, Iterator
from pathlib import Path

from grokatlas.errors import UserError
from grokatlas.plan.jobs import Job, Plan
from grokatlas.results import files, hashing, layout, locks
from grokatlas.results.ancestry import ancestors
from grokatlas.results.manifest import MARK
from grokatlas.results.result import DamagedError, UnreadableError
from grokatlas.run_store import entry as entries
from grokatlas.run_store.entry import StoredRun

VARIABLE = "GROKATLAS_RUN_STORE"  # environment variable: the folder
DAMAGED = "damaged"
UNFINISHED = ".put-*.part"  # entries on their way in


def chosen() -> Path | None:
    """The store that the environment names, if it names one."""
    name = os.environ.get(VARIABLE)
    if name and not Path(name).is_dir():
        raise UserError(VARIABLE, f"no folder {name}; make it or unset the variable")
    return Path(name) if name else None


def share(run: Path) -> None:
    """Put a finished run into the run store, if there is one; that it fails costs nothing here."""
    try:
        root = chosen()
        if root is not None:
            put(root, run, Path())
    except UserError as error:
        print(f"warning: not put into the run store: {error}", file=sys.stderr)


def put(root: Path, run: Path, tree: Path) -> bool:
    """Copy a finished run into a store, with the data set that it was made from.

    Args:
        root: the store.
        run: the folder of the run, whatever it is called.
        tree: where ``results`` with the run's data set is, if it is there.

    Returns:
        whether it was not there already.
    """
    entry = entries.read("run", run)
    for name, recorded in entry.data.items():
        folder = tree / name.parent
        if not layout.manifest_of("dataset", folder).exists():
            continue
        data = entries.read("dataset", folder)
        if recorded not in data.outputs.values():
            raise DamagedError(str(run), f"was made from another {name} than the one that is there")
        spec, code = entry.job["spec"], entry.job["code"]
        digests = [entries.digests(tree, Path(each)) for each in entry.job["inputs"]]
        known = [digest for digest in digests if digest is not None]  # a parent may not be here
        if len(known) == len(digests) and (
            entry.job["digest"] not in hashing.of_job("run", spec, code, known)
        ):
            raise DamagedError(str(run), "its digest is not that of its spec, code and data")
        _put(root, data)
    return _put(root, entry)


def _put(root: Path, entry: StoredRun) -> bool:
    """Copy an entry, checked, under a temporary name that becomes its own."""
    place, stage = entry.place(root), root / UNFINISHED.replace("*", uuid.uuid4().hex)
    try:
        if entries.exists(place):
            if not entries.damage(entry.kind, place):
                return False
            _set_aside(root, place)
        access = root.stat().st_mode  # of the store, not of who writes: others shall read it
        _make(place.parent, access)
        _make(stage, access)
        _fill(stage, entry)
        for file in stage.iterdir():
            files.allow(file, access & 0o444 | 0o400)
        stage.rename(place)
    except OSError as error:
        if entries.exists(place):
            return False  # another process was faster
        raise UserError(str(root), f"cannot be written: {error.strerror or error}") from None
    finally:
        shutil.rmtree(stage, ignore_errors=True)
    return True


def _make(folder: Path, access: int) -> None:
    """Make a folder, if it is not there, with the access that the store's folder gives."""
    with contextlib.suppress(FileExistsError):
        folder.mkdir(0o700)
        files.allow(folder, access & 0o2775 | 0o700)


def _fill(stage: Path, entry: StoredRun) -> None:
    """Write an entry's files: its outputs, and its records as its job wrote them."""
    for file, recorded in entry.outputs.items():
        with files.atomic(stage / file.name) as temporary:
            entries.copy(file, temporary, recorded)
    for path, content, later in (
        (layout.spec_path(entry.kind, stage), entry.job, "replaces"),
        (layout.manifest_of(entry.kind, stage), entry.manifest, MARK),
    ):
        lasting = {key: value for key, value in content.items() if key != later}
        files.write_json(path, files.sealed(lasting))


def bring_missing(runs: Iterable[Job], plan: Plan) -> list[Path]:
    """Bring those of some runs that are not in ``results``, or are stale, from the store, if any.

    Returns:
        the folders that were renewed: runs and data sets.
    """
    root, renewed, count = chosen(), list[Path](), 0
    if root is None:
        return []
    # a run that starts from others after these, as it fits them alone
    for run in sorted(runs, key=lambda each: len(ancestors([each], lambda job: job.inputs))):
        if plan.is_up_to_date(run) and all(file.exists() for file in run.outputs):
            continue
        present = [f for data in run.inputs if plan.is_up_to_date(data) for f in data.outputs]
        brought = bring(root, run, present)
        plan.look_again(brought)
        renewed += brought
        count += run.target in brought
    if count:
        _tell(f"{count} run{'s' * (count > 1)} brought in from {root}")
    return renewed


def bring(root: Path, job: Job, data_files: Iterable[Path]) -> list[Path]:
    """Copy a run from a store to ``results``, with its data set, if the store holds it.

    A data set that the store has of other code, with the same bytes, stays there: the workflow
    makes its own where it is wanted. Whatever is wrong in the store is reported in one line on
    stderr; the run is then trained.

    Args:
        root: the store.
        job: the run's.
        data_files: files of data sets that lie in ``results`` and stay as they are.

    Returns:
        the folders that were renewed: the run and data sets, or nothing.
    """
    run, planned = job.target, {data.target: data for data in job.inputs}
    places = [entries.place_of(root, "run", run.name, digest) for digest in job.digests]
    entry = next((each for place in places if (each := _sound_entry(root, "run", place))), None)
    if entry is None or not job.matches(entry.manifest):
        return []
    renewed = []
    with _locked(run) as locked:
        if not locked:
            return []
        for name, recorded in entry.inputs.items():
            if name in data_files:
                kind = layout.kind_of(name.parent)
                there = files.read_json(layout.manifest_of(kind, name.parent))["outputs"]
                if there.get(name.name) != recorded:
                    _tell(f"{entry.folder}: was made from other data than are here; not used")
                    return []
                continue
            if not layout.is_data(name):
                continue  # a run that it starts from is brought in by itself
            known = entries.place_of(root, "dataset", name.parent.name, recorded)
            data = _sound_entry(root, "dataset", known)
            made_by = planned.get(name.parent)
            fitting = data and made_by and made_by.matches(data.manifest)
            if data and fitting and _bring(root, data, name.parent):
                renewed.append(name.parent)
        return [*renewed, run] if _bring(root, entry, run) else renewed


def _sound_entry(root: Path, kind: str, place: Path) -> StoredRun | None:
    """The entry at a place of a store, if it is sound by its records."""
    if not entries.exists(place):
        return None
    try:
        entry = entries.read(kind, place)
        if entry.place(root) != place:
            raise DamagedError(str(place), f"is {entry.place(root).name}")
    except UserError as error:
        _give_up(root, place, error)
        return None
    return entry


def _bring(root: Path, entry: StoredRun, target: Path) -> bool:
    """Copy an entry to its target, the manifest last and marked; whether it was sound."""
    try:
        with contextlib.ExitStack() as stack:
            for file, recorded in entry.outputs.items():
                entries.copy(file, stack.enter_context(files.atomic(target / file.name)), recorded)
            layout.manifest_of(entry.kind, target).unlink(missing_ok=True)
    except (DamagedError, UnreadableError) as error:
        _give_up(root, entry.folder, error)
        return False
    when = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    mark = {"entry": entry.folder.name, "host": socket.gethostname(), "when": when}
    content = files.sealed({**entry.manifest, MARK: mark})
    files.write_json(layout.manifest_of(entry.kind, target), content)
    job_file = layout.spec_path(entry.kind, target)
    if not job_file.exists():
        files.write_json(job_file, entry.job)
    shutil.rmtree(target / layout.STATE, ignore_errors=True)  # the run is finished now
    with contextlib.suppress(OSError):  # a store that is only read keeps no time of use
        os.utime(entry.folder)
    return True


@contextlib.contextmanager
def _locked(run: Path) -> Iterator[bool]:
    """Hold the lock of a run's folder; False where another process holds it: it trains the run."""
    try:
        run.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(str(run), f"cannot be written: {error.strerror or error}") from None
    with locks.held(run / layout.LOCK) as locked:
        try:
            yield locked
        finally:
            if locked:
                (run / layout.LOCK).unlink(missing_ok=True)


def _give_up(root: Path, place: Path, error: UserError) -> None:
    """Tell that an entry is not used, and set it aside if it is damaged."""
    if not entries.exists(place):
        return  # removed in the meantime
    done = "not used"
    if isinstance(error, DamagedError):
        try:
            done = f"set aside as {_set_aside(root, place).relative_to(root)}"
        except OSError as problem:
            done = f"not used, and cannot be set aside ({problem.strerror})"
    _tell(f"{error}; {done}")


def _set_aside(root: Path, place: Path) -> Path:
    """Move an entry out of the way."""
    _make(root / DAMAGED, root.stat().st_mode)
    for number in itertools.count(1):
        aside = root / DAMAGED / f"{place.name}-{number}"
        if not aside.exists():
            break
    return place.rename(aside)


def _tell(text: str) -> None:
    print(f"run store: {text}", file=sys.stderr)
