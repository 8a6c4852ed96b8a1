"""``grokatlas store``: list what a run store holds, add runs made elsewhere, remove what is old."""

import re
import shutil
import sys
import time
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from grokatlas.declare.settings import home_expanded, load_settings
from grokatlas.errors import UserError
from grokatlas.plan import declared_jobs
from grokatlas.run_store import entry as entries
from grokatlas.run_store import store as run_store
from grokatlas.run_store.entry import StoredRun
from grokatlas.text import file_size

DAY = 86400.0
NAME = "[0-9a-f]{12}-[0-9a-f]{12}"  # of an entry
HEAD = ("run", "digest", "code", "for", "size", "made", "on", "used")


@dataclass(frozen=True)
class Stored:
    """An entry of a store.

    Attributes:
        used: when it was put or last brought from, in seconds since 1970.
        entry: its records; None where they are damaged.
    """

    place: Path
    size: int
    used: float
    entry: StoredRun | None

    @property
    def key(self) -> str:
        """The run's digest, or its first digits where its records are damaged."""
        return self.entry.manifest["digest"] if self.entry else self.place.name[13:]


def root(given: Path | None) -> Path:
    """The store that the command line, else the configuration, else the environment names."""
    given = named(given)
    if given is None:
        problem = "none is named; give --store DIR, or set run_store in config/config.yaml or"
        raise UserError("run store", f"{problem} {run_store.VARIABLE}")
    if not given.is_dir():
        raise UserError("run store", f"no folder {given}; make it, for a group with mode 2775")
    if not _is_store(given):
        problem = f"{given} holds other folders and no run of a store; name one, or a new folder"
        raise UserError("run store", problem)
    return given


def named(given: Path | None) -> Path | None:
    """The folder that the command line, else the configuration, else the environment names."""
    settings = declared_jobs.CONFIG / "config.yaml"
    configured = load_settings(settings, {}).run_store if settings.is_file() else None
    if given is None and configured is not None:
        given = home_expanded(configured)
    return given if given is not None else run_store.chosen()


def ls(given: Path | None) -> str:
    """The runs of the store that `root` finds, as a table."""
    return listing(root(given))


def put_runs(given: Path | None, folders: list[Path]) -> int:
    """Put runs into the store that `root` finds; see `add`."""
    return add(root(given), folders)


def clear(
    given: Path | None, unused: float | None, keep: float | None, stale: bool, dry_run: bool
) -> Iterator[str]:
    """Remove runs from the store that `root` finds; see `gc`."""
    return gc(root(given), unused, keep, stale, dry_run)


def _is_store(folder: Path) -> bool:
    """Whether a folder has an entry of a store, or at least nothing of anything else."""
    own = {run_store.DAMAGED, "lost+found", *entries.FOLDERS.values()}
    inner = (file for kind in entries.FOLDERS.values() for file in (folder / kind).glob("*"))
    names = [file.name for file in inner]
    if any(re.fullmatch(NAME, name) for name in names):
        return True
    visible = (each for each in folder.iterdir() if not each.name.startswith("."))
    return not names and all(each.name in own or not each.is_dir() for each in visible)


def add(store: Path, folders: list[Path]) -> int:
    """Put finished runs into a store; one line for each.

    Returns:
        0, or 1 if one was refused.
    """
    refused = 0
    for folder in folders:
        try:
            above = folder.absolute().parents  # not resolved: ``results`` may have links
            new = run_store.put(store, folder, above[min(2, len(above) - 1)])
        except UserError as error:
            print(f"refused {error}", file=sys.stderr)
            refused = 1
        else:
            print(f"{'added' if new else 'there already:'} {folder}")
    return refused


def listing(store: Path) -> str:
    """Every run of a store, last used first, and what the checkout would do with it."""
    declared = _declared()
    runs, data = stored(store, "run"), stored(store, "dataset")
    last_first = sorted(runs, key=lambda each: -each.used)
    rows = [HEAD, *(_row(each, declared) for each in last_first)] if runs else []
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ["  ".join(map(str.ljust, row, widths)).rstrip() for row in rows]
    size = file_size(sum(each.size for each in (*runs, *data)))
    counts = ((len(runs), "run"), (len(data), "data set"))
    counted = ", ".join(f"{number} {kind}{'s' * (number != 1)}" for number, kind in counts)
    lines.append(f"{counted}, {size} in {store}")
    aside = len(list((store / run_store.DAMAGED).glob("*")))
    lines += [f"{aside} damaged entries are in {run_store.DAMAGED}"] if aside else []
    return "\n".join(lines)


def _row(each: Stored, declared: dict[str, str] | None) -> tuple[str, ...]:
    run, digest = each.place.name.split("-")
    size, used = file_size(each.size), time.strftime("%Y-%m-%d", time.gmtime(each.used))
    if each.entry is None:
        return (run, digest, "damaged", "", size, "", "", used)
    manifest = each.entry.manifest
    code = "" if declared is None else "current" if each.key in declared else "stale"
    about = (declared or {}).get(each.key, "")
    made, host = str(manifest.get("started", ""))[:10], manifest.get("host") or {}
    return (run, digest, code, about, size, made, str(host.get("name", "")), used)


def _declared() -> dict[str, str] | None:
    """What each run of the checkout's plan is for, by the run's digest; None outside a checkout."""
    jobs = declared_jobs.jobs()
    if jobs is None:
        return None
    tables: dict[str, list[str]] = {}
    for job in jobs.values():
        if job.kind == "table":
            name = f"{job.spec['scale']} {job.spec['paper']}/{job.spec['experiment']}"
            for cell in job.spec["cells"]:
                tables.setdefault(cell["run"], []).append(name)
    found: dict[str, str] = {}
    for job in jobs.values():
        if job.kind == "run":
            first, *more = dict.fromkeys(tables[job.target.name])
            found |= dict.fromkeys(job.digests, first + (f" +{len(more)}" if more else ""))
    return found


def gc(
    store: Path, unused: float | None, keep: float | None, stale: bool, dry_run: bool
) -> Iterator[str]:
    """Remove runs, data sets that no run of the store needs, and leftovers.

    Args:
        store: the store.
        unused: remove runs that were not put or brought for so many days.
        keep: then remove the longest unused until all runs have so many bytes at most.
        stale: remove runs that no paper of this checkout declares, or with other code.
        dry_run: only list what would be removed.
    """
    declared = _declared() if stale else {}
    if declared is None:
        raise UserError("--stale", f"no {declared_jobs.CONFIG}/ here; run it in a checkout")
    runs = sorted(stored(store, "run"), key=lambda each: each.used)
    doomed: dict[Path, str] = {}
    left = sum(each.size for each in runs)
    for each in runs:
        days = (time.time() - each.used) / DAY
        if unused is not None and days > unused:
            doomed[each.place] = f"not used for {days:.0f} days"
        elif stale and each.key not in declared:
            doomed[each.place] = "not planned by this checkout"
        left -= each.size if each.place in doomed else 0
    for each in runs:
        if keep is not None and left > keep and each.place not in doomed:
            doomed[each.place] = "the longest unused"
            left -= each.size
    doomed |= _orphans(store, [each for each in runs if each.place not in doomed])
    doomed |= _leftovers(store)
    total, verb = 0, "would remove" if dry_run else "removed"
    for place, why in doomed.items():
        total += _size(place)
        if not dry_run:
            _remove(store, place)
        yield f"{verb} {place.relative_to(store)}: {why}"
    yield f"{verb} {len(doomed)} entries, {file_size(total)}; runs of {file_size(left)} stay"


def _orphans(store: Path, kept: list[Stored]) -> dict[Path, str]:
    """Data sets that no run needs; a new one may be waiting for its run, which comes next."""
    needed = {
        entries.place_of(store, "dataset", name.parent.name, sha256)
        for run in kept
        for name, sha256 in (run.entry.inputs if run.entry else {}).items()
    }
    found = [each for each in stored(store, "dataset") if each.place not in needed]
    return {each.place: "no run here needs it" for each in found if _old(each.place)}


def _leftovers(store: Path) -> dict[Path, str]:
    """What a killed process left, and what was set aside, a day ago or longer."""
    unfinished = [(p, "left by a killed process") for p in store.glob(run_store.UNFINISHED)]
    damaged = [(p, "damaged") for p in (store / run_store.DAMAGED).glob(f"{'[0-9a-f]' * 12}-*")]
    return {place: why for place, why in (*unfinished, *damaged) if _old(place)}


def _old(folder: Path) -> bool:
    """Whether nothing was written to a folder, or moved there, for a day."""
    try:
        times = [path.stat().st_ctime for path in (folder, *folder.iterdir())]
    except OSError:
        return False  # it just changed
    return time.time() - max(times) > DAY


def stored(store: Path, kind: str) -> list[Stored]:
    """The entries of a store."""
    found = []
    for place in sorted((store / entries.FOLDERS[kind]).glob("*")):
        if not re.fullmatch(NAME, place.name):
            continue
        try:
            used = place.stat().st_mtime
        except OSError:
            continue  # removed in the meantime
        try:
            entry = entries.read(kind, place)
        except UserError:
            entry = None
        found.append(Stored(place, _size(place), used, entry))
    return found


def _size(folder: Path) -> int:
    try:
        return sum(file.stat().st_size for file in folder.iterdir())
    except OSError:
        return 0  # removed in the meantime


def _remove(store: Path, place: Path) -> None:
    """Remove a folder of a store, renamed first, so that no other process reads a part of it."""
    gone = store / run_store.UNFINISHED.replace("*", uuid.uuid4().hex)
    try:
        place.rename(gone)
        shutil.rmtree(gone)
    except FileNotFoundError:
        return  # removed in the meantime
    except OSError as error:
        raise UserError(str(place), f"cannot be removed: {error.strerror}") from None
