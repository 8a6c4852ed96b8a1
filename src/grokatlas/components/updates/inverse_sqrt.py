"""A step size that falls as one over the root of the number of steps."""

import torch

from grokatlas.components.updates._factor import ScaledStep, Steps
from grokatlas.engine.keyword_types import Count
from grokatlas.engine.update_link import UpdateLink

ROTATABLE = True  # a rotation of inputs and first-layer weights changes nothing


def build(*, start: Count) -> UpdateLink[Steps]:
    """The step of the optimizer times ``sqrt(start / t)`` from step `start` on.

    With a warm-up of `start` steps by `schedule` it is the schedule of Vaswani et al., arXiv
    1706.03762, section 5.3.

    Args:
        start: number of steps before the step size begins to fall.
    """
    return ScaledStep(lambda taken: torch.sqrt(start / taken.clamp(min=float(start))))
