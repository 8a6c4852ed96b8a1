"""The software that jobs use: the commit of the code, the packages against lock and results."""

import importlib.metadata
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from grokatlas import registry
from grokatlas.errors import UserError
from grokatlas.operate.doctor.findings import Finding
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
    for path in registry.own_files(layout.run_folder(""), "*/manifest.json"):
        try:
            versions = files.read_json(path)["versions"]
        except (UserError, LookupError, TypeError):
            continue  # `verify` says what is wrong with it
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
