"""A step size that follows a curve: warm-up, decay, annealing."""

import itertools
import math
from typing import Literal

import torch
from torch import Tensor

from grokatlas.components.updates._factor import ScaledStep, Steps
from grokatlas.engine.keyword_types import Vector, Whole
from grokatlas.engine.update_link import UpdateLink

ROTATABLE = True  # a rotation of inputs and first-layer weights changes nothing

Between = Literal["constant", "linear", "cosine"]


def _curve(
    taken: Tensor, steps: list[int], factors: list[float] | Tensor, between: Between
) -> Tensor:
    """The factor after so many steps, in float64; exact at every point of the curve."""
    value = torch.zeros_like(taken) + factors[0]
    for k, (start, end) in enumerate(itertools.pairwise(steps)):
        share = ((taken - start) / (end - start)).clamp(0.0, 1.0)
        if between == "constant":
            share = share.floor()
        elif between == "cosine":
            share = (1 - torch.cos(math.pi * share)) / 2
        # both ends as they are written, which first + share * (second - first) does not give
        part = (1 - share) * factors[k] + share * factors[k + 1]
        value = torch.where(taken >= start, part, value)
    return value


def build(
    *, steps: list[Whole], factors: Vector, between: Literal["constant", "linear", "cosine"]
) -> UpdateLink[Steps]:
    """The step of the optimizer times a factor: a schedule of the step size.

    Warm-up: ``steps: [0, 10], factors: [0, 1], between: linear``. Annealing: ``steps: [10, 1000],
    factors: [1, 0.1], between: cosine``. Both one after the other: two links, as factors multiply.

    Args:
        steps: points of the curve, increasing: numbers of steps before the one that is scaled, as
            the epochs of ``LambdaLR`` in ``torch.optim``; before the first and after the last point
            the factor is that of the point.
        factors: of the step size at these points.
        between: the curve from point to point: ``constant`` keeps the factor of the point before,
            ``linear`` is a line, ``cosine`` half a wave of a cosine, flat at both points.

    Raises:
        ValueError: points do not increase, or have not one factor for each.
    """
    if len(steps) != len(factors) or not steps:
        raise ValueError(
            f"schedule has {len(steps)} steps and {len(factors)} factors; give a factor for each"
        )
    if any(start >= end for start, end in itertools.pairwise(steps)):
        raise ValueError(f"schedule.steps {steps} do not increase; put each once, in order")
    return ScaledStep(lambda taken: _curve(taken, steps, factors, between))
