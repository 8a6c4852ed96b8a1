"""Whether a result is up to date, decided here alone: by digests and hashes, never by times.

``up to date``: the manifest carries the planned digest and, for every input that exists, the hash
that the input's own manifest records, or that of a file which an archive left out. ``stale``: there
is a result, and it is not up to date.
``absent``: there is none. `job_files` translates this for Snakemake, which compares times.
"""

import json
import os
from pathlib import Path
from typing import Any, Literal

from grokatlas.errors import UserError
from grokatlas.results import files, layout, records_only

State = Literal["up to date", "stale", "absent"]


def state(kind: str, target: Path, key: str, inputs: list[Path]) -> State:
    """The state of a job's result.

    Args:
        kind: of the job.
        target: the folder or the stem of its files.
        key: the planned digest.
        inputs: the files that the job reads.
    """
    found = manifest_or_none(layout.manifest_of(kind, target))
    if found is not None:
        same = matches(found, key) and all(_same_input(found, file) for file in inputs)
        return "up to date" if same else "stale"
    exists = any(os.path.lexists(file) for file in layout.outputs(kind, target))
    return "stale" if exists else "absent"


def up_to_date(kind: str, target: Path, key: str, inputs: list[Path]) -> bool:
    """Whether a job's result is up to date, by manifests alone: its files are not looked at."""
    return state(kind, target, key, inputs) == "up to date"


def finished(kind: str, target: Path, key: str, inputs: list[Path]) -> bool:
    """Whether a job's result is up to date and all its files exist with the recorded hashes."""
    if not up_to_date(kind, target, key, inputs):
        return False
    try:
        return all(files.verified(file) for file in layout.outputs(kind, target))
    except UserError:
        return False


def manifest_or_none(path: Path) -> dict[str, Any] | None:
    """A manifest's content; empty for a damaged one, None for none."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except (ValueError, OSError):
        return {}
    return content if isinstance(content, dict) else {}


def matches(manifest: dict[str, Any], key: str) -> bool:
    """Whether a manifest is of a whole result that was planned with this digest.

    Args:
        manifest: its content; empty where it cannot be trusted.
        key: the planned digest.
    """
    return manifest.get("digest") == key and "seal" in manifest and not manifest.get("partial")


def _same_input(manifest: dict[str, Any], file: Path) -> bool:
    """Whether a result was made from the input that exists now, as its manifest says."""
    upstream = manifest_or_none(layout.manifest_path(file))
    if upstream is None:
        return True
    recorded = manifest.get("inputs", {}).get(str(file))
    if recorded is None or recorded == upstream.get("outputs", {}).get(file.name):
        return True
    return records_only.was_made_from(file, recorded)
