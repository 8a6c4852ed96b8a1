"""Keywords of every penalty, and its gradient in closed form."""

from typing import Any

EXAMPLES: dict[str, list[dict[str, Any]]] = {
    "l2": [{"weight": 0.01, "squared": True}, {"weight": 0.01, "squared": False}],
}


def _l2(penalty: Any, params: dict, model: Any, inputs: Any, weight: float, squared: bool) -> dict:
    norms = {key: value.square().sum().sqrt() for key, value in params.items()}
    return {k: weight * (2 * v if squared else v / norms[k]) for k, v in params.items()}


# penalty -> gradients by parameter in closed form, from its `build`'s object, parameters, the model
# (an MLP), inputs and keywords
GRADIENTS = {"l2": _l2}
