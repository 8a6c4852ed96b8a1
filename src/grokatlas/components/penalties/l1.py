"""The sum of absolute values of the parameters."""

import torch
from torch import Tensor

from grokatlas.engine.contracts import Model, Params, Penalty
from grokatlas.engine.keyword_types import NonNegative


def build(*, weight: NonNegative) -> Penalty:
    """``weight * sum |p|``: entrywise, over all parameters.

    The gradient is ``weight * sign(p)`` with ``sign(0) = 0``, the subgradient of arXiv 2506.05718.
    """

    def penalty(params: Params, model: Model, inputs: Tensor) -> Tensor:
        return weight * torch.stack([value.abs().sum() for value in params.values()]).sum()

    return penalty
