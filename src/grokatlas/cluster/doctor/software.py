"""The software that jobs use: commit of the code, precision, packages against lock and results."""

import contextlib
import importlib.metadata
import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from grokatlas import registry
from grokatlas.cluster.doctor.findings import Finding
from grokatlas.errors import UserError
from grokatlas.plan.jobs import Job
from grokatlas.results import environment, files, layout, revision

LOCK = Path("requirements.lock")


def commit() -> Iterator[Finding]:
    """The commit that manifests and figures will name."""
    found = revision.facts()
    if "git_problem" in found:
        text = f"results will not name it: {found['git_problem']}"
        yield Finding("warn", "commit", f"{text}; mend that before a long run")
    elif found["git"] is None:
        yield Finding("ok", "commit", "none: the code is not in a git checkout of its own")
    else:
        state = "with uncommitted changes" if found["git"]["dirty"] else "clean"
        yield Finding("ok", "commit", f"{found['git']['commit'][:12]} ({state})")


def precision() -> Iterator[Finding]:
    """The variables here that lower precision, which jobs leave out, and runs made with them."""
    lowering = [
        each for kind in environment.LOWERING for each in environment.lowered(os.environ, kind)
    ]
    set_here = f"; jobs leave out {', '.join(lowering)}, which is set here" if lowering else ""
    yield Finding("ok", "precision", f"jobs compute in the dtype of each run{set_here}")
    made_so = {path: names for path, each in _manifests() if (names := _lowered(each))}
    if made_so:
        path, variables = next(iter(made_so.items()))
        text = f"{len(made_so)} runs here were computed in fewer bits, such as {path.parent}"
        hint = "remove their folders and run `snakemake`"
        yield Finding("warn", "precision", f"{text} ({', '.join(variables)}); {hint}")


def _lowered(manifest: dict[str, Any]) -> list[str]:
    """The variables by which a run was computed in fewer bits than its dtype has."""
    try:
        names = environment.lowered(manifest["environment"], manifest["device"]["type"])
        single = manifest["spec"]["train"]["dtype"] == "float32"
        return [name for name in names if single or "DOUBLE" in name]
    except (LookupError, TypeError, AttributeError):
        return []


def packages(folder: Path, missing: list[Job]) -> Iterator[Finding]:
    """The versions of packages against the lock, then against what runs were made by.

    Args:
        folder: the checkout.
        missing: jobs that are not made.
    """
    yield _against_lock(folder / LOCK)
    if any(job.kind == "run" for job in missing):
        yield from _against_runs()


def _against_lock(lock: Path) -> Finding:
    if not lock.is_file():
        return Finding("ok", "packages", f"no {LOCK} here to compare them with")
    wanted = [line.split("==") for line in lock.read_text(encoding="utf-8").splitlines()]
    listed = [(entry[0].strip(), entry[1].strip()) for entry in wanted if len(entry) == 2]
    differing = {}
    for name, version in listed:
        here = _installed(name)
        if here is None and name in environment.PACKAGES:
            differing[name] = f"{name} is not installed (lock: {version})"
        elif here is not None and here.partition("+")[0] != version.partition("+")[0]:
            differing[name] = f"{name} is {here} (lock: {version})"
    if not differing:
        return Finding("ok", "packages", f"as in {LOCK}")
    first = [differing[name] for name in environment.PACKAGES if name in differing]
    others = len(differing) - len(first)
    texts = [*first, *([f"{others} that change no number differ"] if others else [])]
    hint = f"; python -m pip install --requirement {LOCK}" if first else ""
    return Finding("warn" if first else "ok", "packages", f"{', '.join(texts)}{hint}")


def _installed(name: str) -> str | None:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None


def _against_runs() -> Iterator[Finding]:
    """Packages of finished runs that are not those here: new runs will not be made alike."""
    made_by: dict[str, Counter[str]] = {}
    for _, manifest in _manifests():
        versions = manifest.get("versions")
        for name in environment.COMPUTING:
            if isinstance(versions, dict) and name in versions:
                made_by.setdefault(name, Counter())[str(versions[name])] += 1
    here = environment.computing()
    texts = [
        f"{count} runs here are of {name} {version}, new ones of {here.get(name, 'none')}"
        for name, counts in made_by.items()
        for version, count in sorted(counts.items())
        if version != here.get(name)
    ]
    if texts:
        hint = "install that version, or see by `grokatlas verify` which figures have both"
        yield Finding("warn", "runs", f"{', '.join(texts)}; {hint}")


def _manifests() -> Iterator[tuple[Path, dict[str, Any]]]:
    """Those of the runs that are here; `verify` says what is wrong with one that is left out."""
    for path in registry.own_files(layout.run_folder(""), "*/manifest.json"):
        with contextlib.suppress(UserError):
            content = files.read_json(path)
            if isinstance(content, dict):
                yield path, content
