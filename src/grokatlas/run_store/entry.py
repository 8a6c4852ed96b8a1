"""Entries of a run store: finished runs and data sets, each in a folder, checked when read."""

import hashlib
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from grokatlas.results import hashing, layout
from grokatlas.results.result import DamagedError, UnreadableError, load

FOLDERS = {"run": "runs", "dataset": "data"}


@dataclass(frozen=True)
class StoredRun:
    """A finished run or data set, in any folder, whose job file and manifest fit each other.

    Attributes:
        kind: run or dataset.
    """

    kind: str
    folder: Path
    job: dict[str, Any]
    manifest: dict[str, Any]

    @property
    def outputs(self) -> dict[Path, str]:
        """The files it consists of, each with the sha256 that its manifest records."""
        files = layout.outputs(self.kind, self.folder)
        return {file: self.manifest["outputs"][file.name] for file in files}

    @property
    def inputs(self) -> dict[Path, str]:
        """The files it was made from, as they lie in ``results``."""
        return {Path(name): sha256 for name, sha256 in self.manifest["inputs"].items()}

    @property
    def data(self) -> dict[Path, str]:
        """Those of its inputs that are a data set; the others are snapshots of other runs."""
        return {name: sha256 for name, sha256 in self.inputs.items() if layout.is_data(name)}

    def place(self, root: Path) -> Path:
        """Its folder in a store: a run's by its digest, a data set's by its content."""
        id_ = hashing.of(self.manifest["spec"])[:12]
        if self.kind == "run":
            return place_of(root, "run", id_, self.manifest["digest"])
        (sha256,) = self.outputs.values()
        return place_of(root, "dataset", id_, sha256)


def place_of(root: Path, kind: str, id_: str, key: str) -> Path:
    """The folder of a run of a digest, or of a data set of a sha256, in a store."""
    return root / FOLDERS[kind] / f"{id_}-{key[:12]}"


def exists(place: Path) -> bool:
    """Test for an entry there; False if the folder cannot be read."""
    try:
        return place.is_dir()
    except OSError:
        return False


def read(kind: str, folder: Path) -> StoredRun:
    """A finished run or data set by its job file and manifest; its outputs are not hashed.

    Raises:
        DamagedError: a file is missing or was edited, or one does not belong to the other.
        UnreadableError: a file cannot be read.
    """
    for file in layout.outputs(kind, folder):
        _check_readable(file)
    result = load(kind, folder)
    for name in result.inputs:
        if layout.owner(name) is None or Path(name).name not in (layout.DATA, layout.SNAPSHOTS):
            problem = f"names {name!r}, which no training reads"
            raise DamagedError(str(layout.manifest_of(kind, folder)), problem)
    return StoredRun(kind, folder, result.planned, result.sound)


def digests(tree: Path, target: Path) -> hashing.Digests | None:
    """The digests of a result by its job file and all behind it; None where one is not here.

    Args:
        tree: the folder of ``results``.
        target: of the result.
    """
    kind = layout.kind_of(target)
    if not layout.manifest_of(kind, tree / target).exists():
        return None
    job = load(kind, target, tree).planned
    upstream = [digests(tree, Path(each)) for each in job["inputs"]]
    known = [each for each in upstream if each is not None]
    if len(known) < len(upstream):
        return None
    return hashing.of_job(kind, job["spec"], job["code"], known)


def _check_readable(file: Path) -> None:
    try:
        if not file.is_file():
            raise DamagedError(str(file), "is missing; only a finished run can be used")
        file.open("rb").close()
    except OSError as error:
        raise UnreadableError(str(file), f"cannot be read: {error.strerror}") from None


def copy(source: Path, target: Path, recorded: str) -> None:
    """Copy a file and hash what is copied.

    Raises:
        DamagedError: its sha256 is not the recorded one.
        UnreadableError: the source cannot be read.
    """
    hashed = hashlib.sha256()
    with target.open("wb") as sink:
        for chunk in _chunks(source):
            hashed.update(chunk)
            sink.write(chunk)
    if hashed.hexdigest() != recorded:
        raise DamagedError(str(source), "is not the file its manifest records")


def _chunks(file: Path) -> Iterator[bytes]:
    try:
        with file.open("rb") as stream:
            while chunk := stream.read(1 << 20):
                yield chunk
    except OSError as error:
        raise UnreadableError(str(file), f"cannot be read: {error.strerror}") from None


def damage(kind: str, place: Path) -> DamagedError | None:
    """The damage of an entry; None if there is none, or if it cannot be read."""
    try:
        for file, recorded in read(kind, place).outputs.items():
            copy(file, Path(os.devnull), recorded)
    except DamagedError as error:
        return error
    except UnreadableError:
        return None
    return None
