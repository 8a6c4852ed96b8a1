"""The accuracy for every form of targets: of observables, measures and noise."""

import torch
from torch import Tensor


def right(outputs: Tensor, targets: Tensor) -> Tensor:
    """1 for each sample that is classified as its target says, else 0: ``[N]``.

    Where an output of a sample is not finite it is no class, and the sample is not a number: the
    comparisons below would take such outputs for class 0.

    Args:
        outputs: ``[N, C]``.
        targets: labels ``[N]`` (with one output, 0 or 1, and a positive output means 1); or real
            ``[N, C]`` (with one output, the signs must agree; with more, the places of the largest
            entries, as for one-hot targets).
    """
    if outputs.shape[-1] == 1:
        positive = targets[:, 0] > 0 if targets.is_floating_point() else targets > 0
        same = (outputs[:, 0] > 0) == positive
    else:
        classes = targets.argmax(-1) if targets.is_floating_point() else targets
        same = outputs.argmax(-1) == classes
    return torch.where(outputs.isfinite().all(-1), same.to(outputs.dtype), float("nan"))


def accuracy(outputs: Tensor, targets: Tensor) -> Tensor:
    """The fraction of samples that are `right`, a scalar in [0, 1].

    Not a number where an output is not finite, as the loss of such outputs is none.
    """
    return right(outputs, targets).mean()
