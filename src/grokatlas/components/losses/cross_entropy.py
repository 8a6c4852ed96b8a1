"""Cross-entropy of integer labels."""

import torch
from torch import Tensor

from grokatlas.engine.contracts import Loss

ROTATABLE = True  # a rotation of inputs and first-layer weights changes nothing


def build() -> Loss:
    """``loss(outputs [N, C], labels [N]) = -mean_n log softmax(outputs_n)[labels_n]``, in nats.

    The mean is over samples, as in ``torch.nn.functional.cross_entropy``.

    Raises:
        ValueError: when called: targets are real, or the model has one output.
    """

    def loss(outputs: Tensor, labels: Tensor) -> Tensor:
        if labels.is_floating_point():
            raise ValueError("cross_entropy needs a task with labels; for real targets take mse")
        if outputs.shape[-1] == 1:
            raise ValueError("cross_entropy is 0 of one output; take binary_cross_entropy")
        chosen = torch.log_softmax(outputs, dim=-1).gather(-1, labels[:, None])
        return -chosen.mean()

    return loss
