"""The line of progress of a run: how far it is, and how many members are not finite."""

import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from grokatlas.declare import history_columns, signatures
from grokatlas.engine import members
from grokatlas.engine.history import History
from grokatlas.errors import UserError
from grokatlas.results import endings

LEAST_PAUSE, LONGEST_PAUSE = 10.0, 300.0  # seconds between two lines


class LastLog(History):
    """A history that can be asked of what was logged last."""

    def __init__(
        self, hand_on: Callable[[dict[str, np.ndarray]], None], spec: dict[str, Any]
    ) -> None:
        super().__init__(hand_on)
        self._spec = spec
        self._last: dict[str, np.ndarray] = {}

    def add(self, step: int, indices: list[int], seen: dict[str, np.ndarray]) -> None:
        """See `History.add`; refuse columns that a history cannot have, or that no plan knew."""
        if not self._last and (problem := history_columns.refused({*seen}, self._spec)):
            named = ", ".join(entry["name"] for entry in self._spec["observables"])
            raise UserError(f"observables ({named})", problem)
        super().add(step, indices, seen)
        self._last = seen

    def unsound(self) -> str:
        """Count members with a loss, an error or an accuracy that is not finite, in words.

        Returns:
            such as ``2 of 10 members not finite``, of those that still train; empty if all are.
        """
        declared, _ = signatures.logged(self._spec["observables"])
        names = endings.watched(self._last, declared)
        finite = np.all([np.isfinite(self._last[name]) for name in names], axis=0)
        count = np.count_nonzero(~finite)
        return f"{count} of {len(members.of(self._spec))} members not finite" if count else ""


class Progress:
    """Lines on stderr with step, rate and time left.

    Between two lines pass at least ten seconds, later a hundredth of the time so far, and at most
    five minutes where the run can be saved as often.

    Args:
        name: of the run.
        first: the step from which this process trains.
        steps: the number of all steps.
        note: gives what else is known of the last log.
    """

    def __init__(self, name: str, first: int, steps: int, note: Callable[[], str]) -> None:
        self.name = name
        self.first = first
        self.steps = steps
        self.note = note
        self.start = self.last = time.monotonic()

    def logged(self, step: int, steps: int) -> None:
        """Report after a log, if it is time to or the run is done."""
        if step == steps:
            self._report(step)
        else:
            self.moved(step)

    def moved(self, step: int) -> None:
        """Report between two logs, if it is time to; the last step waits for its log."""
        now = time.monotonic()
        pause = min(max(LEAST_PAUSE, (now - self.start) / 100), LONGEST_PAUSE)
        if step < self.steps and now - self.last >= pause:
            self._report(step)

    def _report(self, step: int) -> None:
        if step == self.first:
            return
        self.last = time.monotonic()
        rate = (step - self.first) / max(self.last - self.start, 1e-9)
        left = (self.steps - step) / max(rate, 1e-9)
        line = f"{self.name}: step {step}/{self.steps}, {rate:.1f} steps/s, {left:.0f} s left"
        print(", ".join(filter(None, [line, self.note()])), file=sys.stderr, flush=True)
