"""Cross-entropy of StableMax, which grows as its argument where softmax grows exponentially."""

import torch
from torch import Tensor

from grokatlas.engine.contracts import Loss

ROTATABLE = True  # a rotation of inputs and first-layer weights changes nothing


def build() -> Loss:
    """``loss(outputs [N, C], labels [N]) = -mean_n log(s(z_ny) / sum_c s(z_nc))``, in nats.

    ``s(z) = z + 1`` where z is 0 or more, else ``1 / (1 - z)``. Source: Prieto et al., arXiv
    2501.04697, section 3.3, and ``stablemax_cross_entropy`` of the authors' code, which computes it
    in float64: ``train.loss_dtype``.

    Raises:
        ValueError: when called: targets are real.
    """

    def loss(outputs: Tensor, labels: Tensor) -> Tensor:
        if labels.is_floating_point():
            raise ValueError("stablemax needs a task with labels; for real targets take mse")
        # both branches are finite everywhere, so that the gradient of the other one is 0
        scores = torch.where(outputs < 0, 1 / (1 - outputs.clamp(max=0)), 1 + outputs.clamp(min=0))
        chosen = scores.gather(-1, labels[:, None])[:, 0]
        return -(chosen / scores.sum(-1)).log().mean()

    return loss
