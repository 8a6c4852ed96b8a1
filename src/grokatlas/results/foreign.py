"""Runs that the engine did not train: imported logs and scripts, as specs and manifests name them.

The spec of such a run has the block `import` or `script` in place of task, model and training. All
that reads results tells such a run by it.
"""

import hashlib
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from grokatlas.results import hashing

IMPORT, SCRIPT = "import", "script"
KINDS = (IMPORT, SCRIPT)
FILES = "imported"  # key of a manifest: the sha256 of every file that was imported, by its name
OF_TABLES = ("paper", "experiment", "scale", "record", "case", "run")  # columns of every table
TAKEN = (*OF_TABLES, "member", "label")  # columns that a table has beside those of a log
ACCURACY = re.compile(r"(\w+_)?accuracy")  # columns of shares from 0 to 1
SAID = {IMPORT: "imported", SCRIPT: "by a script"}


def kind(spec: dict[str, Any]) -> str:
    """``import`` or ``script``; empty for a run that the engine trains, and for any other job."""
    return next((each for each in KINDS if each in spec), "")


def note(named: Iterable[tuple[str, dict[str, Any]]]) -> str:
    """The mark of figures and verdicts: which experiments were not trained by the engine.

    Args:
        named: experiments, each with the spec of one of its runs.

    Returns:
        such as ``imported: muon; by a script: loop``; empty where the engine trained all.
    """
    pairs = [(kind(spec), name) for name, spec in named]
    parts = []
    for each in KINDS:
        if names := dict.fromkeys(name for own, name in pairs if own == each):
            parts.append(f"{SAID[each]}: {', '.join(names)}")
    return "; ".join(parts)


def origin(content: dict[str, Any]) -> list[str]:
    """The source of a run, by its manifest, in lines; none for one that the engine trained."""
    spec = content["spec"]
    if IMPORT in spec:
        block = spec[IMPORT]
        said = [f"imported from {block['source']}"]
        said += [f"{key} {block[key]}" for key in ("commit", "licence") if key in block]
        files = content.get(FILES, {})
        return [", ".join(said), *(f"{name}: sha256 {sha256}" for name, sha256 in files.items())]
    if SCRIPT in spec:
        block = spec[SCRIPT]
        return [
            f"by a script of {block['folder']}, not resumable: {block['command']}",
            f"its files: sha256 {block['sources']}",
        ]
    return []


def changed(content: dict[str, Any], needed: bool) -> Iterator[tuple[str, str]]:
    """The imported files that are not as they were read, each with the problem.

    Args:
        content: a manifest.
        needed: whether a file that is not here is a problem too: where its run is declared.
    """
    for name, sha256 in content.get(FILES, {}).items():
        file = Path(name)
        if not file.is_file():
            if needed:
                yield name, "is missing"
        elif hashing.file_sha256(file) != sha256:
            yield name, "is modified: its sha256 is not the one that was imported"


def files_sha256(files: Iterable[Path], folder: Path = Path()) -> str:
    """sha256 of one file; of several, of what ``sha256sum`` prints of them, sorted by name.

    Args:
        files: below the folder; anywhere for the working directory.
        folder: their names in that text are relative to it.
    """
    named = {file: file.relative_to(folder) if folder != Path() else file for file in sorted(files)}
    sums = {name.as_posix(): hashing.file_sha256(file) for file, name in named.items()}
    if len(sums) == 1:
        return next(iter(sums.values()))
    lines = "".join(f"{sums[name]}  {name}\n" for name in sorted(sums))
    return hashlib.sha256(lines.encode()).hexdigest()
