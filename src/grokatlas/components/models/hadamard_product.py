"""A linear predictor whose weights are the entrywise product of factors."""

import math
from typing import Any, Literal

import torch
from torch import Tensor, nn

from grokatlas.components.models.linear import entries
from grokatlas.engine.contracts import TaskData
from grokatlas.engine.keyword_types import Count, Vector


class HadamardProduct(nn.Module):
    """``f(x) = <x, w_1 o w_2 o ... o w_L>``, ``x [N, D]``, factors ``[L, D]``, ``f [N, 1]``."""

    def __init__(self, factors: Tensor) -> None:
        super().__init__()
        self.factors = nn.Parameter(factors)

    def forward(self, inputs: Tensor) -> Tensor:
        """Outputs ``[N, 1]``."""
        return inputs @ torch.prod(self.factors, dim=0)[:, None]


def build(
    *,
    data: TaskData,
    generator: torch.Generator,
    depth: Count,
    init: float | Vector | Literal["normal"],
) -> HadamardProduct:
    """A product of `depth` factors; with one input and depth 2, the two-layer net ``w1 w2 x``.

    In the figure on depth of arXiv 2506.05718 it is the vector ``a`` of sparse recovery.

    Args:
        data: the data set, for its shapes.
        generator: the member's.
        depth: number of factors ``L``.
        init: one number for all entries, the entries of all factors, factor by factor, or
            ``normal`` for N(0, 1).

    Raises:
        ValueError: `init` has another number of entries than the factors, or the task does not
            ask for one output of a vector.
    """
    if data.outputs != 1 or len(data.input_shape) != 1:
        asked = f"{data.outputs} outputs of inputs of shape {tuple(data.input_shape)}"
        raise ValueError(f"hadamard_product has one output of a vector; the task asks for {asked}")
    shape = (depth, data.input_shape[0])
    if isinstance(init, str):
        return HadamardProduct(torch.randn(shape, generator=generator, dtype=torch.float64))
    return HadamardProduct(entries(init, shape))


def parameters(data: dict[str, Any], *, depth: int, **_: Any) -> int:
    """Number of parameters of one member, for data of this `size` (docs/extending.md)."""
    return depth * math.prod(data["shape"])
