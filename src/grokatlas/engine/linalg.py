"""Decompositions of matrices that may not be finite: those of a member that diverged."""

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
