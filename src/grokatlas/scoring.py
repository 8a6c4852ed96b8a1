"""When an output is right, for every form of targets: for observables and measures."""

from torch import Tensor


def right(outputs: Tensor, targets: Tensor) -> Tensor:
    """Whether each sample is classified as its target says, boolean ``[N]``.

    Args:
        outputs: ``[N, C]``.
        targets: labels ``[N]`` (with one output, 0 or 1, and a positive output means 1); or real
            ``[N, C]`` (with one output, the signs must agree; with more, the places of the largest
            entries, as for one-hot targets).
    """
    single = outputs.shape[-1] == 1
    if targets.is_floating_point():
        if single:
            return (outputs[:, 0] > 0) == (targets[:, 0] > 0)
        return outputs.argmax(-1) == targets.argmax(-1)
    return (outputs[:, 0] > 0) == (targets > 0) if single else outputs.argmax(-1) == targets


def accuracy(outputs: Tensor, targets: Tensor) -> Tensor:
    """The fraction of samples that are `right`, a scalar in [0, 1]."""
    return right(outputs, targets).to(outputs.dtype).mean()
