"""Gradients without their part along the weights."""

import torch
from torch import Tensor

from grokatlas.engine.contracts import GradientLink, Params, Tree

ROTATABLE = True  # a rotation of inputs and first-layer weights changes nothing

TINY = 1e-30  # of the authors' code: a norm of 0 gives no NaN


class Orthogonal:
    """``g <- |g| g' / |g'|`` with ``g' = g - (w g / w w) w``, for each parameter ``w`` by itself.

    A parameter of one entry has no such direction, and its gradient becomes 0. Source: Prieto et
    al., arXiv 2501.04697, and ``orthograd.py`` of the authors' code.
    """

    def init(self, params: Params) -> Tree:
        """No state."""
        return {}

    def update(self, params: Params, grads: Params, state: Tree) -> tuple[Params, Tree]:
        """The orthogonal gradients, each as long as it was."""
        return {key: _orthogonal(params[key], grad) for key, grad in grads.items()}, state


def _orthogonal(weight: Tensor, grad: Tensor) -> Tensor:
    if grad.numel() == 1:  # else rounding, scaled up
        return torch.zeros_like(grad)
    along = (weight * grad).sum() / (weight.square().sum() + TINY)
    across = grad - along * weight
    length = grad.square().sum().sqrt() / (across.square().sum().sqrt() + TINY)
    return length * across


def build() -> GradientLink[Tree]:
    """Gradients that do not change the norm of a parameter to first order."""
    return Orthogonal()
