"""The time of a run in units of its fast and of its slow phase."""

import torch

from grokatlas.engine.contracts import Columns, Observable
from grokatlas.engine.observed import Observed

COLUMNS = {"fast_time": "rises", "slow_time": "rises"}


def build(*, weight: str) -> Observable:
    """Columns ``fast_time``, ``rate * step``, and ``slow_time``, ``rate * weight * step``.

    Descent memorises in fast time and follows its weak regulariser in slow time (arXiv 2506.05718:
    t2 grows as 1 / (alpha beta)). ``train.stop: {fast_time: ..., slow_time: ...}`` ends each member
    when both phases are over, whatever its rate and weight.

    Args:
        weight: the keyword of the dynamics that weighs its regulariser, such as ``l1``; the step
            size is its keyword ``rate``. A dynamics without them is a `ValueError` when observed.
    """

    def observe(view: Observed) -> Columns:
        for keyword in ("rate", weight):
            if not hasattr(view.dynamics, keyword):
                problem = f"the run's dynamics has no keyword {keyword!r}"
                raise ValueError(f"slow_time: {problem}; it needs rate and {weight}")
        rate, own = (getattr(view.dynamics, keyword) for keyword in ("rate", weight))
        fast = torch.as_tensor(rate * view.step)
        return {"fast_time": fast, "slow_time": fast * own}

    return observe
