"""Claims and pages from results that are not complete, or that earlier code made."""

import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from grokatlas.errors import UserError
from grokatlas.results import files, layout
from grokatlas.results.manifest import ManifestWriter

CURRENT, EARLIER = "current", "earlier"


def at_hand(kind: str, target: Path) -> str:
    """The age of a job's result that is here, whole and of the planned spec.

    Returns:
        ``current``; ``earlier`` where other code made it, or it was made from what is older than
        the plan; empty where it cannot be used.
    """
    try:
        manifest = files.read_sealed(layout.manifest_of(kind, target))
        job = files.read_sealed(layout.spec_path(kind, target))
        if manifest["spec"] != job["spec"]:
            return ""
        for file in layout.outputs(kind, target):
            files.verified(file)
    except (UserError, KeyError):
        return ""
    drawn_from_earlier = kind == "figure" and "partial" in manifest
    same = manifest["digest"] == job["digest"] and not drawn_from_earlier
    return CURRENT if same else EARLIER


def earlier(spec: dict[str, Any]) -> dict[Path, str]:
    """The ages of what papers that are not selected have of earlier code, as a spec lists it."""
    return dict.fromkeys(map(Path, spec.get("earlier", {})), EARLIER)


def origin(targets: list[Path], ages: dict[Path, str]) -> dict[str, str]:
    """The commits that made a claim's tables, and whether their code is the one here."""
    commits = set()
    for target in targets:
        git = files.read_sealed(layout.manifest_of("table", target)).get("git") or {}
        commits.add(git.get("commit", "unknown")[:12] + (" dirty" if git.get("dirty") else ""))
    code = CURRENT if all(ages[target] == CURRENT for target in targets) else EARLIER
    return {"commit": ", ".join(sorted(commits)), "code": code}


def note_gaps(
    writer: ManifestWriter, ages: dict[Path, str], failed: list[str] | None = None
) -> None:
    """Record in a manifest what was absent, stale or failed: such a result is never up to date."""
    absent = [target.as_posix() for target, age in ages.items() if not age]
    earlier = [target.as_posix() for target, age in ages.items() if age == EARLIER]
    if absent or earlier or failed:
        writer.note(partial={"absent": absent, "earlier": earlier, "failed": failed or []})


def show_pages(scale: str) -> None:
    """Let a process of its own write claims and pages from the results that are here.

    An interruption of it is one line.
    """
    try:
        _write_pages(scale)
    except KeyboardInterrupt:
        print("interrupted; `grokatlas atlas` makes the pages", file=sys.stderr)


def _write_pages(scale: str) -> None:
    job_file = layout.spec_path("atlas", layout.atlas_folder(scale))
    command = [sys.executable, "-m", "grokatlas", "atlas", str(job_file), "--partial"]
    interrupted: list[int] = []
    # A handler, not KeyboardInterrupt: that may come before `process` has a name, and leave it.
    before = signal.signal(signal.SIGINT, lambda number, _: interrupted.append(number))
    try:
        process = subprocess.Popen(command, start_new_session=True)  # a terminal's Ctrl-C not
        while not interrupted and process.poll() is None:
            time.sleep(0.05)
        if interrupted:
            process.terminate()
            process.wait()
            raise KeyboardInterrupt
    finally:
        signal.signal(signal.SIGINT, before)
