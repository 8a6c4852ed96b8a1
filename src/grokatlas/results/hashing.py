"""Canonical hashing of plain data, of files and of jobs."""

import hashlib
import json
from pathlib import Path
from typing import Any

from grokatlas import code_digest


def canonical(data: Any) -> str:
    """Plain data as one text: sorted keys, no spaces, shortest float form.

    Raises:
        ValueError: for a number that is not finite.
    """
    return json.dumps(data, sort_keys=True, separators=(",", ":"), allow_nan=False)


def of(data: Any) -> str:
    """sha256 of plain data in canonical form, as 64 hexadecimal digits."""
    return hashlib.sha256(canonical(data).encode()).hexdigest()


def of_job(kind: str, spec: dict[str, Any], code: dict[str, str], upstream: list[str]) -> str:
    """The digest of a job: of its kind, spec, code and the digests of the jobs it reads from."""
    return of([kind, spec, code_digest.values(code), upstream])


def file_sha256(path: Path) -> str:
    """sha256 of a file's bytes."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
