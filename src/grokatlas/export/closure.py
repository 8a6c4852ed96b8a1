"""The results of one scale and all they hang on, read and checked from manifests alone.

What is handed on (`archive`, `crate`) goes through here. Names are paths with ``/`` that start
with ``results``, wherever the tree lies.
"""

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from grokatlas.declare.models import SCALES
from grokatlas.errors import UserError
from grokatlas.plan import declared_jobs, results_folder
from grokatlas.results import files as store
from grokatlas.results import hashing, layout
from grokatlas.results.manifest import code_of

_RESULTS = layout.RESULTS.as_posix()
_ID = "[0-9a-f]{12}"
_SCALE = f"(?:{'|'.join(SCALES)})"
_NAME = "[a-z0-9_]+"
_TARGETS = {  # upstream first
    "dataset": f"{_RESULTS}/data/{_ID}",
    "run": f"{_RESULTS}/runs/{_ID}",
    "measure": f"{_RESULTS}/measures/{_ID}/[a-z0-9_-]+",
    "table": f"{_RESULTS}/{_SCALE}/tables/{_NAME}/{_NAME}",
    "figure": f"{_RESULTS}/{_SCALE}/figures/{_NAME}/{_NAME}",
}
KINDS = tuple(_TARGETS)


@dataclass(frozen=True)
class Result:
    """What one job left.

    Attributes:
        kind: dataset, run, measure, table or figure.
        target: the folder (dataset, run) or the stem (measure, table, figure) of its files.
        manifest: the content of its manifest.
        job: the content of its job file.
        records: the bytes of job file and manifest, by name.
    """

    kind: str
    target: str
    manifest: dict[str, Any]
    job: dict[str, Any]
    records: dict[str, bytes]

    @property
    def outputs(self) -> dict[str, str]:
        """The sha256 of every file that the job made, by name, in the order of `store.outputs`."""
        files = layout.outputs(self.kind, Path(self.target))
        return {file.as_posix(): self.manifest["outputs"][file.name] for file in files}

    @property
    def upstream(self) -> list[str]:
        """The targets of the results that it was made from."""
        found = (place(name) for name in self.manifest["inputs"])
        return sorted({target for _, target in filter(None, found)})


def place(name: str) -> tuple[str, str] | None:
    """Kind and target of the result that a file belongs to; None where no job writes."""
    for kind, pattern in _TARGETS.items():
        match = re.fullmatch(rf"({pattern})[/.][a-z.]+", name)
        if match:
            target = Path(match[1])
            files = [*layout.outputs(kind, target), *_records(kind, target)]
            return (kind, match[1]) if name in (f.as_posix() for f in files) else None
    return None


def only_scale(root: Path) -> str:
    """The scale at which a tree holds results, if it is one.

    Raises:
        UserError: there is none, or more than one.
    """
    results = root / layout.RESULTS
    found = [scale for scale in SCALES if any((results / scale).rglob("*.manifest.json"))]
    if len(found) == 1:
        return found[0]
    if not found:
        raise UserError(_RESULTS, "holds no figure or table; run `snakemake` to make them")
    raise UserError("--scale", f"{_RESULTS} holds more than one; give one of {', '.join(found)}")


def collect(root: Path, scale: str) -> list[Result]:
    """Every finished table and figure of a scale and all they were made from, upstream first.

    Args:
        root: the folder of ``results``.
        scale: smoke, quick or paper.

    Raises:
        UserError: there is none, or one that does not fit its job file or what it was made from,
            or a link out of the tree.
    """
    found: dict[str, Result] = {}
    lying = sorted((root / layout.RESULTS / scale).rglob("*"))
    _refuse_links(root, [f.relative_to(root).as_posix() for f in lying if f.is_symlink()])
    manifests = (file for file in lying if file.name.endswith(".manifest.json"))
    names = sorted(file.relative_to(root).as_posix() for file in manifests)
    waiting = [p[1] for p in map(place, names) if p]
    if not waiting:
        problem = f"nothing was made at this scale; run `snakemake --config scale={scale}`"
        raise UserError(f"{_RESULTS}/{scale}", problem)
    while waiting:
        target = waiting.pop()
        if target not in found:
            found[target] = load(root, target)
            _refuse_links(root, [*found[target].records, *found[target].outputs])
            waiting += found[target].upstream
    check(found)
    return sorted(found.values(), key=lambda result: (KINDS.index(result.kind), result.target))


def _refuse_links(root: Path, names: list[str]) -> None:
    """Refuse files that are behind a link out of the tree, as `verify` does."""
    for name in names:
        if link := results_folder.refused_link(root / layout.RESULTS, name):
            place, reason = link
            raise UserError(place, f"{reason}; put the files themselves there")


def unfinished(root: Path, scale: str) -> list[str]:
    """The tables and figures of a scale that have a job file but no manifest."""
    files = (root / layout.RESULTS / scale).rglob("*.spec.json")
    targets = (layout.target_of(file) for file in sorted(files))
    missing = [t for t in targets if not layout.manifest_of("figure", t).exists()]
    names = [target.relative_to(root).as_posix() for target in missing]
    return [name for name in names if place(f"{name}.manifest.json")]  # claims are none


def load(root: Path, target: str) -> Result:
    """The result at a target, by itself sound.

    Raises:
        UserError: manifest or job file is missing, damaged, or about something else.
    """
    kind = next(kind for kind, pattern in _TARGETS.items() if re.fullmatch(pattern, target))
    job_file, manifest_file = (path.as_posix() for path in _records(kind, Path(target)))
    records = {name: _bytes(root, name) for name in (job_file, manifest_file)}
    job, manifest = (_content(name, text) for name, text in records.items())
    shape = {"kind": str, "digest": str, "spec": dict, "code": dict}
    _check_shape(job_file, job, shape | {"inputs": list})
    _check_shape(manifest_file, manifest, shape | {"inputs": dict, "outputs": dict})
    names = {file.name for file in layout.outputs(kind, Path(target))}
    if set(manifest["outputs"]) != names:
        raise UserError(manifest_file, f"does not name exactly {', '.join(sorted(names))}")
    if manifest["kind"] != kind or declared_jobs.home(manifest) != target:
        raise UserError(manifest_file, "is about another result; remove it and run `snakemake`")
    if any(job[key] != manifest[key] for key in ("kind", "digest", "spec")):
        raise UserError(target, "does not fit its job file; run `snakemake` to renew it")
    return Result(kind, target, manifest, job, records)


def check(results: dict[str, Result]) -> None:
    """Check that every result was made from those that lie there, by their hashes and digests.

    Args:
        results: results with all that they were made from, by target.

    Raises:
        UserError: naming the first that was not.
    """
    for target, result in results.items():
        for name, recorded in result.manifest["inputs"].items():
            found = place(name)
            upstream = results.get(found[1]) if found else None
            if upstream is None:
                raise UserError(target, f"was made from {name}, which is not here")
            if upstream.outputs.get(name) != recorded:
                raise UserError(
                    target, f"was made from another {name}; run `snakemake`, or remove it"
                )
        if all(name in results for name in result.job["inputs"]):
            digests = [results[name].manifest["digest"] for name in result.job["inputs"]]
            code = code_of(result.manifest)
            known = hashing.of_job(result.kind, result.manifest["spec"], code, digests)
            if known != result.manifest["digest"]:
                problem = "its digest is not that of its spec, code and inputs"
                raise UserError(target, f"{problem}; run `snakemake`, or remove it")


def _records(kind: str, target: Path) -> tuple[Path, Path]:
    """Job file and manifest."""
    return layout.spec_path(kind, target), layout.manifest_of(kind, target)


def _bytes(root: Path, name: str) -> bytes:
    try:
        return (root / name).read_bytes()
    except FileNotFoundError:
        raise UserError(name, "is missing; run `snakemake` to make it") from None
    except OSError as error:
        raise UserError(name, f"cannot be read: {error.strerror}") from None


def _content(name: str, text: bytes) -> dict[str, Any]:
    """A manifest or a job file as plain data, as it was sealed and written."""
    try:
        content = json.loads(text, parse_constant=_no_number)
        sealed = isinstance(content, dict) and store.seal_holds(content)
        if sealed and store.json_text(content).encode() == text:
            record: dict[str, Any] = content
            return record
    except (ValueError, RecursionError):
        pass
    raise UserError(name, "is damaged or was edited; remove it and run `snakemake`")


def _check_shape(name: str, content: dict[str, Any], shape: dict[str, type]) -> None:
    """Check that a manifest or a job file says what a job writes."""
    sound = all(isinstance(content.get(key), type_) for key, type_ in shape.items())
    for key in ("inputs", "outputs"):
        values = content.get(key, [])
        texts = values.values() if isinstance(values, dict) else values
        sound = sound and all(isinstance(text, str) for text in texts)
    notes = content.get("accepted", [])
    sound = sound and isinstance(notes, list) and all(isinstance(n, dict) for n in notes)
    if not sound:
        raise UserError(name, "lacks what a job writes; remove it and run `snakemake`")


def _no_number(text: str) -> None:
    raise ValueError(text)
