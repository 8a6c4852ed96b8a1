"""The gradient of the penalties against that of the loss."""

import torch
from torch import Tensor

from grokatlas.engine.contracts import Columns, Observable, Params
from grokatlas.engine.keyword_types import NonNegative
from grokatlas.engine.observed import Observed

COLUMNS = {"gradient_ratio": None}


def build(*, threshold: NonNegative) -> Observable:
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

    def observe(view: Observed) -> Columns:
        if not view.penalties:
            raise ValueError("gradient_ratio needs at least one penalty")
        if any(hasattr(penalty, "noise_shape") for penalty in view.penalties):
            raise ValueError("gradient_ratio: a penalty that draws noise has no fixed gradient")
        inputs = view.data["train_inputs"]

        def total(params: Params) -> Tensor:
            values = [penalty(params, view.model, inputs) for penalty in view.penalties]
            return sum(values, values[0].new_zeros(()))

        largest = {key: value * (value.abs() >= threshold) for key, value in view.params.items()}
        penalty, loss = _norm(torch.func.grad(total)(largest)), _norm(view.loss_gradients)
        return {"gradient_ratio": penalty / loss}

    return observe


def _norm(tree: Params) -> Tensor:
    squares = [value.square().sum() for value in tree.values()]
    return sum(squares, squares[0].new_zeros(())).sqrt()
