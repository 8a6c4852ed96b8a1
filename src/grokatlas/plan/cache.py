"""A cache of parsed sources and checks, for the next Snakemake in this folder.

Most of a plan's time goes into parsing the package and into checking the cells of every scale, and
both come out as before unless a file has changed. Contents decide that, never dates. What is kept
is one file of `.snakemake`; where that is absent, damaged or cannot be written, everything is
worked out anew. Commands use the checks alone, and parse what they judge by; jobs use neither.
"""

import contextlib
import dataclasses
import hashlib
import json
import sys
from pathlib import Path
from typing import Any

import pydantic

from grokatlas import registry
from grokatlas.code import code_digest, module_shape
from grokatlas.code.module_shape import Source
from grokatlas.declare import checks
from grokatlas.declare.models import Paper
from grokatlas.errors import UserError
from grokatlas.results import files, hashing

FILE = Path(".snakemake/grokatlas-plan.json")  # a sha256, then JSON of that hash


def read_sources() -> str:
    """Let this process take from what is kept the sources that have not changed."""
    key = _modules_key()
    with contextlib.suppress(KeyError, TypeError):  # kept by another version of this module
        cached = read(FILE)["sources"]
        for name, entry in cached["modules"].items() if cached["key"] == key else ():
            digest, own, references, imports, empty, files = entry
            source = Source(own, tuple(references), tuple(imports), empty, tuple(files))
            code_digest.KNOWN[name, digest] = source
    return key


def keep_sources(sources: code_digest.Sources, key: str) -> None:
    """Keep what was found in the sources of a plan, unless modules came or went meanwhile."""
    parsed = sources.parsed.items()
    if all((name, digest) in code_digest.KNOWN for name, (digest, _) in parsed):
        return
    if key == _modules_key():
        modules = {n: [digest, *dataclasses.astuple(source)] for n, (digest, source) in parsed}
        write(FILE, sources={"key": key, "modules": modules})


def check_once(papers: dict[str, Paper]) -> None:
    """Check papers, unless the same papers passed the same code before."""
    chosen, key = " ".join(sorted(papers)), _check_key(papers)
    if _passed().get(chosen) != key:
        checks.check(papers)
        if key == _check_key(papers):  # no file was edited meanwhile
            write(FILE, checked={**_passed(), chosen: key})


def _passed() -> dict[str, str]:
    """The keys of the papers that passed last, for each selection of papers."""
    passed = read(FILE).get("checked")
    return passed if isinstance(passed, dict) else {}


def _check_key(papers: dict[str, Paper]) -> str:
    texts = {name: repr(paper.model_dump(exclude_unset=True)) for name, paper in papers.items()}
    code = {name: digest(file) for name, file in registry.modules().items()}
    return hashing.of([sys.version, pydantic.VERSION, code, texts])


def digest(file: Path) -> str | None:
    """sha256 of a file; None of what an editor leaves for a moment, such as a link to no file."""
    with contextlib.suppress(OSError):
        return hashing.file_sha256(file)
    return None


def _modules_key() -> str:
    """A hash of all that decides, beside a module's own text, what is parsed in it.

    Whether a name that it imports is a module, how Python parses, and the code that reads and keeps
    the result.
    """
    readers = (code_digest.__file__, module_shape.__file__, __file__)
    code = [hashing.file_sha256(Path(file)) for file in readers]
    return hashing.of([sys.version, code, list(registry.modules())])


def read(file: Path) -> dict[str, Any]:
    """The contents of a cache file; empty where there is none, or it is damaged."""
    with contextlib.suppress(OSError, ValueError, RecursionError):
        seal, _, text = file.read_bytes().partition(b"\n")
        if seal == hashlib.sha256(text).hexdigest().encode():
            content: dict[str, Any] = json.loads(text)
            return content
    return {}


def write(file: Path, **parts: Any) -> None:
    """Keep some parts in a file beside the others; nothing is kept where it has no folder."""
    text = json.dumps({**read(file), **parts})
    if file.parent.is_dir():
        with contextlib.suppress(UserError):
            files.write_text(file, f"{hashlib.sha256(text.encode()).hexdigest()}\n{text}")
