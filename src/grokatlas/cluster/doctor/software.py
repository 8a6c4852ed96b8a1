"""The software that jobs use: the commit of the code, and packages against the lock."""

import importlib.metadata
from collections.abc import Iterator
from pathlib import Path

from grokatlas.cluster.doctor.findings import Finding
from grokatlas.results import environment, revision

LOCK = "requirements.lock"


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


def packages(folder: Path) -> Iterator[Finding]:
    """The versions of packages against the lock of a checkout."""
    if not (folder / LOCK).is_file():
        yield Finding("ok", "packages", f"no {LOCK} here to compare them with")
        return
    lines = (folder / LOCK).read_text(encoding="utf-8").splitlines()
    wanted = [[part.strip() for part in line.split("==")] for line in lines]
    differing = {}
    for name, version in (entry for entry in wanted if len(entry) == 2):
        try:
            here = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            if name in environment.PACKAGES:
                differing[name] = f"{name} is not installed (lock: {version})"
            continue
        if here.partition("+")[0] != version.partition("+")[0]:
            differing[name] = f"{name} is {here} (lock: {version})"
    if not differing:
        yield Finding("ok", "packages", f"as in {LOCK}")
        return
    first = [differing[name] for name in environment.PACKAGES if name in differing]
    others = len(differing) - len(first)
    texts = [*first, *([f"{others} that change no number differ"] if others else [])]
    hint = f"; python -m pip install --requirement {LOCK}" if first else ""
    yield Finding("warn" if first else "ok", "packages", f"{', '.join(texts)}{hint}")
