"""The line of progress of a run."""

import sys
import time


class Progress:
    """One line on stderr every ten seconds: step, rate and time left.

    Args:
        name: what the line calls the run.
    """

    def __init__(self, name: str) -> None:
        self.name = name
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
        print(line, file=sys.stderr, flush=True)
