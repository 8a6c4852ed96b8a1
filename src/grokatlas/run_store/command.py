"""``grokatlas store``: list what a run store holds, add runs made elsewhere, remove what is old."""

import re
import shutil
import sys
import time
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from grokatlas import text as words
from grokatlas.declare.names import CONFIG
from grokatlas.declare.settings import home_expanded, load_settings
from grokatlas.errors import UserError
from grokatlas.plan import declared_jobs
from grokatlas.results import files
from grokatlas.run_store import entry as entries
from grokatlas.run_store import store as run_store
from grokatlas.run_store.entry import StoredRun

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
    settings = CONFIG / "config.yaml"
    configured = load_settings(settings, {}).run_store if settings.is_file() else None
    if given is None and configured is not None:
        given = home_expanded(configured)
    return given if given is not None else run_store.chosen()


def _is_store(folder: Path) -> bool:
    """Tell if a folder has an entry of a store, or at least nothing of anything else."""
    own = {run_store.DAMAGED, "lost+found", *entries.FOLDERS.values()}
    inner = (file for kind in entries.FOLDERS.values() for file in (folder / kind).glob("*"))
    names = [file.name for file in inner]
    if any(re.fullmatch(NAME, name) for name in names):
        return True
    visible = (each for each in folder.iterdir() if not each.name.startswith("."))
    return not names and all(each.name in own or not each.is_dir() for each in visible)


def add(given: Path | None, folders: list[Path]) -> int:
    """Put finished runs into the store that `root` finds; one line for each.

    Returns:
        0, or 1 if one was refused.
    """
    store, refused = root(given), 0
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


def ls(given: Path | None) -> str:
    """Every run of the store that `root` finds, last used first, and if the checkout plans it."""
    store, declared = root(given), _declared()
    runs, data = stored(store, "run"), stored(store, "dataset")
    last_first = sorted(runs, key=lambda each: -each.used)
    rows = [HEAD, *(_row(each, declared) for each in last_first)] if runs else []
    lines = aligned(rows)
    size = words.file_size(sum(each.size for each in (*runs, *data)))
    counted = f"{words.count(len(runs), 'run')}, {words.count(len(data), 'data set')}"
    lines.append(f"{counted}, {size} in {store}")
    aside = len(list((store / run_store.DAMAGED).glob("*")))
    lines += [f"{aside} damaged entries are in {run_store.DAMAGED}"] if aside else []
    return "\n".join(lines)


def aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Rows of cells as lines, their columns below each other."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(map(str.ljust, row, widths)).rstrip() for row in rows]


def _row(each: Stored, declared: dict[str, str] | None) -> tuple[str, ...]:
    run, digest = each.place.name.split("-")
    size, used = words.file_size(each.size), time.strftime("%Y-%m-%d", time.gmtime(each.used))
    if each.entry is None:
        return (run, digest, "damaged", "", size, "", "", used)
    manifest = each.entry.manifest
    code = "" if declared is None else "current" if each.key in declared else "stale"
    about = (declared or {}).get(each.key, "")
    date, host = str(manifest.get("started", ""))[:10], manifest.get("host") or {}
    return (run, digest, code, about, size, date, str(host.get("name", "")), used)


def _declared() -> dict[str, str] | None:
    """The tables that each planned run is for, by the run's digest; None outside a checkout."""
    jobs = declared_jobs.jobs()
    if jobs is None:
        return None
    tables: dict[str, list[str]] = {}
    for job in jobs.values():
        if job.kind == "table":
            name = f"{job.spec['scale']} {job.spec['paper']}/{job.spec['experiment']}"
            for cell in job.spec["cells"]:
                tables.setdefault(cell["run"], []).append(name)
    uses: dict[str, str] = {}
    for job in jobs.values():
        if job.kind == "run":
            first, *more = dict.fromkeys(tables[job.target.name])
            uses |= dict.fromkeys(job.digests, first + (f" +{len(more)}" if more else ""))
    return uses


def gc(
    given: Path | None, unused: float | None, keep: float | None, stale: bool, dry_run: bool
) -> Iterator[str]:
    """Remove runs, data sets that no run of the store needs, and leftovers.

    Args:
        given: the store that is named, see `root`.
        unused: remove runs that were not put or brought for so many days.
        keep: then remove the longest unused until all runs have so many bytes at most.
        stale: remove runs that no paper of this checkout declares, or with other code.
        dry_run: only list what would be removed.
    """
    store, declared = root(given), _declared() if stale else {}
    if declared is None:
        raise UserError("--stale", f"no {CONFIG}/ here; run it in a checkout")
    runs = sorted(stored(store, "run"), key=lambda each: each.used)
    doomed: dict[Path, str] = {}
    left = sum(run.size for run in runs)
    for run in runs:
        days = (time.time() - run.used) / files.DAY
        if unused is not None and days > unused:
            doomed[run.place] = f"not used for {days:.0f} days"
        elif stale and run.key not in declared:
            doomed[run.place] = "not planned by this checkout"
        left -= run.size if run.place in doomed else 0
    for run in runs:
        if keep is not None and left > keep and run.place not in doomed:
            doomed[run.place] = "the longest unused"
            left -= run.size
    doomed |= _orphans(store, [run for run in runs if run.place not in doomed])
    doomed |= _leftovers(store)
    total, verb = 0, "would remove" if dry_run else "removed"
    for place, why in doomed.items():
        total += files.size(place)
        if not dry_run:
            _remove(store, place)
        yield f"{verb} {place.relative_to(store)}: {why}"
    sizes = words.file_size(total), words.file_size(left)
    yield f"{verb} {len(doomed)} entries, {sizes[0]}; runs of {sizes[1]} stay"


def _orphans(store: Path, runs: list[Stored]) -> dict[Path, str]:
    """Data sets that no run needs; a new one may be waiting for its run, which comes next."""
    needed = {
        entries.place_of(store, "dataset", name.parent.name, sha256)
        for run in runs
        for name, sha256 in (run.entry.data if run.entry else {}).items()
    }
    orphans = [each for each in stored(store, "dataset") if each.place not in needed]
    return {each.place: "no run here needs it" for each in orphans if files.is_old(each.place)}


def _leftovers(store: Path) -> dict[Path, str]:
    """Folders that a killed process left, or that were set aside, a day ago or longer."""
    unfinished = [(p, "left by a killed process") for p in store.glob(run_store.UNFINISHED)]
    damaged = [(p, "damaged") for p in (store / run_store.DAMAGED).glob(f"{'[0-9a-f]' * 12}-*")]
    return {place: why for place, why in (*unfinished, *damaged) if files.is_old(place)}


def stored(store: Path, kind: str) -> list[Stored]:
    """The entries of a store."""
    listed = []
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
        listed.append(Stored(place, files.size(place), used, entry))
    return listed


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
