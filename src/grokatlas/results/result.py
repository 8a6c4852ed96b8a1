"""One result, read and checked in one way by all that judge, hand on or share results.

A result is what one job left: its job file, its manifest and its files. Nothing here trusts a file:
JSON is checked for its shape and its seal, names that leave the tree are refused, and no file is
unpickled.
"""

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from grokatlas.code import code_digest
from grokatlas.errors import UserError
from grokatlas.results import files, layout
from grokatlas.results.manifest import code_of

ROOT = layout.RESULTS.name
JOB_FILE_TABLES = ("code",)  # what a job file has: texts by name
MANIFEST_TABLES = ("outputs", "inputs", "code")  # what a manifest has

Verdict = Literal["ok", "modified", "unverified", "missing"]


class DamagedError(UserError):
    """A result is not what its manifest, its job file or its place say."""


class UnreadableError(UserError):
    """A file is there and cannot be read: nothing is known about it."""


@dataclass(frozen=True)
class JsonFile:
    """A manifest or a job file.

    Attributes:
        name: its path from the tree's parent, such as ``results/runs/<run>/manifest.json``.
        content: empty where it cannot be read.
        verdict: ``ok``, ``modified``, ``unverified`` (nothing is known) or ``missing``.
        problem: in words.
        text: its bytes.
        readable: false if the file could not be read.
    """

    name: str
    content: dict[str, Any]
    verdict: Verdict = "ok"
    problem: str = ""
    text: bytes = b""
    readable: bool = True

    def checked(self) -> dict[str, Any]:
        """The content of a sound file; a `DamagedError` or an `UnreadableError` of any other."""
        if self.verdict == "ok":
            return self.content
        error = DamagedError if self.readable else UnreadableError
        raise error(self.name, self.problem)


@dataclass
class Result:
    """The files of one job.

    Attributes:
        target: the folder (dataset, run, atlas) or the stem (the others) of its files.
        manifest: its manifest, if there is one.
        job: its job file, if there is one.
        files: the names of all other files that are there and could be its outputs.
    """

    target: str
    manifest: JsonFile | None = None
    job: JsonFile | None = None
    files: set[str] = field(default_factory=set)

    @property
    def sound(self) -> dict[str, Any]:
        """The manifest's content if it can be trusted, else nothing."""
        return self.manifest.content if self.manifest and self.manifest.verdict == "ok" else {}

    @property
    def problem(self) -> str:
        """The reason why its manifest says nothing; only for a result that is not `sound`."""
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

    @property
    def kind(self) -> str:
        """The kind of its job, as its manifest says."""
        kind: str = self.sound["kind"]
        return kind

    @property
    def planned(self) -> dict[str, Any]:
        """The job file's content if it can be trusted, else nothing."""
        return self.job.content if self.job and self.job.verdict == "ok" else {}

    @property
    def records(self) -> dict[str, bytes]:
        """The bytes of job file and manifest, by name."""
        return {record.name: record.text for record in (self.job, self.manifest) if record}

    @property
    def upstream(self) -> list[str]:
        """The targets of the results that it was made from, by the names of its inputs."""
        return sorted({owner[1] for owner in map(layout.owner, self.inputs) if owner})

    @property
    def inputs(self) -> dict[str, str]:
        """The sha256 of every file that it was made from, by the file's name."""
        inputs: dict[str, str] = self.sound.get("inputs", {})
        return inputs


def load(kind: str, target: Path, root: Path | None = None) -> Result:
    """A finished result, whose manifest and job file belong together; its files are not hashed.

    Args:
        kind: of its job.
        target: the folder or the stem of its files, below `root`.
        root: the folder that holds ``results``; None for a copy of the result in any other folder.

    Raises:
        DamagedError: manifest or job file is missing, damaged or edited, or not of the other.
        UnreadableError: one of them cannot be read.
    """
    manifest_file, job_file = layout.manifest_of(kind, target), layout.spec_path(kind, target)
    manifest = read_json_file(
        manifest_file.as_posix(), (root or Path()) / manifest_file, MANIFEST_TABLES
    )
    job = read_json_file(job_file.as_posix(), (root or Path()) / job_file, JOB_FILE_TABLES)
    made, planned = manifest.checked(), job.checked()
    for record in (manifest, job):
        if record.content["kind"] != kind:
            raise DamagedError(record.name, f"is about another result, not that of a {kind}")
    if root is not None and layout.home(made) != target.as_posix():
        raise DamagedError(manifest.name, "is about another result")
    names = [file.name for file in layout.outputs(kind, target)]
    if sorted(made["outputs"]) != sorted(names):
        problem = f"does not name exactly {', '.join(sorted(names))}"
        raise DamagedError(manifest.name, problem)
    same = all(planned[key] == made[key] for key in ("digest", "spec"))
    if not same or code_digest.values(planned["code"]) != code_digest.values(code_of(made)):
        problem = f"is stale: {job_file.name} beside it plans another spec, code or digest"
        raise DamagedError(manifest.name, problem)
    return Result(target.as_posix(), manifest, job)


def read_json_file(name: str, path: Path, tables: tuple[str, ...]) -> JsonFile:
    """A manifest or a job file in any state, with the tables of text that it must have."""
    try:
        return parse_json_file(name, path.read_bytes(), tables)
    except FileNotFoundError:
        return JsonFile(name, {}, "missing", "is missing: the result was not made, or not kept")
    except OSError as error:
        return JsonFile(name, {}, "unverified", f"cannot be read: {error.strerror}", readable=False)


def parse_json_file(name: str, text: bytes, tables: tuple[str, ...]) -> JsonFile:
    """A manifest or a job file from its bytes; for the arguments see `read_json_file`."""
    try:
        content = json.loads(text.decode("utf-8"))
        if not isinstance(content, dict):
            return JsonFile(name, {}, "modified", "is damaged: it lacks what a job writes")
        if "seal" not in content:
            return JsonFile(name, {}, "unverified", "has no seal; run `snakemake` to remake it")
        if not files.seal_holds(content) or files.json_text(content).encode() != text:
            return JsonFile(name, {}, "modified", "was edited after it was written")
    except (ValueError, RecursionError):
        return JsonFile(name, {}, "modified", "is damaged: it cannot be read as JSON")
    problem = _shape_problem(content, tables)
    if problem:
        return JsonFile(name, content, "unverified", problem)
    return JsonFile(name, content, text=text)


def inside(name: Any) -> bool:
    """True if a name that a manifest gives stays in the tree."""
    if not isinstance(name, str) or "\\" in name or "\0" in name:
        return False
    parts = name.split("/")
    return parts[0] == ROOT and len(parts) > 1 and not any(p in ("", ".", "..") for p in parts)


def _shape_problem(content: dict[str, Any], tables: tuple[str, ...]) -> str:
    """The first thing that a sealed file lacks or names and no job writes; empty without one."""
    lacks = "lacks what a job writes"
    if not all(isinstance(content.get(key), str) for key in ("kind", "digest")):
        return f"{lacks}: kind or digest"
    if not isinstance(content.get("spec"), dict):
        return f"{lacks}: its spec"
    for key in tables:
        table = content.get(key)
        if not isinstance(table, dict) or not all(isinstance(v, str) for v in table.values()):
            return f"{lacks}: its {key}"
    notes = content.get("accepted", [])
    if not isinstance(notes, list) or not all(isinstance(note, dict) for note in notes):
        return f"{lacks}: notes of its acceptance"
    for name in content.get("outputs", {}):
        if name in ("", ".", "..") or any(c in name for c in "/\\\0"):
            return f"names an output outside its folder ({name!r}); refused"
    listed = content.get("inputs", {})
    if not isinstance(listed, dict | list):
        return f"{lacks}: its inputs"
    for name in listed:
        if not inside(name):
            return f"names an input outside the tree ({name!r}); refused"
    return ""
