"""Centroids of the linear regions that training points lie in."""

import torch
from torch import Tensor

from grokatlas.engine.contracts import Columns, Observable
from grokatlas.engine.keyword_types import Count
from grokatlas.engine.observed import Observed

ROTATABLE = True  # a rotation of inputs and first-layer weights changes nothing

COLUMNS = {
    "centroid_alignment_mean": None,
    "centroid_alignment_min": None,
    "centroid_alignment_max": None,
    "centroid_inner_product_mean": None,
    "centroid_norm_mean": None,
    "centroid_reciprocal_norm_mean": None,
    "probe_alignment": None,
    "probe_inner_product": None,
    "probe_norm": None,
}


def build(*, samples: Count) -> Observable:
    """The alignment of the centroid of each sample's linear region with the sample.

    The centroid of x is the gradient with respect to x of the sum of all outputs, ``mu = J^T 1``;
    the alignment is the cosine of x and mu (0 if one of them vanishes). For token models x are the
    embedded tokens, before positions, flattened. Source: arXiv 2506.12284, section 3, and its
    authors' code. The network is observed as it is, its output scale included.

    Args:
        samples: the first so many training points are used (all, if there are fewer).

    Columns, over those samples: ``centroid_alignment_mean``, ``_min`` and ``_max``; means
    ``centroid_inner_product_mean`` of ``<x, mu>``, ``centroid_norm_mean`` of ``||mu||`` and
    ``centroid_reciprocal_norm_mean`` of ``1 / ||mu||``. Of the first training point alone:
    ``probe_alignment``, ``probe_inner_product``, ``probe_norm``.
    """

    def observe(view: Observed) -> Columns:
        model, params = view.model, view.params
        points = model.features(params, view.data["train_inputs"][:samples])
        slopes = torch.func.grad(lambda x: model(params, x).sum())(points)
        points, slopes = points.flatten(1), slopes.flatten(1)
        inner = (points * slopes).sum(1)
        norms = slopes.square().sum(1).sqrt()
        alignment = inner / _positive(points.square().sum(1).sqrt() * norms)
        return {
            "centroid_alignment_mean": alignment.mean(),
            "centroid_alignment_min": alignment.amin(),
            "centroid_alignment_max": alignment.amax(),
            "centroid_inner_product_mean": inner.mean(),
            "centroid_norm_mean": norms.mean(),
            "centroid_reciprocal_norm_mean": (1 / _positive(norms)).mean(),
            "probe_alignment": alignment[0],
            "probe_inner_product": inner[0],
            "probe_norm": norms[0],
        }

    return observe


def _positive(values: Tensor) -> Tensor:
    """`values`, kept from zero so that a quotient is finite."""
    return values.clamp_min(torch.finfo(values.dtype).tiny)
