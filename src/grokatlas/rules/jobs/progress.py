"""The line of progress of a run: how far it is, and how many members are not finite."""

import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from grokatlas.declare import signatures
from grokatlas.engine import members
from grokatlas.engine.history import History
from grokatlas.results import endings


class LastLog(History):
    """A history that can be asked of what was logged last."""

    def __init__(
        self, hand_on: Callable[[dict[str, np.ndarray]], None], spec: dict[str, Any]
    ) -> None:
        super().__init__(hand_on)
        self._spec = spec
        self._last: dict[str, np.ndarray] = {}

    def add(self, step: int, indices: list[int], seen: dict[str, np.ndarray]) -> None:
        """See `History.add`."""
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
    """One line on stderr every ten seconds: step, rate and time left."""

    def __init__(self, name: str, note: Callable[[], str]) -> None:
        self.name = name
        self.note = note
        self.start = self.last = time.monotonic()
        self.first: int | None = None  # step of the first call: not 0 in a run that goes on

    def __call__(self, step: int, steps: int) -> None:
        """Report, if ten seconds have passed or the run is done."""
        now = time.monotonic()
        if self.first is None:
            self.first = step
        if step == self.first or (now - self.last < 10 and step < steps):
            return
        self.last = now
        rate = (step - self.first) / max(now - self.start, 1e-9)
        left = (steps - step) / max(rate, 1e-9)
        line = f"{self.name}: step {step}/{steps}, {rate:.1f} steps/s, {left:.0f} s left"
        print(", ".join(filter(None, [line, self.note()])), file=sys.stderr, flush=True)
