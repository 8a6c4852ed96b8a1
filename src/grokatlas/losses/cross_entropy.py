"""Cross-entropy of integer labels."""

from collections.abc import Callable

import torch
from torch import Tensor


def build() -> Callable[[Tensor, Tensor], Tensor]:
    """``loss(outputs [N, C], labels [N]) = -mean_n log softmax(outputs_n)[labels_n]``, in nats.

    The mean is over samples, as in ``torch.nn.functional.cross_entropy``.
    """

    def loss(outputs: Tensor, labels: Tensor) -> Tensor:
        chosen = torch.log_softmax(outputs, dim=-1).gather(-1, labels[:, None])
        return -chosen.mean()

    return loss
