"""The evidence in the repository: of each recorded experiment, its table and the records behind it.

``recorded/<scale>/<paper>/<experiment>.zip`` is an archive of one table, as ``pack --tables-only``
writes them: the table, and job file and manifest of every run, measure and data set that it was
made from. Of an experiment that is not finished it holds the runs that are: what they logged and
what was measured of them, so that the others can be made elsewhere. An experiment that is recorded
again replaces its own archive and no other.
"""

import hashlib
import json
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from grokatlas import registry
from grokatlas.errors import UserError
from grokatlas.export import archive, archive_files, closure
from grokatlas.plan.jobs import Job
from grokatlas.results import files, layout
from grokatlas.results.result import Result
from grokatlas.text import file_size

FOLDER = Path("recorded")
LARGEST_FILE = 8_000_000  # bytes, so that a clone stays small
LARGEST_TOGETHER = 80_000_000


def path(scale: str, paper: str, experiment: str) -> Path:
    """The path of an experiment's archive."""
    return FOLDER / scale / paper / f"{experiment}.zip"


def archives(scale: str | None = None, folder: Path = FOLDER) -> Iterator[tuple[str, str, str]]:
    """Scale, paper and experiment of every archive (of one scale), in the order of their paths."""
    for file in registry.own_files(folder, f"{scale or '*'}/*/*.zip"):
        yield file.parts[-3], file.parts[-2], file.stem


def manifests(scale: str, paper: str, experiment: str, kind: str) -> dict[str, dict[str, Any]]:
    """The manifests in an experiment's archive of results of a kind, by target."""
    contents = {}
    for entry in archive_files.entries(path(scale, paper, experiment)):
        owner = layout.owner(entry.name)
        if owner and owner[0] == kind and entry.name.endswith("manifest.json"):
            contents[owner[1]] = json.loads(b"".join(entry.chunks))
    return contents


def refuse_misplaced(place: tuple[str, str, str], tables: dict[tuple[str, str], Job]) -> None:
    """Refuse an archive that is not that of the experiment that its path names.

    Args:
        place: scale, paper and experiment.
        tables: those that are declared at the scale.

    Raises:
        UserError: no paper declares the experiment, or the archive holds another one's table, or
            runs of other experiments alone; or it is damaged.
    """
    own = tables.get(place[1:])
    if own is None:
        name = "/".join(place[1:])
        raise UserError(str(path(*place)), f"no paper declares {name}; declare it, or remove this")
    held = set(manifests(*place, "table"))
    if not held:  # runs alone: those of an experiment that is not finished
        runs = manifests(*place, "run").keys()
        read = {job.target: {str(each.target) for each in job.inputs} for job in tables.values()}
        held = {table.as_posix() for table, inputs in read.items() if runs & inputs}
    if held and own.target.as_posix() not in held:
        problem = f"holds what is behind {min(held)}, another experiment"
        raise UserError(str(path(*place)), f"{problem}; give it that name")


def finished(table: Job, is_up_to_date: Callable[[Job], bool]) -> dict[Path, list[Job]]:
    """The runs of which all that a table reads is made: each with its measures, by target."""
    runs = {job.target: [job] for job in table.inputs if job.kind == "run"}
    for job in table.inputs:
        if job.kind == "measure":
            runs[job.inputs[0].target].append(job)
    there = {job for jobs in runs.values() for job in jobs if job.outputs[0].exists()}
    return {
        run: jobs
        for run, jobs in runs.items()
        if there.issuperset(jobs) and all(map(is_up_to_date, jobs))
    }


def write(place: tuple[str, str, str], targets: list[Path]) -> bool:
    """Write an experiment's archive from results here; true if it is another than was there.

    Args:
        place: scale, paper and experiment.
        targets: its table, or the finished runs and measures.

    Raises:
        UserError: a result, or something behind it, is not sound, was made from files that no
            commit has, or is partial; or the archive would be too large. Nothing is changed.
    """
    results = closure.behind([target.as_posix() for target in targets])
    for result in results:
        refuse_unfit(result)
    tables = [result for result in results if result.kind == "table"]
    some = any(table.sound["spec"].get("so_far") for table in tables)  # others will join them
    archived = path(*place)
    with tempfile.TemporaryDirectory() as folder:
        candidate = Path(folder) / archived.name
        contents = archive.plotted if tables and not some else logged
        archive.write(candidate, place[0], results, contents)
        _refuse_large(archived, candidate.stat().st_size)
        if archived.is_file() and _held(archived) == _held(candidate):
            return False
        with files.atomic(archived) as temporary:
            shutil.copyfile(candidate, temporary)
    return True


def _held(archive_file: Path) -> dict[str, str]:
    """The hash of each file of an archive but its index, however it is packed."""
    return {
        entry.name: hashlib.sha256(b"".join(entry.chunks)).hexdigest()
        for entry in archive_files.entries(archive_file)
        if entry.name != archive.INDEX
    }


def logged(kind: str, name: str) -> bool:
    """Tell if an archive holds a file: of runs what a table reads, no snapshots and no data."""
    return name.endswith(".parquet")


def disagreement() -> str:
    """Two archives that hold different results in the same place, as text; empty if none do."""
    seen: dict[str, tuple[tuple[str, str, str], Any]] = {}
    for place in archives():
        for kind in ("dataset", "run", "measure"):
            for target, content in manifests(*place, kind).items():
                facts = content["digest"], content["outputs"]
                first, known = seen.setdefault(target, (place, facts))
                if known != facts:
                    return f"{path(*first)} and {path(*place)} differ in {target}"
    return ""


def refuse_unfit(result: Result) -> None:
    """Refuse a result that a reader could not make again from a commit.

    Files that differed from the commit when it was made do not matter where its digest covers them:
    the configuration of papers, and the modules that its job reaches. What is recorded is up to
    date in a checkout that is its commit, so that commit has this spec and this code.

    Raises:
        UserError: it was made by other changed files, outside a repository, or from a part.
    """
    git = result.sound.get("git")
    again = "commit, remove it, and run `snakemake`"
    if not git:
        raise UserError(result.target, f"names no commit of the code that made it; {again}")
    changed = git.get("changed", [])
    others = [name for name in changed if not _in_digest(name, result.sound["code"])]
    if others or (git["dirty"] and not changed):
        named = f", such as {others[0]}" if others else ""
        problem = f"was made from files that differ from commit {git['commit'][:12]}{named}"
        raise UserError(result.target, f"{problem}; {again}")
    if result.sound.get("partial"):
        raise UserError(result.target, "was made from a part of its inputs; run `snakemake`")


def _in_digest(name: str, code: dict[str, str]) -> bool:
    """Tell if the digest of a job covers a file of the repository, named from its root."""
    path = Path(name)
    if path.suffix != ".py":  # a YAML of papers, or a file that a module of the job reads
        return True
    return ".".join(path.with_suffix("").parts[1:]).removesuffix(".__init__") in code


def _refuse_large(archived: Path, size: int) -> None:
    if size > LARGEST_FILE:
        problem = f"would have {file_size(size)}; allowed are {file_size(LARGEST_FILE)}"
        raise UserError(str(archived), f"{problem}: log fewer steps, or split the experiment")
    others = (file for file in registry.own_files(FOLDER, "**/*.zip") if file != archived)
    total = size + sum(file.stat().st_size for file in others)
    if total > LARGEST_TOGETHER:
        problem = f"would make {FOLDER} {file_size(total)}"
        raise UserError(str(archived), f"{problem}; allowed are {file_size(LARGEST_TOGETHER)}")
