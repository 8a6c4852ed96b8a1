"""The gradient of the penalties against that of the loss."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from grokatlas.engine.keyword_types import NonNegative

COLUMNS = {"gradient_ratio": None}


def build(*, threshold: NonNegative) -> Callable[[Any], dict]:
    """Column ``gradient_ratio``: ``||grad (beta h)|| / ||grad g||``, l2 norms over all parameters.

    ``g`` is the loss on the whole training set, ``beta h`` the sum of the run's penalties, weights
    included, given the training inputs; where a penalty is not differentiable its gradient is the
    subgradient that training uses. Source: arXiv 2506.05718, figure 5, as coded.

    A run without penalties, and one with a penalty that draws noise (whose gradient is random), is
    refused with a `ValueError` when observed.

    Args:
        threshold: entries below it in size count as zero in the penalties' gradient; subgradient
            descent leaves no exact zeros.
    """

    def observe(view: Any) -> dict:
        if not view.penalties:
            raise ValueError("gradient_ratio needs at least one penalty")
        if any(hasattr(penalty, "noise_shape") for penalty in view.penalties):
            raise ValueError("gradient_ratio: a penalty that draws noise has no fixed gradient")
        inputs = view.data["train_inputs"]

        def total(params: dict) -> Tensor:
            return sum(penalty(params, view.model, inputs) for penalty in view.penalties)

        kept = {key: value * (value.abs() >= threshold) for key, value in view.params.items()}
        penalty, loss = _norm(torch.func.grad(total)(kept)), _norm(view.loss_gradients)
        return {"gradient_ratio": penalty / loss}

    return observe


def _norm(tree: dict[str, Tensor]) -> Tensor:
    return sum(value.square().sum() for value in tree.values()).sqrt()
