"""What a watched run says while it trains: lines in its log, and a file that `status` reads."""

import sys
import time
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from grokatlas.declare import watched_columns
from grokatlas.engine import members
from grokatlas.errors import UserError
from grokatlas.results import files, notes

if TYPE_CHECKING:  # it imports torch, which a job does after it has chosen a device
    from grokatlas.engine.watching import Note, Watcher

MOST = 5  # lines of each kind in a log
PERIOD = 1.0  # seconds between two times that the file is written


def watched(spec: dict[str, Any]) -> dict[str, Any]:
    """What a run is searched for: as its spec declares, else what every run is."""
    return spec.get("watch") or watched_columns.default(spec["observables"])


class Notes:
    """Tells what a watcher finds.

    Args:
        run: the run's folder.
        spec: its spec.
        watcher: of this training.
    """

    def __init__(self, run: Path, spec: dict[str, Any], watcher: "Watcher") -> None:
        self._run = run
        self._members = members.of(spec)
        self._watcher = watcher
        self._told: Counter[str] = Counter()
        self._is_old = notes.file_of(run).exists()  # of an earlier process: write it anew
        self._written = 0.0

    def tell(self, found: "Iterable[Note]") -> None:
        """Write lines into the log, for what was found in a member for the first time."""
        for note in found:
            self._told[note.kind] += 1
            if self._told[note.kind] > MOST:
                continue
            line = notes.line(notes.entry(*note), self._members)
            more = f"; `grokatlas show {self._run.name}` names all of them"
            more = more if self._told[note.kind] == MOST < len(self._members) else ""
            print(f"run {self._run.name}: noted: {line}{more}", file=sys.stderr, flush=True)
        self._is_old = True

    def write(self) -> None:
        """Write the file after a log, if something is new; that it fails costs one line."""
        now = time.monotonic()
        if not self._is_old or now - self._written < PERIOD:
            return
        self._is_old, self._written = False, now
        try:
            files.write_json(notes.file_of(self._run), self.entries())
        except UserError as error:
            print(f"warning: notes are not written: {error}", file=sys.stderr)

    def entries(self) -> list[notes.Entry]:
        """All that was found so far, as plain data."""
        return [notes.entry(*note) for note in self._watcher.notes()]
