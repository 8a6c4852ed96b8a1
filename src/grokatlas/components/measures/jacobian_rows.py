"""The alignment of the rows of Jacobians with their inputs."""

import math

import pandas as pd
import torch
from torch import Tensor

from grokatlas.engine.contracts import FinishedRun, Measure
from grokatlas.engine.keyword_types import Count
from grokatlas.engine.rebuilt import RebuiltMember, restored

NEEDS = ["snapshots"]


def build(*, samples: Count) -> Measure[FinishedRun]:
    """The cosines of the C rows of ``J = df/dx`` with x, as in arXiv 2506.12284, table 2.

    For token models x are the embedded tokens, flattened. A vanishing row has cosine 0.

    Args:
        samples: the first so many training points are used (all, if there are fewer).

    Returns:
        a function of a finished run, giving one row for each member and snapshot ``step``:
        ``row_alignment_min`` and ``row_alignment_max``, the least and the largest cosine of a
        sample's rows, averaged over samples; and ``others_over_own``, ``b / a`` of theorem 2: the
        mean of ``J_c x`` over samples and classes c other than the sample's own, over the mean of
        that of the own class. Not a number where there is one output, or a mean of 0 below.
    """

    def measure(run: FinishedRun) -> pd.DataFrame:
        rows = []
        for one in restored(run):
            products, cosines = _products(one, samples)
            rows.append(
                {
                    "member": one.member,
                    "step": one.step,
                    "row_alignment_min": float(cosines.amin(0).mean()),
                    "row_alignment_max": float(cosines.amax(0).mean()),
                    "others_over_own": _ratio(products, one.data["train_targets"][:samples]),
                }
            )
        return pd.DataFrame(rows)

    return measure


def _products(one: RebuiltMember, samples: int) -> tuple[Tensor, Tensor]:
    """Of every row of J with x: the inner products and the cosines, both ``[C, samples]``."""
    points = one.network.features(one.params, one.data["train_inputs"][:samples])
    outputs, pull = torch.func.vjp(one.outputs, points)[:2]
    points = points.flatten(1)
    products, cosines = [], []
    for unit in torch.eye(outputs.shape[-1], dtype=outputs.dtype):
        row = pull(unit.expand_as(outputs))[0].flatten(1)
        norms = row.square().sum(1).sqrt() * points.square().sum(1).sqrt()
        products.append((row * points).sum(1))
        cosines.append(products[-1] / norms.clamp_min(torch.finfo(norms.dtype).tiny))
    return torch.stack(products).detach(), torch.stack(cosines).detach()


def _ratio(products: Tensor, targets: Tensor) -> float:
    """The mean product of the rows of other classes over that of the own class."""
    count = len(products)
    if count == 1:
        return math.nan
    classes = targets.argmax(-1) if targets.is_floating_point() else targets
    own = products.gather(0, classes[None]).sum()
    others = (products.sum() - own) / (count - 1)
    return float(others / own) if own else math.nan
