"""Keywords of every loss, and what those that take no labels are given."""

from typing import Any

import torch

EXAMPLES: dict[str, list[dict[str, Any]]] = {
    "binary_cross_entropy": [{}],
    "cross_entropy": [{}],
    "mse": [
        {"reduction": "mean", "half": False},
        {"reduction": "sample_mean", "half": True},
        {"reduction": "sum", "half": False},
    ],
    "sobolev": [
        {"reduction": "mean", "half": False, "weight": 0.1, "form": "frobenius"},
        {"reduction": "mean", "half": True, "weight": 0.1, "form": "mean_square"},
    ],
}


def _real(*shape: int) -> torch.Tensor:
    return torch.linspace(-2, 2, torch.Size(shape).numel(), dtype=torch.float64).view(shape)


# loss -> outputs and targets; of the others outputs [6, 3] and labels
GIVEN: dict[str, dict[str, torch.Tensor]] = {
    "binary_cross_entropy": {"outputs": _real(6, 1), "targets": torch.tensor([0, 1, 1, 0, 1, 0])},
    "sobolev": {"outputs": _real(6, 3), "targets": _real(6, 3, 5).cos()},
}
