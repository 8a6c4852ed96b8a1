"""A matrix as the product of two factors, read at index pairs: matrix completion."""

from typing import Any

import torch
from torch import Tensor, nn

from grokatlas.components.models.matrix import select, shape_of
from grokatlas.engine.contracts import TaskData
from grokatlas.engine.keyword_types import Count, NonNegative


class MatrixFactorisation(nn.Module):
    """``f(i, j) = (U V^T)_ij``, index pairs ``[N, 2]``, ``U [R, K]``, ``V [S, K]``, ``f [N, 1]``.

    Parameters are ``u`` and ``v``.
    """

    def __init__(self, u: Tensor, v: Tensor) -> None:
        super().__init__()
        self.u = nn.Parameter(u)
        self.v = nn.Parameter(v)

    def forward(self, pairs: Tensor) -> Tensor:
        """Entries ``[N, 1]`` at pairs (row, column) ``[N, 2]``."""
        return select(self.u @ self.v.T, pairs)


def build(
    *, data: TaskData, generator: torch.Generator, factors: Count, init_scale: NonNegative
) -> MatrixFactorisation:
    """The factorisation of arXiv 2505.20172, section on matrix completion.

    Args:
        data: the data set; its ``extras["truth"]`` ``[R, S]`` gives the shape.
        generator: the member's.
        factors: number ``K`` of columns of ``U`` and ``V``, the largest rank of the product.
        init_scale: standard deviation of the entries of ``U``, then of ``V``, normal.

    Raises:
        ValueError: the task has no matrix to complete.
    """

    def draw(size: int) -> Tensor:
        normal = torch.randn((size, factors), generator=generator, dtype=torch.float64)
        return init_scale * normal

    rows, columns = shape_of(data, "matrix_factorisation")
    return MatrixFactorisation(draw(rows), draw(columns))


def parameters(data: dict[str, Any], *, factors: int, **_: Any) -> int:
    """Number of parameters of one member, for data of this `size` (docs/extending.md)."""
    return factors * sum(data.get("matrix", (0, 0)))
