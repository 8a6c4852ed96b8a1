"""Take an archive of results into this checkout: all of it or nothing.

Nothing is written outside a temporary folder in ``results`` before the whole archive was found
sound.
"""

import contextlib
import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from grokatlas import registry
from grokatlas.errors import UserError
from grokatlas.export import archive_files, closure, sources
from grokatlas.export.archive import FORMAT, INDEX, PLOTTED, READ, counted
from grokatlas.export.archive_files import ArchivedFile
from grokatlas.results import files, freshness, hashing, layout, links, placing, records_only
from grokatlas.results.manifest import code_of
from grokatlas.results.result import Result
from grokatlas.text import file_size, some_of

LARGEST_INDEX = 1 << 26
LARGEST_RATIO = 200  # unpacked to packed; our files, most of them compressed already, reach 10
ALWAYS_ALLOWED = 1 << 26  # bytes unpacked, whatever the ratio

Listed = dict[str, dict[str, Any]]  # size and sha256 of each file of an archive


class DifferError(UserError):
    """Results here differ from those of an archive."""


def adopt(archive: Path, replace: bool, twins: set[str] | None = None) -> str:
    """Unpack an archive into ``results``, all of it or nothing; a line on what was adopted.

    Args:
        archive: as `pack` wrote it.
        replace: overwrite results that lie here and differ.
        twins: gets the targets of results that are here with other bytes, sound and of the same
            job: unless they are replaced these stay, and all others are adopted. If it is None,
            they differ as any other.

    Raises:
        DifferError: results here differ from its.
        UserError: the archive is not sound.
    """
    links.check()
    listed = _survey(archive)
    created = not layout.RESULTS.exists()
    with _stage() as stage:
        _unpack(archive, listed, stage)
        results, digests = _loaded(stage, listed)
        moves = {r.target: _moves(r, digests.get(r.target), listed) for r in results}
        differ = [target for target, names in moves.items() if names is None]
        if twins is not None and not replace:
            others = [result for result in results if result.target in differ]
            twins |= {r.target for r in others if _is_twin(r, digests.get(r.target))}
            differ = [target for target in differ if target not in twins]
            moves |= {target: [] for target in twins}
        if differ and not replace:
            problem = f"{len(differ)} results here differ from the archive's ({some_of(differ)})"
            raise DifferError(str(archive), f"{problem}; nothing was changed; --replace overwrites")
        _refuse_loss(archive, [r for r in results if moves[r.target] is None], listed)
        new = [result for result in results if moves[result.target] != []]
        _place(new, moves, listed, stage)
        placed = {r.target for r in new if _manifest_is_placed(r, moves[r.target])}
        records_only.update(results, placed, twins or set())
    text = counted(new)
    known = len(results) - len(new)
    folder = f" into the new folder {layout.RESULTS}" if created else ""
    own = any(map(sources.holds, listed)) and registry.study() is None
    study = f"\nthe sources of its study: unzip {archive} '{sources.FOLDER}/*'" if own else ""
    return f"adopted {text}{folder}; {known} were here already{study}"


def _refuse_loss(archive: Path, results: list[Result], listed: Listed) -> None:
    """Refuse to replace a result whose files the archive does not hold: they would be lost."""
    lost = [n for r in results for n in r.outputs if n not in listed and os.path.lexists(n)]
    if lost:
        problem = f"does not hold {some_of(lost)}, which --replace would remove here; nothing was"
        problem += " changed"
        raise UserError(str(archive), f"{problem}; adopt an archive with the runs, or remove them")


def _survey(archive: Path) -> Listed:
    """The files that an archive's index lists, after every member was seen to be one of them.

    Nothing is written, and no byte beyond the listed sizes and the records is read.
    """
    entries = archive_files.entries(archive)
    first = next(entries, None)
    if first is None or first.name != INDEX or first.size > LARGEST_INDEX:
        raise UserError(str(archive), f"does not begin with {INDEX}; make it with `grokatlas pack`")
    listed = _index(archive, b"".join(first.chunks))
    seen: set[str] = set()
    for entry in entries:
        if entry.name in seen:
            raise UserError(str(archive), f"member {entry.name!r} is listed twice; refused")
        _check_member(archive, entry, listed)
        seen.add(entry.name)
        for _ in entry.chunks:
            pass
    missing = sorted(listed.keys() - seen)
    if missing:
        raise UserError(str(archive), f"lacks {missing[0]}, which its index lists; fetch it again")
    return listed


def _check_member(archive: Path, entry: ArchivedFile, listed: Listed) -> None:
    if layout.owner(entry.name) is None and not sources.holds(entry.name):
        problem = f"member {entry.name!r} is no file that a job writes into {layout.RESULTS}"
        raise UserError(str(archive), f"{problem}; refused")
    if entry.name not in listed or listed[entry.name]["size"] != entry.size:
        raise UserError(
            str(archive), f"member {entry.name!r} is not as the index lists it; refused"
        )


def _index(archive: Path, text: bytes) -> Listed:
    try:
        content = json.loads(text)
        listed: Listed = content["files"]
        sizes = [entry["size"] for entry in listed.values()]
        sound = all(isinstance(entry["sha256"], str) for entry in listed.values())
        sound = sound and all(type(size) is int and size >= 0 for size in sizes)
        version = content["version"] if content["format"] == FORMAT["format"] else None
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        sound, version = False, None
    if not sound or version is None:
        raise UserError(f"{archive}: {INDEX}", "is damaged; fetch the archive again")
    if version not in READ:
        problem = f"has version {version!r}, this code reads {READ[-1]} at most; update it"
        raise UserError(f"{archive}: {INDEX}", problem)
    total, packed = sum(sizes), archive.stat().st_size
    if total > max(ALWAYS_ALLOWED, LARGEST_RATIO * packed):
        problem = f"would unpack {file_size(packed)} to {file_size(total)}; refused"
        raise UserError(str(archive), problem)
    folder = layout.RESULTS if layout.RESULTS.exists() else layout.RESULTS.parent
    if total > (free := shutil.disk_usage(folder).free):
        problem = f"needs {file_size(total)}, the disk of {folder} has {file_size(free)} left"
        raise UserError(str(archive), problem)
    return listed


@contextlib.contextmanager
def _stage() -> Iterator[Path]:
    """A temporary folder in ``results``; an empty ``results`` made for it goes with it."""
    results = layout.RESULTS
    created = not results.exists()
    try:
        results.mkdir(exist_ok=True)
        stage = tempfile.TemporaryDirectory(
            prefix=".adopt-", suffix=".part", dir=results, ignore_cleanup_errors=True
        )
        with stage as folder:
            yield Path(folder)
    except OSError as error:
        place = error.filename or results
        raise UserError(str(place), f"cannot be written: {error.strerror or error}") from None
    finally:
        with contextlib.suppress(OSError):  # it is not empty, or was never made
            if created:
                results.rmdir()


def _unpack(archive: Path, listed: Listed, stage: Path) -> None:
    """Write the listed files into the stage; each must have the listed hash."""
    for entry in archive_files.entries(archive):
        if entry.name == INDEX:
            continue
        _check_member(archive, entry, listed)  # the archive may have changed since it was surveyed
        path, digest = stage / entry.name, hashlib.sha256()
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("xb") as sink:
            for chunk in entry.chunks:
                digest.update(chunk)
                sink.write(chunk)
            sink.flush()
            files.sync(sink)
        if digest.hexdigest() != listed[entry.name]["sha256"]:
            raise UserError(str(archive), f"member {entry.name!r} is damaged; fetch it again")


def _loaded(
    stage: Path, listed: dict[str, dict[str, Any]]
) -> tuple[list[Result], dict[str, hashing.Digests]]:
    """The staged results, upstream first, checked against manifests and each other; their digests.

    A result of which something that it was made from is not staged has no digests.
    """
    places = sorted({place for place in map(layout.owner, listed) if place})
    results = {target: closure.load(stage, target) for _, target in places}
    digests = closure.check(results)
    for result in results.values():
        for name, sha256 in result.outputs.items():
            if name not in listed and result.kind in PLOTTED:
                raise UserError(name, "is missing in the archive; pack it again")
            if name in listed and listed[name]["sha256"] != sha256:
                raise UserError(name, "is not the file its manifest records; refused")
    kinds = layout.HANDED_ON
    return sorted(results.values(), key=lambda result: kinds.index(result.kind)), digests


def _moves(
    result: Result, digests: hashing.Digests | None, listed: dict[str, dict[str, Any]]
) -> list[str] | None:
    """The files of a result that are to be moved here; None if another result is here."""
    job_file, manifest_file = result.records
    try:
        here = json.loads(Path(manifest_file).read_bytes())
        same = here["outputs"] == result.sound["outputs"] and _is_of_job(here, result, digests)
    except FileNotFoundError:
        same, here = True, None
    except (ValueError, KeyError, TypeError, RecursionError):
        same = False
    present = [name for name in result.outputs if os.path.lexists(name)]
    if not same or any(_sha256(name) != result.outputs[name] for name in present):
        return None
    wanted = [name for name in result.outputs if name in listed and name not in present]
    return wanted if here else [*wanted, job_file, manifest_file]


def _is_of_job(here: dict[str, Any], result: Result, digests: hashing.Digests | None) -> bool:
    """Test for a manifest of the same job: one of both may have a digest of the former form."""
    same: bool = here["digest"] == result.sound["digest"]
    return same or bool(digests and freshness.matches(here, digests, code_of(result.sound)))


def _is_twin(result: Result, digests: hashing.Digests | None) -> bool:
    """Test for a sound result here of the same job, whatever its bytes."""
    try:
        here = closure.load(Path(), result.target)
    except UserError:
        return False
    present = [name for name in here.outputs if os.path.lexists(name)]
    sound = all(_sha256(name) == here.outputs[name] for name in present)
    return sound and _is_of_job(here.sound, result, digests)


def _manifest_is_placed(result: Result, names: list[str] | None) -> bool:
    """True if a result that is moved here was not here, or replaces another."""
    _, manifest_file = result.records
    return names is None or manifest_file in names


def _sha256(name: str) -> str:
    try:
        return hashing.file_sha256(Path(name))
    except OSError:
        return ""


def _place(
    results: list[Result],
    moves: dict[str, list[str] | None],
    listed: Listed,
    stage: Path,
) -> None:
    """Move results here, each manifest last: what is cut short has nothing that vouches for it."""
    wanted, removed = [], []
    for result in results:
        names = moves[result.target]
        if names is None:
            _, manifest_file = result.records
            removed += [Path(name) for name in (manifest_file, *result.outputs)]
            names = [name for name in (*result.outputs, *result.records) if name in listed]
        wanted += [(stage / name, Path(name)) for name in names]
    placing.all_or_none(wanted, removed)
