"""Decompositions of matrices that may not be finite: those of a member that diverged."""

from collections.abc import Callable

import torch
from torch import Tensor


def of_finite(decompose: Callable[[Tensor], Tensor], matrix: Tensor) -> Tensor:
    """`decompose` of a matrix ``[..., R, S]``; not numbers, in the same shape, if an entry is none.

    LAPACK refuses such a matrix, which would end the run of all members.
    """
    finite = matrix.isfinite().all()
    values = decompose(torch.where(finite, matrix, 0.0))
    return torch.where(finite, values, float("nan"))
