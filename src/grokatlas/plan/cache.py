"""A cache of parsed sources and checks, for the next Snakemake in this folder.

Most of a plan's time goes into parsing the package and into checking the cells of every scale, and
both come out as before unless a file has changed. Contents decide that, never dates. What is kept
is one file of `.snakemake`; where that is absent, damaged or cannot be written, everything is
worked out anew. Commands use the checks alone, and parse what they judge by; jobs use neither.
"""

import contextlib
import dataclasses
import json
import secrets
import sys
from pathlib import Path
from typing import Any

import pydantic

from grokatlas import registry
from grokatlas.code import code_digest, module_shape
from grokatlas.code.module_shape import Source
from grokatlas.declare import checks
from grokatlas.declare.models import Paper
from grokatlas.results import hashing

FILE = Path(".snakemake/grokatlas-plan.json")


def read_sources() -> str:
    """Let this process take from what is kept the sources that have not changed."""
    key = _modules_key()
    with contextlib.suppress(KeyError, TypeError):  # kept by another version of this module
        cached = _content()["sources"]
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
        _write("sources", {"key": key, "modules": modules})


def check_once(papers: dict[str, Paper]) -> None:
    """Check papers, unless the same papers passed the same code before."""
    chosen, key = " ".join(sorted(papers)), _check_key(papers)
    if _passed().get(chosen) != key:
        checks.check(papers)
        if key == _check_key(papers):  # no file was edited meanwhile
            _write("checked", {**_passed(), chosen: key})


def _passed() -> dict[str, str]:
    """The keys of the papers that passed last, for each selection of papers."""
    passed = _content().get("checked")
    return passed if isinstance(passed, dict) else {}


def _check_key(papers: dict[str, Paper]) -> str:
    given = {name: repr(paper.model_dump(exclude_unset=True)) for name, paper in papers.items()}
    code = {name: digest(file) for name, file in registry.modules().items()}
    return hashing.of([sys.version, pydantic.VERSION, code, given])


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


def _content() -> dict[str, Any]:
    with contextlib.suppress(OSError, ValueError, RecursionError):
        content = json.loads(FILE.read_text(encoding="utf-8"))
        if isinstance(content, dict) and content.pop("seal", "") == hashing.of(content):
            return content
    return {}


def _write(part: str, value: Any) -> None:
    content = {**_content(), part: value}
    replace(FILE, json.dumps({**content, "seal": hashing.of(content)}))


def replace(file: Path, text: str) -> None:
    """Write a file whole, or leave it: where there is no folder for it nothing is kept."""
    temporary = file.with_name(f".{file.name}.{secrets.token_hex(8)}")
    with contextlib.suppress(OSError):
        temporary.write_text(text, encoding="utf-8")
        temporary.replace(file)
    with contextlib.suppress(OSError):
        temporary.unlink(missing_ok=True)
