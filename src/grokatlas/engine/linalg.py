"""Decompositions of matrices of members: some may have diverged, and a GPU may be recorded."""

from collections.abc import Callable

import torch
from torch import Tensor


def nan_if_not_finite(decompose: Callable[[Tensor], Tensor], matrix: Tensor) -> Tensor:
    """`decompose` of matrices ``[..., R, S]``; not numbers, in the same shape, if an entry is none.

    LAPACK refuses such a matrix, which would end the run of all members.

    Args:
        decompose: to values ``[..., *]``.
        matrix: one, or several that do not touch each other.
    """
    finite = matrix.isfinite().flatten(-2).all(-1)
    values = decompose(torch.where(finite[..., None, None], matrix, 0.0))
    finite = finite.reshape(finite.shape + (1,) * (values.ndim - finite.ndim))
    return torch.where(finite, values, float("nan"))


def solve_positive(matrix: Tensor, right: Tensor) -> Tensor:
    """``matrix^-1 right`` ``[R, C]`` of a positive definite matrix ``[R, R]``, else NaN.

    By the factor of Cholesky. On a GPU two triangular systems are solved: for several matrices
    `torch.cholesky_solve` calls there a library that cannot be recorded as a CUDA graph.

    Args:
        matrix: only its entries on and below the diagonal are read.
        right: ``[R, C]``.
    """
    factor, failed = torch.linalg.cholesky_ex(matrix)
    if matrix.device.type == "cpu":
        value = torch.cholesky_solve(right, factor)
    else:
        half = torch.linalg.solve_triangular(factor, right, upper=False)
        value = torch.linalg.solve_triangular(factor.mT, half, upper=True)
    return torch.where(failed == 0, value, float("nan"))
