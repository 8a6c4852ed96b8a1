"""A linear layer with an optional activation on its output."""

import math
from typing import Any, Literal

import torch
from torch import Tensor, nn

from grokatlas.engine.contracts import TaskData
from grokatlas.engine.keyword_types import NonNegative, Vector


class Linear(nn.Module):
    """``f(x) = act(x W^T)``, ``x [N, D]``, ``W [C, D]``, ``f [N, C]``."""

    slope: Tensor

    def __init__(self, weight: Tensor, slope: float) -> None:
        super().__init__()
        self.weight = nn.Parameter(weight)
        self.register_buffer("slope", torch.tensor(slope, dtype=torch.float64))

    def forward(self, inputs: Tensor) -> Tensor:
        """Outputs ``[N, C]``."""
        outputs = inputs @ self.weight.T
        return torch.where(outputs > 0, outputs, self.slope * outputs)


def build(
    *,
    data: TaskData,
    generator: torch.Generator,
    init: float | Vector | Literal["normal"],
    negative_slope: NonNegative,
) -> Linear:
    """A linear layer without bias.

    Args:
        data: the data set, for its shapes.
        generator: the member's.
        init: one number for all entries of ``W``, its entries row by row, or ``normal`` for
            N(0, 1/D).
        negative_slope: of the output where it is negative: 1 for a linear map, less for a leaky
            ReLU.

    Raises:
        ValueError: inputs are not real vectors, or `init` has another number of entries than ``W``.
    """
    if data.vocabulary is not None or len(data.input_shape) != 1:
        raise ValueError("linear needs real vectors as inputs, not tokens or images")
    shape = (data.outputs, data.input_shape[0])
    if isinstance(init, str):
        weight = torch.randn(shape, generator=generator, dtype=torch.float64) / shape[1] ** 0.5
    else:
        weight = entries(init, shape)
    return Linear(weight, negative_slope)


def entries(init: float | list[float] | Tensor, shape: tuple[int, ...]) -> Tensor:
    """A number, or a list of numbers, as a tensor of a shape."""
    weight = torch.as_tensor(init, dtype=torch.float64)
    if weight.ndim == 0:
        return weight.expand(shape).clone()
    if weight.numel() != torch.Size(shape).numel():
        raise ValueError(f"model.init has {weight.numel()} entries, the weights {tuple(shape)}")
    return weight.reshape(shape)


def parameters(data: dict[str, Any], **_: Any) -> int:
    """Number of parameters of one member, for data of this `size` (docs/extending.md)."""
    return math.prod(data["shape"]) * data["outputs"]
