"""The number of directions that the parameter matrices use."""

import torch
from torch import Tensor

from grokatlas.engine.contracts import Columns, Observable
from grokatlas.engine.linalg import nan_if_not_finite
from grokatlas.engine.observed import Observed

COLUMNS = {"effective_rank": None}


def build() -> Observable:
    """Column ``effective_rank``: the mean over matrices of ``exp(- sum_i q_i log q_i)``.

    ``q_i = sigma_i / sum_j sigma_j`` are the shares of a matrix's singular values: the number is 1
    for a matrix of rank one and r if r equal ones are all there are (Roy & Vetterli 2007, equation
    3). Every parameter that is a matrix counts once; one of zeros alone counts as 1.

    A model without such a parameter is refused with a `ValueError` when observed.
    """

    def observe(view: Observed) -> Columns:
        matrices = [value for value in view.params.values() if value.ndim == 2]
        if not matrices:
            raise ValueError("effective_rank needs a model with a matrix among its parameters")
        return {"effective_rank": torch.stack([_rank(matrix) for matrix in matrices]).mean()}

    return observe


def _rank(matrix: Tensor) -> Tensor:
    values = nan_if_not_finite(torch.linalg.svdvals, matrix)
    shares = values / values.sum().clamp_min(torch.finfo(values.dtype).tiny)
    return torch.special.entr(shares).sum().exp()
