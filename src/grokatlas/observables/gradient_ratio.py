"""The gradient of the loss against that of the penalties."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor


def build() -> Callable[[Any], dict]:
    """Column ``gradient_ratio``: ``||grad g|| / ||grad (beta h)||``, l2 norms over all parameters.

    ``g`` is the loss on the whole training set, ``beta h`` the sum of the run's penalties, weights
    included, given the training inputs; where a penalty is not differentiable its gradient is the
    subgradient that training uses. Source: arXiv 2506.05718, figure 5.

    A run without penalties, and one with a penalty that draws noise (whose gradient is random), is
    refused with a `ValueError` when observed.
    """

    def observe(view: Any) -> dict:
        if not view.penalties:
            raise ValueError("gradient_ratio needs at least one penalty")
        if any(hasattr(penalty, "noise_shape") for penalty in view.penalties):
            raise ValueError("gradient_ratio: a penalty that draws noise has no fixed gradient")
        inputs = view.data["train_inputs"]

        def total(params: dict) -> Tensor:
            return sum(penalty(params, view.model, inputs) for penalty in view.penalties)

        return {
            "gradient_ratio": _norm(view.loss_gradients)
            / _norm(torch.func.grad(total)(view.params))
        }

    return observe


def _norm(tree: dict[str, Tensor]) -> Tensor:
    return sum(value.square().sum() for value in tree.values()).sqrt()
