"""At which steps a run logs."""

import math
from bisect import bisect_left

from grokatlas.engine.contracts import Spec


class Schedule:
    """The steps, from 0 to `steps` inclusive, at which something happens; never a list of them all.

    Args:
        steps: the run's last step, always one of them.
        every: each multiple of it; None for none.
        first: and each step up to this one.
        chosen: and these.
    """

    def __init__(self, steps: int, every: int | None, first: int, chosen: list[int]) -> None:
        self._steps = steps
        self._every = every
        self._first = first
        self._chosen = sorted(step for step in {*chosen, steps} if step <= steps)

    def next(self, step: int) -> int:
        """The first scheduled step that is not before `step` (at most the run's last)."""
        if step <= min(self._first, self._steps):
            return step
        following = self._chosen[bisect_left(self._chosen, step)]
        if self._every is not None:
            following = min(following, -(-step // self._every) * self._every)
        return following


def log_schedule(log: Spec, steps: int) -> Schedule:
    """The steps at which a row of history is written.

    Args:
        log: ``every`` (each multiple of it) and ``first`` (and each step up to this one), or
            ``points`` (that many steps evenly spaced in ``log(1 + step)``, duplicates removed).
        steps: the run's last step, always logged.
    """
    if "points" not in log:
        return Schedule(steps, log["every"], log["first"], [])
    last = log["points"] - 1
    spaced = {round(math.expm1(math.log1p(steps) * k / last)) for k in range(last + 1)}
    return Schedule(steps, None, log["first"], sorted(spaced))
