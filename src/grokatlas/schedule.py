"""At which steps a run logs."""

import math
from typing import Any


def log_steps(log: dict[str, Any], steps: int) -> list[int]:
    """The steps, from 0 to `steps` inclusive, at which a row of history is written.

    Args:
        log: ``every`` (each multiple of it) and ``first`` (and each step up to this one), or
            ``points`` (that many steps evenly spaced in ``log(1 + step)``, duplicates removed).
        steps: the run's last step, always logged.
    """
    if "points" in log:
        last = log["points"] - 1
        spaced = {round(math.expm1(math.log1p(steps) * k / last)) for k in range(last + 1)}
    else:
        spaced = set(range(0, steps + 1, log["every"]))
    return sorted(spaced | set(range(min(log["first"], steps) + 1)) | {steps})
