"""The Euclidean norm of the parameters."""

import torch
from torch import Tensor

from grokatlas.engine.contracts import Model, Params, Penalty
from grokatlas.engine.keyword_types import NonNegative


def build(*, weight: NonNegative, squared: bool) -> Penalty:
    """``weight * sum_p ||p||_F^2``, or ``weight * sum_p ||p||_F`` if not `squared`.

    The sum runs over parameter tensors. No factor 1/2: the gradient of the squared form is
    ``2 * weight * p``, twice that of PyTorch's ``weight_decay`` in SGD. The un-squared form has
    gradient ``weight * p / ||p||_F``, taken as 0 at ``p = 0``.
    """

    def penalty(params: Params, model: Model, inputs: Tensor) -> Tensor:
        squares = [parameter.square().sum() for parameter in params.values()]
        if not squared:
            zeros = [value == 0 for value in squares]
            squares = [
                torch.where(zero, 0.0, torch.where(zero, 1.0, value).sqrt())
                for zero, value in zip(zeros, squares, strict=True)
            ]
        return weight * torch.stack(squares).sum()

    return penalty
