"""Singular values of a parameter, or of a product of two."""

import torch
from torch import Tensor

from grokatlas.engine.contracts import Columns, Observable, Params
from grokatlas.engine.linalg import nan_if_not_finite
from grokatlas.engine.observed import Observed

COLUMNS = {"singular_values.*": None, "nuclear_distance": "falls", "spectral_distance": "falls"}


def build(*, parameters: list[str]) -> Observable:
    """Columns ``singular_values.<k>``, largest first, of a matrix ``A``.

    Where the task knows a ``truth`` of the same shape also ``nuclear_distance`` and
    ``spectral_distance``: the nuclear norm and the largest singular value of ``A - truth`` (arXiv
    2506.05718, matrix completion; neither is divided by anything).

    Args:
        parameters: the name of one matrix ``A``, or of two factors ``U`` ``[R, K]`` and ``V``
            ``[S, K]`` of ``A = U V^T``.

    Raises:
        ValueError: `parameters` has neither one nor two names.
    """
    if len(parameters) not in (1, 2):
        raise ValueError("singular_values.parameters must name one matrix or two factors")

    def observe(view: Observed) -> Columns:
        matrices = [_matrix(view.params, name) for name in parameters]
        matrix = matrices[0] if len(matrices) == 1 else matrices[0] @ matrices[1].T
        seen = {"singular_values": nan_if_not_finite(torch.linalg.svdvals, matrix)}
        truth = view.extras.get("truth")
        if truth is not None and truth.shape == matrix.shape:
            distances = nan_if_not_finite(torch.linalg.svdvals, matrix - truth)
            seen |= {"nuclear_distance": distances.sum(), "spectral_distance": distances[0]}
        return seen

    return observe


def _matrix(params: Params, name: str) -> Tensor:
    if name not in params or params[name].ndim != 2:
        known = ", ".join(key for key, value in params.items() if value.ndim == 2)
        raise ValueError(
            f"singular_values: no matrix {name!r} among the parameters; it has {known}"
        )
    return params[name]
