"""Canonical hashing of plain data, of files and of jobs."""

import hashlib
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

from grokatlas.code import code_digest


def canonical(data: Any) -> str:
    """Plain data as one text: sorted keys, no spaces, shortest float form, finite numbers alone."""
    return json.dumps(data, sort_keys=True, separators=(",", ":"), allow_nan=False)


def of(data: Any) -> str:
    """sha256 of plain data in canonical form, as 64 hexadecimal digits."""
    return hashlib.sha256(canonical(data).encode()).hexdigest()


class Digests(NamedTuple):
    """A job's digest in both forms.

    Attributes:
        today: covers which module each name in the spec means. Every new result has it.
        former: covers the set of modules alone: two components that exchange their names leave it
            as it is. Results of version 0.2 have it; `freshness.matches` says when they are used.
    """

    today: str
    former: str


def of_job(
    kind: str, spec: dict[str, Any], code: dict[str, str], upstream: Iterable[Digests]
) -> Digests:
    """The digests of a job: of its kind, spec, code and the digests of the jobs it reads from."""
    upstream, values = list(upstream), code_digest.values(code)
    named = code_digest.named_values(code, code_digest.named_modules(kind, spec))
    return Digests(
        of([kind, spec, [named, values], [each.today for each in upstream]]),
        of([kind, spec, values, [each.former for each in upstream]]),
    )


def file_sha256(path: Path) -> str:
    """sha256 of a file's bytes."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
