"""Results as one file, to hand on: `adoption` takes it into another checkout.

An archive begins with an index: the size and sha256 of every file in it.
"""

import json
from collections.abc import Callable, Sequence
from pathlib import Path

from grokatlas.errors import UserError
from grokatlas.export import archive_files, closure, sources
from grokatlas.export.archive_files import FileToPack
from grokatlas.results import layout
from grokatlas.results.result import Result
from grokatlas.text import file_size, some_of

INDEX = "grokatlas-archive.json"
FORMAT = {"format": "grokatlas results", "version": 2}
READ = (1, 2)  # versions; in the first, job files and manifests are members of their own
PLOTTED = ("table", "figure")  # what a `--tables-only` archive holds the files of


def pack(out: Path, scale: str | None, tables_only: bool) -> str:
    """Write the results of a scale, with all that they depend on, as one archive; a line on it.

    Args:
        out: a path that ends in .zip.
        scale: smoke, quick or paper; None where only one was made.
        tables_only: leave out the files of data sets, runs and measures, not their manifests.

    Raises:
        UserError: a result is not sound or does not fit what it was made from; no archive is left.
    """
    scale = scale or closure.only_scale()
    results = closure.collect(scale)
    own = sources.of_study(sources.FOLDER)
    members = write(out, scale, results, plotted if tables_only else everything, own)
    absent = closure.unfinished(scale)
    more = f"\nnot made yet, so not packed: {some_of(absent)}" if absent else ""
    size = f"({len(members)} files, {file_size(sum(m.size for m in members))})"
    study = f", with {len(own)} sources of the study below {sources.FOLDER}/," if own else ""
    return f"packed {counted(results)} {size} at scale {scale}{study} into {out}{more}"


def everything(kind: str, name: str) -> bool:
    """An archive holds every file."""
    return True


def plotted(kind: str, name: str) -> bool:
    """A `--tables-only` archive holds the files of tables and figures alone."""
    return kind in PLOTTED


def write(
    out: Path,
    scale: str,
    results: list[Result],
    holds: Callable[[str, str], bool],
    own: Sequence[FileToPack] = (),
) -> list[FileToPack]:
    """Write an archive of results here, with the records of all and the files of some.

    Args:
        out: as for `pack`.
        scale: of the results.
        results: with all that they depend on.
        holds: true of a file that the archive holds, from its job's kind and its name.
        own: sources of the study, if there is one.

    Returns:
        the files in it, without the index.
    """
    made = [m for result in results for m in files(result, holds)]
    members = [*made, *own]
    listed = {m.name: {"sha256": m.sha256, "size": m.size} for m in members}
    index = {**FORMAT, "scale": scale, "tables_only": holds is not everything, "files": listed}
    text = json.dumps(index, sort_keys=True, indent=1).encode()
    index_file = FileToPack.of_text(INDEX, text)
    archive_files.write(out, [index_file, *archive_files.together(made), *own])
    return members


def files(result: Result, holds: Callable[[str, str], bool]) -> list[FileToPack]:
    """A result's files as members of an archive: outputs, job file, manifest."""
    members = []
    for name, sha256 in result.outputs.items():
        if not holds(result.kind, name):
            continue
        try:
            size = Path(name).stat().st_size
        except OSError:
            again = f"`snakemake -- {name}` makes it"
            hint = again if result.kind in PLOTTED else "try --tables-only"
            raise UserError(name, f"is missing; {hint}") from None
        members.append(FileToPack(name, Path(name), sha256, size))
    return members + [FileToPack.of_text(name, text) for name, text in result.records.items()]


def counted(results: list[Result]) -> str:
    """The number of results of each kind, as text."""
    counts = {kind: sum(r.kind == kind for r in results) for kind in layout.HANDED_ON}
    return ", ".join(f"{n} {kind}{'s' * (n > 1)}" for kind, n in counts.items() if n) or "nothing"
