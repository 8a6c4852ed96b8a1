"""Gradient descent."""

from grokatlas.engine.contracts import Hyperparameter, Optimizer, Params, Tree
from grokatlas.engine.keyword_types import Positive

ROTATABLE = True  # a rotation of inputs and first-layer weights changes nothing


class GradientDescent:
    """``params <- params - lr * grads``."""

    def __init__(self, lr: Hyperparameter) -> None:
        self.lr = lr

    def init(self, params: Params) -> Tree:
        """No state."""
        return {}

    def update(self, params: Params, grads: Params, state: Tree) -> tuple[Params, Tree]:
        """The parameters after one step."""
        return {key: value - self.lr * grads[key] for key, value in params.items()}, state


def build(*, lr: Positive) -> Optimizer[Tree]:
    """Gradient descent with step size `lr`, as ``torch.optim.SGD`` without momentum or decay."""
    return GradientDescent(lr)
