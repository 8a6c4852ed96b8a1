"""``grokatlas show``: what is known of one run, with its spec."""

import json
from collections.abc import Iterator

from grokatlas.engine import members
from grokatlas.errors import UserError
from grokatlas.results import layout
from grokatlas.runs import reader


def run(name: str) -> Iterator[str]:
    """A run's state, members and spec."""
    runs = [each for each in reader.every(layout.RESULTS, None) if each.id.startswith(name)]
    if not runs:
        raise UserError(f"run {name}", "no run begins so; `grokatlas runs` lists them")
    if len(runs) > 1:
        several = ", ".join(each.id for each in runs)
        raise UserError(f"run {name}", f"is not unique, give more digits: {several}")
    (shown,) = runs
    yield f"run {shown.id}"
    yield f"of: {', '.join(map(str, shown.uses)) or 'no table'}"
    yield f"state: {shown.state}{f'; {shown.note}' * bool(shown.note)}"
    commit = (shown.manifest.get("git") or {}).get("commit", "unknown")
    if shown.manifest:
        yield f"made: {shown.manifest.get('started')}, commit {commit}"
    if shown.spec:
        yield f"members: {len(members.of(shown.spec))}"
        yield json.dumps(shown.spec, indent=2, sort_keys=True)
