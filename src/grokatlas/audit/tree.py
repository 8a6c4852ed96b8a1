"""What lies in a results tree, as it lies: results, their manifests and job files, hashes.

Nothing here trusts a file: links out of the tree and paths that leave it are refused, JSON is
checked for shape and seal, and no file is unpickled.
"""

import json
import os
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from grokatlas.errors import UserError
from grokatlas.plan import results_folder
from grokatlas.results import files as store
from grokatlas.results import hashing, layout

ROOT = layout.RESULTS.name
MANIFEST = "manifest.json"
JOB_FILE = "spec.json"
NO_ARTEFACTS = ("README.md", "log.txt", ".gitignore", ".gitkeep", results_folder.MARK)
NO_ARTEFACT_SUFFIXES = (".log", ".lock")
BROKEN_LOCK = ".lock."  # of a process that was killed while it took over a lock


@dataclass(frozen=True)
class Record:
    """A manifest or a job file.

    Attributes:
        name: its path from the tree's parent, such as ``results/runs/<run>/manifest.json``.
        content: what it says; empty where it cannot be read.
        verdict: ``ok``, ``modified`` or ``unverified``.
        problem: what is wrong with it.
    """

    name: str
    content: dict[str, Any]
    verdict: str = "ok"
    problem: str = ""


@dataclass
class Result:
    """What one job left.

    Attributes:
        target: the folder (dataset, run) or the stem (measure, table, figure) of its files.
        manifest: its manifest, if there is one.
        job: its job file, if there is one.
        files: the names of all other files that lie there and could be its outputs.
    """

    target: str
    manifest: Record | None = None
    job: Record | None = None
    files: set[str] = field(default_factory=set)

    @property
    def sound(self) -> dict[str, Any]:
        """The manifest's content if it can be trusted, else nothing."""
        return self.manifest.content if self.manifest and self.manifest.verdict == "ok" else {}

    @property
    def problem(self) -> str:
        """Why its manifest tells nothing; only for a result that is not `sound`."""
        if self.manifest:
            return f"its manifest {self.manifest.problem}"
        if self.files or not self.job:
            return "no manifest vouches for it"
        return "it was not made yet; run `snakemake` to make it"

    @property
    def outputs(self) -> dict[str, str]:
        """The sha256 of every file that the manifest vouches for, by the file's name."""
        if self.manifest is None:
            return {}
        folder = self.manifest.name.rpartition("/")[0]
        return {f"{folder}/{file}": sha for file, sha in self.sound.get("outputs", {}).items()}


class Tree:
    """A results tree.

    Args:
        folder: the tree; ``results`` in its files' names, whatever it is called.

    Attributes:
        results: what jobs left, by target.
        refused: files that are not read, each with the reason.
        leftovers: temporary files and folders of killed jobs.
        roots: where the tree's files are on disk, by the name of a folder.

    Raises:
        UserError: there is no such folder.
    """

    def __init__(self, folder: Path) -> None:
        if not folder.is_dir():
            raise UserError(str(folder), "no such results folder; run `snakemake` to make it")
        self.folder = folder
        self.results: dict[str, Result] = {}
        self.refused: dict[str, str] = {}
        self.leftovers: list[str] = []
        self.roots = results_folder.roots(folder)
        self._hashes: dict[str, tuple[int, int, str]] = {}
        self._owners: dict[str, str] = {}
        self._read(list(self._walk(self.roots[ROOT], ROOT)))

    def path(self, name: str) -> Path:
        """Where a name of the tree lies."""
        return self.folder / name.removeprefix(f"{ROOT}/")

    def owner(self, name: str) -> Result | None:
        """The result that a file belongs to."""
        target = self._owners.get(name)
        return self.results[target] if target else None

    def link_above(self, name: str) -> str:
        """The refused link that a file would be found through; empty if there is none."""
        parts = name.split("/")
        above = ("/".join(parts[:end]) for end in range(2, len(parts)))
        return next((folder for folder in above if folder in self.refused), "")

    def sha256(self, name: str) -> str:
        """A file's hash, computed once in this call unless size or time change.

        Raises:
            OSError: the file cannot be read.
        """
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
            if inner in self.roots:
                yield from self._walk(self.roots[inner], inner)
                continue
            if entry.is_symlink():
                reason = results_folder.refusal(Path(entry.path), self.roots)
                if reason:
                    self.refused[inner] = reason
                    yield inner
                    continue
            if entry.name.endswith(".part") or BROKEN_LOCK in entry.name:
                self.leftovers.append(inner)
            elif entry.is_dir(follow_symlinks=False):
                if not entry.name.startswith(layout.STATE):
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
            result = self.results.setdefault(target, Result(target))
            self._owners[name] = target
            if file == MANIFEST or file.endswith(f".{MANIFEST}"):
                result.manifest = self._record(name, ("outputs", "inputs", "code"))
            elif file == JOB_FILE or file.endswith(f".{JOB_FILE}"):
                result.job = self._record(name, ("code",))
            else:
                result.files.add(name)

    def _record(self, name: str, maps: tuple[str, ...]) -> Record:
        if name in self.refused:
            return Record(name, {}, "unverified", self.refused[name])
        try:
            text = self.path(name).read_text(encoding="utf-8")
            content = json.loads(text)
            if not isinstance(content, dict):
                return Record(name, {}, "modified", "is not what a job writes")
            if "seal" not in content:
                return Record(name, {}, "unverified", "has no seal; run `snakemake` to remake it")
            if not store.seal_holds(content) or store.json_text(content) != text:
                return Record(name, {}, "modified", "was edited after it was written")
        except (ValueError, RecursionError):
            return Record(name, {}, "modified", "cannot be read as JSON")
        except OSError as error:
            return Record(name, {}, "unverified", f"cannot be read: {error.strerror}")
        problem = _shape_problem(content, maps)
        return Record(name, content, "unverified", problem) if problem else Record(name, content)


def inside(name: Any) -> bool:
    """Whether a name that a manifest gives stays in the tree."""
    if not isinstance(name, str) or "\\" in name or "\0" in name:
        return False
    parts = name.split("/")
    return parts[0] == ROOT and len(parts) > 1 and not any(p in ("", ".", "..") for p in parts)


def _target(folder: str, file: str, everything: set[str]) -> str:
    if file in (MANIFEST, JOB_FILE):
        return folder
    for suffix in (f".{MANIFEST}", f".{JOB_FILE}"):
        if file.endswith(suffix):
            return f"{folder}/{file.removesuffix(suffix)}"
    stem = f"{folder}/{file.rpartition('.')[0] or file}"
    if f"{stem}.{MANIFEST}" in everything or f"{stem}.{JOB_FILE}" in everything:
        return stem
    if f"{folder}/{MANIFEST}" in everything or f"{folder}/{JOB_FILE}" in everything:
        return folder
    return stem


def _shape_problem(content: dict[str, Any], maps: tuple[str, ...]) -> str:
    """What a sealed record lacks or names that no job writes; empty if nothing."""
    if not all(isinstance(content.get(key), str) for key in ("kind", "digest")):
        return "lacks kind or digest"
    if not isinstance(content.get("spec"), dict):
        return "lacks its spec"
    for key in maps:
        table = content.get(key)
        if not isinstance(table, dict) or not all(isinstance(v, str) for v in table.values()):
            return f"lacks its {key}"
    for name in content.get("outputs", {}):
        if name in ("", ".", "..") or any(c in name for c in "/\\\0"):
            return f"names an output outside its folder ({name!r}); refused"
    listed = content.get("inputs", {})
    if not isinstance(listed, dict | list):
        return "lacks its inputs"
    for name in listed:
        if not inside(name):
            return f"names an input outside the tree ({name!r}); refused"
    return ""
