"""Whether a result fits its plan: by the digests and hashes of manifests, never by times.

Snakemake is told by the time of the job file, which this module alone sets.
"""

import contextlib
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from grokatlas import store
from grokatlas.errors import UserError

LONG_AGO = 1_000_000_000  # the time of a job file whose result fits it (September 2001)


def write_job_file(path: Path, manifest: Path, content: dict[str, Any], inputs: list[Path]) -> bool:
    """Write a job file if it changed, and set its time by whether the result on disk fits it.

    The job file of a fitting result is dated long ago. A result that does not fit is named in the
    job file (`replaces`), which is dated after it, so that Snakemake remakes it whether or not it
    remembers how it was made.

    Args:
        path: the job file.
        manifest: the manifest of the job's result, if there is one.
        content: what the job file says.
        inputs: the files that the job reads.

    Returns:
        whether the result fits: its manifest carries the content's digest and, for every input
        that lies there, the hash that the input's own manifest records.
    """
    found = _manifest_or_none(manifest)
    fits = found is not None and _fits(found, content["digest"], inputs)
    if found is not None and not fits:
        content = {**content, "replaces": found.get("digest", "unreadable")}
    text = store.json_text(store.sealed(content))
    try:
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            with store.atomic(path) as temporary:
                temporary.write_text(text, encoding="utf-8")
        time = path.stat().st_mtime
        if fits and time != LONG_AGO:
            os.utime(path, (LONG_AGO, LONG_AGO))
        elif found is not None and not fits:
            newest = max(_times(manifest.parent))
            if time < newest:
                os.utime(path, (newest + 0.01, newest + 0.01))
    except OSError as error:
        raise UserError(str(path), f"cannot be written: {error.strerror or error}") from None
    return fits


def _times(folder: Path) -> Iterator[float]:
    """When the files of a folder were written; another job may be renaming its own just now."""
    for file in folder.iterdir():
        with contextlib.suppress(FileNotFoundError):
            if file.is_file():
                yield file.stat().st_mtime


def fits(kind: str, target: Path, key: str, inputs: list[Path]) -> bool:
    """Whether a job's result has the digest `key` and is of these inputs, by manifests alone."""
    found = _manifest_or_none(store.manifest_of(kind, target))
    return bool(found) and _fits(found, key, inputs)


def finished(kind: str, target: Path, key: str, inputs: list[Path]) -> bool:
    """Whether a job's result is there, whole, with the digest `key` and of these inputs."""
    if not fits(kind, target, key, inputs):
        return False
    try:
        return all(store.verified(file) for file in store.outputs(kind, target))
    except UserError:
        return False


def _fits(manifest: dict[str, Any], key: str, inputs: list[Path]) -> bool:
    known = manifest.get("digest") == key and "seal" in manifest
    return (
        known
        and not manifest.get("partial")
        and all(_same_input(manifest, file) for file in inputs)
    )


def _manifest_or_none(path: Path) -> dict[str, Any] | None:
    """A manifest's content; empty for a damaged one, None for none."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except (ValueError, OSError):
        return {}
    return content if isinstance(content, dict) else {}


def _same_input(manifest: dict[str, Any], file: Path) -> bool:
    """Whether a result was made from the input that lies there now, as its manifest tells."""
    upstream = _manifest_or_none(store.manifest_path(file))
    if upstream is None:
        return True
    recorded = manifest.get("inputs", {}).get(str(file))
    return recorded is None or recorded == upstream.get("outputs", {}).get(file.name)
