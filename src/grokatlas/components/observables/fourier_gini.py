"""The concentration of a weight matrix on few Fourier frequencies along its tokens."""

import torch
from torch import Tensor

from grokatlas.engine.contracts import Columns, Observable
from grokatlas.engine.keyword_types import Count
from grokatlas.engine.observed import Observed

COLUMNS = {"fourier_gini_{label}": None}


def build(*, label: str, parameters: list[str], tokens: Count) -> Observable:
    """Column ``fourier_gini_<label>``: the Gini coefficient of a matrix's Fourier norms.

    ``W`` ``[tokens, D]`` is transformed over its tokens, ``F_k = p^(-1/2) sum_j exp(-2 pi i j k /
    p) W_j`` for k = 0 ... p-1; of the norms ``c_k = ||F_k||`` over the other axis, in rising order
    ``c_(1) <= ... <= c_(p)``, the coefficient of Hurley and Rickard (2009, table II) is
    ``1 - 2 sum_k c_(k) / ||c||_1 (p - k + 1/2) / p``: 0 if all are equal, 1 - 1/p if one is not 0.
    Source: arXiv 2506.12284, figure 8, after Nanda et al. (2023), who take cosines and sines:
    every frequency but 0 occurs twice here, as there, but its two norms are then equal.

    Args:
        label: what the column is called, such as ``embedding``.
        parameters: the name of ``W``; or of two tensors ``A`` ``[d, V]`` and ``B`` ``[d, D]`` of
            ``W = A^T B``, such as the unembedding and the MLP's output matrix. A fixed one may be
            a buffer of the model.
        tokens: the first so many rows of ``W`` are used, p: not those of signs such as ``=``.

    Raises:
        ValueError: `parameters` has neither one nor two names.
    """
    if len(parameters) not in (1, 2):
        raise ValueError("fourier_gini.parameters must name one matrix or two factors")

    def observe(view: Observed) -> Columns:
        everything = {**view.model.constants, **view.params}
        matrices = [_matrix(everything, name) for name in parameters]
        weight = matrices[0] if len(matrices) == 1 else matrices[0].T @ matrices[1]
        if len(weight) < tokens:
            raise ValueError(f"fourier_gini.tokens {tokens} is more than the {len(weight)} rows")
        transform = torch.fft.fft(weight[:tokens], dim=0, norm="ortho")
        squares = transform.real.square() + transform.imag.square()
        return {f"fourier_gini_{label}": _gini(squares.sum(1).sqrt())}

    return observe


def _gini(values: Tensor) -> Tensor:
    ordered = torch.sort(values).values
    count = len(values)
    places = torch.arange(count, dtype=values.dtype, device=values.device)
    shares = ordered / ordered.sum().clamp_min(torch.finfo(values.dtype).tiny)
    return 1 - 2 * (shares * (count - places - 0.5)).sum() / count


def _matrix(tensors: dict[str, Tensor], name: str) -> Tensor:
    if name not in tensors or tensors[name].ndim != 2:
        known = ", ".join(key for key, value in tensors.items() if value.ndim == 2)
        raise ValueError(f"fourier_gini: no matrix {name!r} in the model; it has {known}")
    return tensors[name]
