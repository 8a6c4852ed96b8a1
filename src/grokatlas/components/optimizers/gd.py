"""Gradient descent."""

from typing import Any

from grokatlas.engine.keyword_types import Positive

ROTATABLE = True  # a rotation of inputs and first-layer weights changes nothing


class GradientDescent:
    """``params <- params - lr * grads``."""

    def __init__(self, lr: Any) -> None:
        self.lr = lr

    def init(self, params: dict) -> dict:
        """No state."""
        return {}

    def update(self, params: dict, grads: dict, state: dict) -> tuple[dict, dict]:
        """The parameters after one step."""
        return {key: value - self.lr * grads[key] for key, value in params.items()}, state


def build(*, lr: Positive) -> GradientDescent:
    """Gradient descent with step size `lr`, as ``torch.optim.SGD`` without momentum or decay."""
    return GradientDescent(lr)
