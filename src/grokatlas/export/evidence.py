"""The evidence in the repository: of each recorded experiment, its table and the records behind it.

``recorded/<scale>/<paper>/<experiment>.zip`` is an archive of one table, as ``pack --tables-only``
writes them: the table, and job file and manifest of every run, measure and data set that it was
made from. An experiment that is recorded again replaces its own archive and no other.
"""

import json
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from grokatlas.errors import UserError
from grokatlas.export import archive, archive_files, closure
from grokatlas.results import files, layout
from grokatlas.results.result import Result
from grokatlas.text import file_size

FOLDER = Path("recorded")
LARGEST_FILE = 8_000_000  # bytes, so that a clone stays small
LARGEST_TOGETHER = 60_000_000


def path(scale: str, paper: str, experiment: str) -> Path:
    """Where an experiment's archive is."""
    return FOLDER / scale / paper / f"{experiment}.zip"


def archives(scale: str | None = None) -> Iterator[tuple[str, str, str]]:
    """Scale, paper and experiment of every archive, in the order of their paths.

    Args:
        scale: of these alone.
    """
    for file in sorted(FOLDER.glob(f"{scale or '*'}/*/*.zip")):
        yield file.parts[-3], file.parts[-2], file.stem


def record(scale: str, paper: str, experiment: str, name: str) -> dict[str, Any]:
    """A job file or manifest in an experiment's archive.

    Raises:
        UserError: there is no such archive, it is damaged, or does not hold this.
    """
    archive_file = path(scale, paper, experiment)
    for entry in archive_files.entries(archive_file):
        if entry.name == name:
            content: dict[str, Any] = json.loads(b"".join(entry.chunks))
            return content
    raise UserError(str(archive_file), f"does not hold {name}; record the experiment again")


def write(scale: str, paper: str, experiment: str) -> Path | None:
    """Write an experiment's archive from the results here.

    Returns:
        the archive; None where the same one is there already.

    Raises:
        UserError: the table, or something behind it, is not sound, was made from files that no
            commit has, or is partial; or the archive would be too large. Nothing is changed.
    """
    target = layout.table_stem(scale, paper, experiment).as_posix()
    results = closure.behind(Path(), [target])
    for result in results:
        refuse_unfit(result)
    kept = path(scale, paper, experiment)
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder) / kept.name
        archive.write(made, Path(), scale, results, tables_only=True)
        _refuse_large(kept, made.stat().st_size)
        if kept.is_file() and kept.read_bytes() == made.read_bytes():
            return None
        with files.atomic(kept) as temporary:
            shutil.copyfile(made, temporary)
    return kept


def refuse_unfit(result: Result) -> None:
    """Refuse a result that a reader could not make again from a commit.

    Raises:
        UserError: it was made from changed files, outside a repository, or from a part.
    """
    git = result.sound.get("git")
    again = "commit, remove it, and run `snakemake`"
    if not git:
        raise UserError(result.target, f"names no commit of the code that made it; {again}")
    if git["dirty"]:
        problem = f"was made from files that differ from commit {git['commit'][:12]}"
        raise UserError(result.target, f"{problem}; {again}")
    if result.sound.get("partial"):
        raise UserError(result.target, "was made from a part of its inputs; run `snakemake`")


def _refuse_large(kept: Path, size: int) -> None:
    if size > LARGEST_FILE:
        problem = f"would have {file_size(size)}; allowed are {file_size(LARGEST_FILE)}"
        raise UserError(str(kept), f"{problem}: log fewer steps, or split the experiment")
    others = (file for file in FOLDER.rglob("*.zip") if file != kept)
    total = size + sum(file.stat().st_size for file in others)
    if total > LARGEST_TOGETHER:
        problem = f"would make {FOLDER} {file_size(total)}"
        raise UserError(str(kept), f"{problem}; allowed are {file_size(LARGEST_TOGETHER)}")
