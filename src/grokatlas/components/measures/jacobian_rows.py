"""How the rows of Jacobians are aligned with their inputs."""

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
        sample's rows, averaged over samples.
    """

    def measure(run: FinishedRun) -> pd.DataFrame:
        rows = []
        for one in restored(run):
            cosines = _cosines(one, samples)
            rows.append(
                {
                    "member": one.member,
                    "step": one.step,
                    "row_alignment_min": float(cosines.amin(0).mean()),
                    "row_alignment_max": float(cosines.amax(0).mean()),
                }
            )
        return pd.DataFrame(rows)

    return measure


def _cosines(one: RebuiltMember, samples: int) -> Tensor:
    """``[C, samples]``."""
    points = one.network.features(one.params, one.data["train_inputs"][:samples])
    outputs, pull = torch.func.vjp(one.outputs, points)[:2]
    points = points.flatten(1)
    found = []
    for unit in torch.eye(outputs.shape[-1], dtype=outputs.dtype):
        row = pull(unit.expand_as(outputs))[0].flatten(1)
        norms = row.square().sum(1).sqrt() * points.square().sum(1).sqrt()
        found.append((row * points).sum(1) / norms.clamp_min(torch.finfo(norms.dtype).tiny))
    return torch.stack(found).detach()
