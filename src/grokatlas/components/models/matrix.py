"""A matrix whose entries are the parameters, read at index pairs: matrix completion."""

import math
from typing import Any

import torch
from torch import Tensor, nn

from grokatlas.engine.contracts import TaskData
from grokatlas.engine.keyword_types import NonNegative


class Matrix(nn.Module):
    """``f(i, j) = A_ij``: index pairs ``[N, 2]``, parameter ``A`` ``[R, S]``, ``f [N, 1]``."""

    def __init__(self, matrix: Tensor) -> None:
        super().__init__()
        self.matrix = nn.Parameter(matrix)

    def forward(self, pairs: Tensor) -> Tensor:
        """Entries ``[N, 1]`` at pairs (row, column) ``[N, 2]``."""
        return select(self.matrix, pairs)


def build(*, data: TaskData, generator: torch.Generator, init_scale: NonNegative) -> Matrix:
    """The matrix of arXiv 2506.05718, matrix completion, started at a multiple of the identity.

    Args:
        data: the data set; its ``extras["truth"]`` ``[R, S]`` gives the shape.
        generator: the member's; nothing is drawn.
        init_scale: ``A = init_scale * I``.

    Raises:
        ValueError: the task has no matrix to complete.
    """
    return Matrix(init_scale * torch.eye(*shape_of(data, "matrix"), dtype=torch.float64))


def shape_of(data: TaskData, model: str) -> tuple[int, int]:
    """Rows and columns of the matrix to complete.

    Raises:
        ValueError: the task has none.
    """
    truth = data.extras.get("truth")
    if truth is None or truth.ndim < 2 or data.input_shape != (2,) or data.outputs != 1:
        raise ValueError(f"{model} needs a task whose inputs are index pairs of a matrix `truth`")
    rows, columns = truth.shape[-2:]
    return rows, columns


def select(matrix: Tensor, pairs: Tensor) -> Tensor:
    """Entries ``[N, 1]`` of a matrix at index pairs ``[N, 2]``.

    The gradient of `gather` adds in the order of the pairs, whatever the number of threads.
    """
    places = pairs[:, 0] * matrix.shape[1] + pairs[:, 1]
    return matrix.flatten().gather(0, places)[:, None]


def parameters(data: dict[str, Any], **_: Any) -> int:
    """Number of parameters of one member, for data of this `size` (docs/extending.md)."""
    return math.prod(data.get("matrix", (0, 0)))
