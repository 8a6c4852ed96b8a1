"""The freshness of a result, decided here alone: by digests and hashes, never by times.

``up to date``: the manifest carries the planned digest and, for every input that exists, the hash
that the input's own manifest records, or that of a file which an archive left out. ``stale``: there
is a result, and it is not up to date.
``absent``: there is none. `job_files` translates this for Snakemake, which compares times.
"""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

from grokatlas.code import code_digest
from grokatlas.errors import UserError
from grokatlas.results import files, hashing, layout, records_only
from grokatlas.results.manifest import code_of

State = Literal["up to date", "stale", "absent"]


def state(
    kind: str, target: Path, fits: Callable[[dict[str, Any]], bool], inputs: list[Path]
) -> State:
    """The state of a job's result.

    Args:
        kind: of the job.
        target: the folder or the stem of its files.
        fits: true of the manifest of a whole result of the job as it is planned.
        inputs: the files that the job reads.
    """
    manifest = manifest_or_none(layout.manifest_of(kind, target))
    if manifest is not None:
        same = fits(manifest) and all(_same_input(manifest, file) for file in inputs)
        return "up to date" if same else "stale"
    exists = any(os.path.lexists(file) for file in layout.outputs(kind, target))
    return "stale" if exists else "absent"


def up_to_date(kind: str, target: Path, key: str, inputs: list[Path]) -> bool:
    """True if a result has the digest of a job file, by manifests alone, and its inputs' hashes.

    A job file of a result that is up to date has the digest of its manifest (`job_files`).
    """
    return state(kind, target, lambda manifest: _is_whole(manifest, key), inputs) == "up to date"


def finished(kind: str, target: Path, key: str, inputs: list[Path]) -> bool:
    """True if a job's result is up to date and all its files exist with the recorded hashes."""
    if not up_to_date(kind, target, key, inputs):
        return False
    try:
        return all(files.verified(file) for file in layout.outputs(kind, target))
    except UserError:
        return False


def manifest_or_none(path: Path) -> dict[str, Any] | None:
    """The content of a manifest or a job file; empty for a damaged one, None for none.

    Inputs and outputs of a manifest are JSON objects: it is damaged where they are not. A job file
    has no outputs.
    """
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except (ValueError, OSError, RecursionError):
        return {}
    if not isinstance(content, dict):
        return {}
    named = [content.get(key, {}) for key in ("inputs", "outputs") if "outputs" in content]
    return content if all(isinstance(each, dict) for each in named) else {}


def matches(manifest: dict[str, Any], digests: hashing.Digests, code: dict[str, str]) -> bool:
    """True if a manifest is of a whole result of a planned job with these digests and this code.

    A digest of the former form does not cover which module each name in the spec means. So the
    modules beside it, which the manifest has by name, are compared too.
    """
    if _is_whole(manifest, digests.today):
        return True
    if not _is_whole(manifest, digests.former):
        return False
    named = code_digest.named_modules(manifest["kind"], manifest["spec"])
    made, planned = (code_digest.named_values(each, named) for each in (code_of(manifest), code))
    return made == planned


def _is_whole(manifest: dict[str, Any], key: str) -> bool:
    return manifest.get("digest") == key and "seal" in manifest and not manifest.get("partial")


def _same_input(manifest: dict[str, Any], file: Path) -> bool:
    """True if a result was made from the input that exists now, as its manifest says."""
    upstream = manifest_or_none(layout.manifest_path(file))
    if upstream is None:
        return True
    recorded = manifest.get("inputs", {}).get(str(file))
    if recorded is None or recorded == upstream.get("outputs", {}).get(file.name):
        return True
    return records_only.was_made_from(file, recorded)
