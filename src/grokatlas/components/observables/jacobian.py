"""Rank and size of the Jacobians of training points."""

import torch
from torch import Tensor

from grokatlas.engine.contracts import Columns, Observable
from grokatlas.engine.keyword_types import Count
from grokatlas.engine.linalg import nan_if_not_finite
from grokatlas.engine.observed import Observed

ROTATABLE = True  # a rotation of inputs and first-layer weights changes nothing

COLUMNS = {"jacobian_pc1": None, "jacobian_norm": None}


def build(*, samples: Count) -> Observable:
    """The nearness of Jacobians to rank one, and their size.

    ``J`` ``[C, D]`` is the derivative of the outputs by a sample's input (embedded tokens, for a
    token model). From the eigenvalues ``sigma_i^2`` of ``J J^T``, by C vector-Jacobian products.
    Source: arXiv 2506.12284, figure 2.

    Args:
        samples: the first so many training points are used (all, if there are fewer).

    Columns: ``jacobian_pc1``, the mean over samples of ``sigma_1^2 / sum_i sigma_i^2`` (0 for a
    vanishing Jacobian), and ``jacobian_norm``, the mean Frobenius norm.
    """

    def observe(view: Observed) -> Columns:
        model, params = view.model, view.params
        points = model.features(params, view.data["train_inputs"][:samples])
        outputs, pull = torch.func.vjp(lambda x: model(params, x), points)[:2]

        def row(unit: Tensor) -> Tensor:
            return pull(unit.expand_as(outputs))[0].flatten(1)

        units = torch.eye(outputs.shape[-1], dtype=outputs.dtype, device=outputs.device)
        rows = torch.func.vmap(row)(units)  # [C, samples, D]
        gram = torch.einsum("csd,esd->sce", rows, rows)
        squares = nan_if_not_finite(torch.linalg.eigvalsh, gram)
        total = gram.diagonal(dim1=1, dim2=2).sum(1)
        share = squares[:, -1] / total.clamp_min(torch.finfo(total.dtype).tiny)
        return {"jacobian_pc1": share.mean(), "jacobian_norm": total.sqrt().mean()}

    return observe
