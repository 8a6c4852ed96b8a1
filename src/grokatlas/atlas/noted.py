"""What was noted of the runs behind a figure while they trained, also of those that still train."""

from pathlib import Path
from typing import Any

from grokatlas.engine import members
from grokatlas.results import notes
from grokatlas.results.result import Result

MOST = 30  # notes that a page has of a figure


def of(runs: list[Result]) -> tuple[str, list[str]]:
    """How many members show each kind, in words, and a line for each note.

    Args:
        runs: behind a figure, as `contents.behind` finds them.

    Returns:
        both empty if nothing was noted.
    """
    everyone, total, lines = list[notes.Entry](), 0, list[str]()
    for run in runs:
        spec = _spec(run)
        found = notes.of(Path(run.target), run.sound or None)
        total += len(members.of(spec))
        everyone += found
        name = run.target.rpartition("/")[2]
        lines += [f"run {name}, {line}" for line in notes.lines(found, spec)]
    more = len(lines) - MOST
    rest = [f"and {more} more, in the manifests of the runs"] if more > 0 else []
    return notes.summary(everyone, total).removeprefix("noted: "), [*lines[:MOST], *rest]


def _spec(run: Result) -> dict[str, Any]:
    """The spec of a run that was made, or of one that is planned."""
    content = run.sound or (run.job.content if run.job else {})
    spec: dict[str, Any] = content["spec"]
    return spec
