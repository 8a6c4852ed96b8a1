"""Canonical hashing of plain data and of files."""

import hashlib
import json
from pathlib import Path
from typing import Any


def canonical(data: Any) -> str:
    """Plain data as one text: sorted keys, no spaces, shortest float form.

    Raises:
        ValueError: for a number that is not finite.
    """
    return json.dumps(data, sort_keys=True, separators=(",", ":"), allow_nan=False)


def of(data: Any) -> str:
    """sha256 of plain data in canonical form, as 64 hexadecimal digits."""
    return hashlib.sha256(canonical(data).encode()).hexdigest()


def file_sha256(path: Path) -> str:
    """sha256 of a file's bytes."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
