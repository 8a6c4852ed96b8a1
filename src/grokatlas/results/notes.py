"""What was noted of a run while it trained: which member, which step, what.

A run that is on its way has its notes in a file of its saved state, so that they can be read
meanwhile; a finished one has them in its manifest, under ``noted``.
"""

import json
import math
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from grokatlas.engine import members
from grokatlas.results import layout
from grokatlas.text import number

FILE = "notes.json"  # in the saved state of a run
KEY = "noted"  # in the manifest of a finished one
TOLD = {  # of the members that show each kind, in the order in which they are told
    "nonfinite": "not finite",
    "spike": "spiked",
    "stagnation": "came to rest",
}
Entry = dict[str, Any]


def entry(
    member: int, kind: str, step: int, column: str, value: float, times: int, last: int
) -> Entry:
    """A note as plain data; a value that is not finite is left out, as JSON has none."""
    found = {"member": member, "kind": kind, "step": step, "times": times, "last": last}
    found |= {"column": column} if column else {}
    return found | ({"value": value} if math.isfinite(value) else {})


def file_of(run: Path) -> Path:
    """The notes of a run that is on its way, by the run's folder."""
    return run / layout.STATE / FILE


def of(run: Path, manifest: dict[str, Any] | None) -> list[Entry]:
    """The notes of a run.

    Args:
        run: its folder.
        manifest: if it is finished; one of an earlier version has no notes.
    """
    if manifest is not None:
        found = manifest.get(KEY, [])
    else:
        try:
            found = json.loads(file_of(run).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return []
    return [each for each in found if _is_entry(each)] if isinstance(found, list) else []


def text(found: Entry) -> str:
    """A note in words, without its member: ``train_loss jumps to 0.8 at step 400``."""
    step, column = f"step {found['step']:,}", found.get("column", "")
    if found["kind"] == "nonfinite":
        told = f"{column} is not finite at {step}"
    elif found["kind"] == "spike":
        told = f"{column} jumps to {number(found.get('value', math.inf))} at {step}"
    else:
        since = f"{int(found.get('value', found['step'])):,}"
        told = f"what is watched has not moved since step {since} (found at {step})"
    if found["times"] == 1:
        return told
    return f"{told}; {found['times']} times in all, the last at step {found['last']:,}"


def line(found: Entry, values: list[dict[str, Any]]) -> str:
    """A note in words: ``member 2 (optimizer.lr 0.1, seed 0): train_loss is not finite at ...``.

    Args:
        found: the note.
        values: of the ensemble's axes, for each member (`engine.members.of`).
    """
    own = ", ".join(f"{path} {value}" for path, value in values[found["member"]].items())
    return f"member {found['member']} ({own}): {text(found)}"


def lines(entries: list[Entry], spec: dict[str, Any]) -> list[str]:
    """Notes in words, those of a kind together, the first step first."""
    values = members.of(spec)
    known = [each for each in entries if each["member"] < len(values)]
    return [line(each, values) for each in sorted(known, key=_order)]


def summary(entries: Iterable[Entry], total: int, without: tuple[str, ...] = ()) -> str:
    """How many members of a run show each kind, and which was the first; empty without notes.

    Args:
        entries: notes.
        total: members of the run.
        without: kinds that are told otherwise.
    """
    parts = []
    for kind, told in TOLD.items():
        own = sorted((e for e in entries if e["kind"] == kind and kind not in without), key=_order)
        if own:
            first = f"member {own[0]['member']} at step {own[0]['step']}"
            first = f"the first: {first}" if len(own) > 1 else first
            parts.append(f"{len(own)} of {total} members {told} ({first})")
    return f"noted: {', '.join(parts)}" if parts else ""


def _order(found: Entry) -> tuple[int, int, int]:
    return [*TOLD].index(found["kind"]), found["step"], found["member"]


def _is_entry(found: Any) -> bool:
    """Whether this is a note; a file of somebody else's may hold anything."""
    if not isinstance(found, dict) or found.get("kind") not in TOLD:
        return False
    return all(type(found.get(key)) is int for key in ("member", "step", "times", "last"))
