"""What is known of one run, for people: its spec, its state, its progress."""

import json
from pathlib import Path
from typing import Any

from grokatlas import registry
from grokatlas.engine import members
from grokatlas.errors import UserError
from grokatlas.results import endings, files, freshness, layout, notes
from grokatlas.results.manifest import MARK


def run(name: str) -> str:
    """A run's spec, members and state as text.

    Args:
        name: the run's id, or its first digits.

    Raises:
        UserError: no run, or more than one, begins so.
    """
    job_files = registry.own_files(layout.run_folder(""), "*/spec.json")
    runs = [path.parent for path in job_files]
    folders = [folder for folder in runs if folder.name.startswith(name)]
    if not folders:
        known = ", ".join(folder.name for folder in runs) or "none; run `snakemake`"
        raise UserError(f"run {name}", f"no run begins so; there are: {known}")
    if len(folders) > 1:
        several = ", ".join(folder.name for folder in folders)
        raise UserError(f"run {name}", f"is not unique, give more digits: {several}")
    folder = folders[0]
    job = files.read_sealed(layout.spec_path("run", folder))
    try:
        state = _state(folder, job)
    except UserError as error:  # a damaged manifest
        state = str(error)
    lines = [f"run {folder.name}", f"state: {state}", f"members: {len(members.of(job['spec']))}"]
    lines += [f"noted: {line}" for line in _noted(folder, job["spec"])]
    return "\n".join([*lines, json.dumps(job["spec"], indent=2, sort_keys=True)])


def _noted(folder: Path, spec: dict[str, Any]) -> list[str]:
    """What was noted of its members, a line each."""
    manifest = freshness.manifest_or_none(layout.manifest_of("run", folder))
    return notes.lines(notes.of(folder, manifest), spec)


def _state(folder: Path, job: dict[str, Any]) -> str:
    manifest = layout.manifest_of("run", folder)
    if not manifest.exists():
        log = folder / "log.txt"
        text = log.read_text(encoding="utf-8", errors="replace") if log.exists() else ""
        last = text.splitlines()
        return f"not done; log ends with: {last[-1]}" if last else "not started"
    made = files.read_sealed(manifest)
    data = [file for each in job["inputs"] for file in layout.outputs("dataset", Path(each))]
    if not freshness.up_to_date("run", folder, job["digest"], data):
        return "not done; it was made, but its spec, code or data changed since; run `snakemake`"
    absent = [file.name for file in layout.outputs("run", folder) if not file.exists()]
    if absent:
        first = folder / absent[0]
        return f"made, but {' and '.join(absent)} not here; `snakemake -- {first}` makes it again"
    device = made.get("device", {})
    kind = device.get("name", device.get("type"))
    stored = ", from the run store" if MARK in made else ""
    noted = notes.summary(notes.of(folder, made), made.get("members", 0))
    ended = "".join(f", {told}" for told in (endings.summary(made), noted) if told)
    commit = (made["git"] or {}).get("commit", "unknown")
    return (
        f"done on {made['host']['name']} ({kind}) at {made['started']}, "
        f"{made['wall_seconds']:.0f} s, commit {commit}{stored}{ended}"
    )
