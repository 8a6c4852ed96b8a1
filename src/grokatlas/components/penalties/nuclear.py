"""The nuclear norm of the weight matrices."""

import torch
from torch import Tensor

from grokatlas.engine.contracts import Model, Params, Penalty
from grokatlas.engine.keyword_types import NonNegative
from grokatlas.engine.linalg import nan_if_not_finite

COST = 10  # times the work of a step without it: singular values
WAITS = True  # a step waits for the host: singular values


def build(*, weight: NonNegative) -> Penalty:
    """``weight * sum_W ||W||_*``: the sum of singular values, over parameters of two axes.

    Parameters of other shapes (biases, convolution kernels) are not penalised: arXiv 2506.05718
    and its code have matrices alone. With ``W = U S V^T`` the gradient is
    ``weight * U sign(S) V^T``: where ``W`` has full rank that is the only one, elsewhere the
    subgradient of the authors' code, but 0 at ``W = 0``.

    Raises:
        ValueError: when called, if the model has no matrix among its parameters.
    """

    def penalty(params: Params, model: Model, inputs: Tensor) -> Tensor:
        matrices = [value for value in params.values() if value.ndim == 2]
        if not matrices:
            raise ValueError("nuclear needs a model with a matrix among its parameters")
        norms = [(nan_if_not_finite(_polar, m.detach()) * m).sum() for m in matrices]
        return weight * torch.stack(norms).sum()

    return penalty


def _polar(matrix: Tensor) -> Tensor:
    """``U sign(S) V^T``, a constant: the SVD's own derivative fails where values of S repeat."""
    left, values, right = torch.linalg.svd(matrix, full_matrices=False)
    return (left * values.sign()) @ right
