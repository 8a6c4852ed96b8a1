"""Keywords of every penalty, and its gradient in closed form."""

from typing import Any

import torch

EXAMPLES: dict[str, list[dict[str, Any]]] = {
    "l2": [{"weight": 0.01, "squared": True}, {"weight": 0.01, "squared": False}],
}


def _l2(param: torch.Tensor, weight: float, squared: bool) -> torch.Tensor:
    return weight * (2 * param if squared else param / param.square().sum().sqrt())


# penalty -> gradient for one parameter, in closed form
GRADIENTS = {"l2": _l2}
