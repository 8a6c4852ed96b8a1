"""What losses that take no labels are given."""

import torch


def _real(*shape: int) -> torch.Tensor:
    return torch.linspace(-2, 2, torch.Size(shape).numel(), dtype=torch.float64).view(shape)


# loss -> outputs and targets; of the others outputs [6, 3] and labels
GIVEN: dict[str, dict[str, torch.Tensor]] = {
    "binary_cross_entropy": {"outputs": _real(6, 1), "targets": torch.tensor([0, 1, 1, 0, 1, 0])},
    "sobolev": {"outputs": _real(6, 3), "targets": _real(6, 3, 5).cos()},
}
