"""The diagonal linear network: a linear predictor whose weights are a product of two vectors."""

import math
from typing import Any

import torch
from torch import Tensor, nn

from grokatlas.engine.contracts import TaskData
from grokatlas.engine.keyword_types import NonNegative


class DiagonalLinear(nn.Module):
    """``f(x) = <x, u o v>``, ``x [N, D]``, parameters ``u``, ``v`` ``[D]``, ``f [N, 1]``."""

    def __init__(self, u: Tensor, v: Tensor) -> None:
        super().__init__()
        self.u = nn.Parameter(u)
        self.v = nn.Parameter(v)

    def forward(self, inputs: Tensor) -> Tensor:
        """Outputs ``[N, 1]`` of features ``[N, D]``."""
        return inputs @ (self.u * self.v)[:, None]


def build(
    *, data: TaskData, generator: torch.Generator, init_variance: NonNegative
) -> DiagonalLinear:
    """The network of arXiv 2505.20172, appendix D.2; the task supplies the features ``phi(x)``.

    Args:
        data: the data set, for its shapes.
        generator: the member's.
        init_variance: entries of ``u``, then of ``v``, are drawn from N(0, init_variance).

    Raises:
        ValueError: inputs are not vectors, or there is more than one output.
    """
    if len(data.input_shape) != 1 or data.outputs != 1:
        raise ValueError("diagonal_linear needs vectors as inputs and one output")

    def draw() -> Tensor:
        normal = torch.randn(data.input_shape, generator=generator, dtype=torch.float64)
        return init_variance**0.5 * normal

    return DiagonalLinear(draw(), draw())


def parameters(data: dict[str, Any], **_: Any) -> int:
    """Number of parameters of one member, for data of this `size` (docs/extending.md)."""
    return 2 * math.prod(data["shape"])
