"""The contents of a results tree: results, their manifests and job files, hashes.

Nothing here trusts a file: links out of the tree and paths that leave it are refused, JSON is
checked for shape and seal, and no file is unpickled.
"""

import functools
import os
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from grokatlas import registry
from grokatlas.errors import UserError
from grokatlas.results import hashing, links, records_only
from grokatlas.results.ancestry import ancestors
from grokatlas.results.result import (
    JOB_FILE_TABLES,
    MANIFEST_TABLES,
    ROOT,
    JsonFile,
    Result,
    read_json_file,
)

MANIFEST = "manifest.json"
JOB_FILE = "spec.json"
NO_ARTEFACTS = ("README.md", "log.txt", records_only.LIST)
NO_ARTEFACT_SUFFIXES = (".log", ".lock")
BROKEN_LOCK = ".lock."  # of a process that was killed while it took over a lock


class ResultOfTree(Result):
    """A result whose job file and manifest are read when they are first asked for."""

    def __init__(self, target: str, tree: "Tree") -> None:
        self.target = target
        self.files: set[str] = set()
        self.tree = tree
        self.manifest_name = self.job_name = ""

    @functools.cached_property
    def manifest(self) -> JsonFile | None:  # type: ignore[override]  # nobody sets it
        """Its manifest, if there is one."""
        return self.tree.record(self.manifest_name, MANIFEST_TABLES)

    @functools.cached_property
    def job(self) -> JsonFile | None:  # type: ignore[override]  # nobody sets it
        """Its job file, if there is one."""
        return self.tree.record(self.job_name, JOB_FILE_TABLES)


class Tree:
    """A results tree.

    Args:
        folder: the tree; ``results`` in its files' names, whatever it is called.

    Attributes:
        results: the results of jobs, by target.
        refused: files that are not read, each with the reason.
        leftovers: temporary files and folders of killed jobs.
        root: the tree's place on disk, without links.
    """

    def __init__(self, folder: Path) -> None:
        if not folder.is_dir():
            raise UserError(str(folder), "no such results folder; run `snakemake` to make it")
        self.folder = folder
        self.results: dict[str, ResultOfTree] = {}
        self.refused: dict[str, str] = {}
        self.leftovers: list[str] = []
        self.root = str(folder.resolve())
        self._hashes: dict[str, tuple[int, int, str]] = {}
        self._owners: dict[str, str] = {}
        self._left_out = records_only.read(folder)
        self._read(list(self._walk(self.root, ROOT)))

    def path(self, name: str) -> Path:
        """The path of a name of the tree."""
        return self.folder / name.removeprefix(f"{ROOT}/")

    def owner(self, name: str) -> Result | None:
        """The result that a file belongs to."""
        target = self._owners.get(name)
        if target is None and name in self._left_out:
            return next(self._named_by(name), None)
        return self.results[target] if target else None

    def left_out(self, name: str) -> bool:
        """True if the archive held only the file's manifest."""
        return next(self._named_by(name), None) is not None

    def _named_by(self, name: str) -> Iterator[Result]:
        """The result whose manifest has a file as the archive left it out."""
        listed = self._left_out.get(name)
        places = (name.rpartition("/")[0], name.rpartition(".")[0]) if listed else ()
        for result in filter(None, map(self.results.get, places)):
            if result.outputs.get(name) == listed:
                yield result

    def fits(self, owner: Result, name: str, sha256: str) -> bool:
        """True if a result that read a file with this hash was made from what is here.

        Also of one that came without the file, which the same job made here with other bytes.
        """
        return sha256 in (owner.outputs.get(name), self._left_out.get(name))

    def inputs(self, target: str) -> list[str]:
        """The results that a result was made from, as far as they are here."""
        owners = [self.owner(name) for name in self.results[target].inputs]
        return list(dict.fromkeys(owner.target for owner in owners if owner))

    def ancestors(self, targets: Iterable[str]) -> list[str]:
        """Results and all that they were made from, as far as it is here."""
        return ancestors(targets, self.inputs)

    def link_above(self, name: str) -> str:
        """The refused link that a file would be found through; empty if there is none."""
        parts = name.split("/")
        above = ("/".join(parts[:end]) for end in range(2, len(parts)))
        return next((folder for folder in above if folder in self.refused), "")

    def sha256(self, name: str) -> str:
        """A file's hash, computed once in this call unless size or time change."""
        path = self.path(name)
        stat = path.stat()
        known = self._hashes.get(name)
        if known is None or known[:2] != (stat.st_size, stat.st_mtime_ns):
            known = (stat.st_size, stat.st_mtime_ns, hashing.file_sha256(path))
            self._hashes[name] = known
        return known[2]

    def hash_all(self, names: Iterable[str]) -> None:
        """Hash files in parallel threads; one that cannot be read is left out."""
        with ThreadPoolExecutor(min(16, os.cpu_count() or 1)) as pool:
            list(pool.map(self._try_hash, names))

    def _try_hash(self, name: str) -> None:
        try:
            self.sha256(name)
        except OSError:
            return

    def _walk(self, folder: str, name: str) -> Iterator[str]:
        for entry in sorted(os.scandir(folder), key=lambda entry: entry.name):
            inner = f"{name}/{entry.name}"
            leftover = entry.name.endswith(".part") or BROKEN_LOCK in entry.name
            if registry.hidden(entry.name) and not leftover:
                continue
            if entry.is_symlink():
                reason = links.refusal(Path(entry.path), self.root)
                if reason:
                    self.refused[inner] = reason
                    yield inner
                    continue
            if leftover:
                self.leftovers.append(inner)
            elif entry.is_dir(follow_symlinks=False):
                yield from self._walk(entry.path, inner)
            elif not entry.name.endswith(NO_ARTEFACT_SUFFIXES) and entry.name not in NO_ARTEFACTS:
                if not entry.is_file():
                    self.refused[inner] = "is no regular file; refused"
                yield inner

    def _read(self, names: list[str]) -> None:
        everything = set(names)
        for name in names:
            folder, _, file = name.rpartition("/")
            target = _target(folder, file, everything)
            result = self.results.setdefault(target, ResultOfTree(target, self))
            self._owners[name] = target
            if file == MANIFEST or file.endswith(f".{MANIFEST}"):
                result.manifest_name = name
            elif file == JOB_FILE or file.endswith(f".{JOB_FILE}"):
                result.job_name = name
            else:
                result.files.add(name)

    def record(self, name: str, tables: tuple[str, ...]) -> JsonFile | None:
        """A manifest or job file in any state; None where there is none."""
        if not name:
            return None
        if name in self.refused:
            return JsonFile(name, {}, "unverified", self.refused[name])
        return read_json_file(name, self.path(name), tables)


def _target(folder: str, file: str, everything: set[str]) -> str:
    if file in (MANIFEST, JOB_FILE):
        return folder
    for suffix in (f".{MANIFEST}", f".{JOB_FILE}"):
        if file.endswith(suffix):
            return f"{folder}/{file.removesuffix(suffix)}"
    stem = f"{folder}/{file.rpartition('.')[0] or file}"
    for name in (stem, f"{folder}/{file.partition('.')[0]}"):  # as `layout.manifest_path`
        if f"{name}.{MANIFEST}" in everything or f"{name}.{JOB_FILE}" in everything:
            return name
    if f"{folder}/{MANIFEST}" in everything or f"{folder}/{JOB_FILE}" in everything:
        return folder
    return stem
