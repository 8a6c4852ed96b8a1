"""Gradients of bounded norm."""

import torch

from grokatlas.engine.contracts import GradientLink, Hyperparameter, Params, Tree
from grokatlas.engine.keyword_types import Positive

ROTATABLE = True  # a rotation of inputs and first-layer weights changes nothing

EPS = 1e-6  # torch's


class ClipNorm:
    """``g <- g * min(1, max_norm / (|g|_2 + 1e-6))``, ``|g|_2`` over all parameters together.

    As ``torch.nn.utils.clip_grad_norm_``.
    """

    def __init__(self, max_norm: Hyperparameter) -> None:
        self.max_norm = max_norm

    def init(self, params: Params) -> Tree:
        """No state."""
        return {}

    def update(self, params: Params, grads: Params, state: Tree) -> tuple[Params, Tree]:
        """The gradients, scaled down if they are too long."""
        squares = torch.stack([grad.square().sum() for grad in grads.values()])
        factor = (self.max_norm / (squares.sum().sqrt() + EPS)).clamp(max=1.0)
        return {key: factor * grad for key, grad in grads.items()}, state


def build(*, max_norm: Positive) -> GradientLink[Tree]:
    """Gradients of Euclidean norm at most `max_norm`."""
    return ClipNorm(max_norm)
