"""The neural tangent kernel of one training point with all others."""

import torch
from torch import Tensor

from grokatlas.engine.contracts import Columns, Observable, Params
from grokatlas.engine.keyword_types import Whole
from grokatlas.engine.observed import Observed

ROTATABLE = True  # a rotation of inputs and first-layer weights changes nothing

COLUMNS = {"ntk_mean": None, "ntk_residual_mean": None}


def build(*, probe: Whole) -> Observable:
    """Means over all training points of the kernel with the probe.

    ``K(x_0, x_j) = <grad f(x_0), grad f(x_j)>``, gradients by all parameters, ``f`` the one output.
    The mean over j is one product of two gradients, ``<grad f(x_0), grad mean_j f(x_j)>``.

    Args:
        probe: the place of x_0 among the training points.

    Columns: ``ntk_mean``, the mean of ``K(x_0, x_j)``; and ``ntk_residual_mean``, the mean of
    ``K(x_0, x_j) (y_j - sigmoid(f(x_j)))``: with targets 0 and 1, and times the step size, the
    first change of ``f(x_0)`` under gradient descent on the mean binary cross-entropy (arXiv
    2506.12284, figure 10). A model with more outputs, or a probe that is not a training point, is
    refused with a `ValueError` when observed.
    """

    def observe(view: Observed) -> Columns:
        model, inputs, targets = view.model, view.data["train_inputs"], view.data["train_targets"]
        outputs = view.train_outputs[:, 0]
        if view.train_outputs.shape[-1] != 1:
            raise ValueError("ntk needs a model with one output")
        if probe >= len(inputs):
            raise ValueError(f"ntk.probe {probe} must be less than the {len(inputs)} points")

        def gradient(points: Tensor, weights: Tensor) -> Params:
            return torch.func.grad(lambda p: (weights * model(p, points)[:, 0]).sum())(view.params)

        even = torch.full_like(outputs, 1 / len(inputs))
        own = gradient(inputs[probe : probe + 1], torch.ones_like(outputs[:1]))
        residuals = targets.flatten().to(outputs.dtype) - torch.sigmoid(outputs)
        return {
            "ntk_mean": _product(own, gradient(inputs, even)),
            "ntk_residual_mean": _product(own, gradient(inputs, residuals * even)),
        }

    return observe


def _product(first: Params, second: Params) -> Tensor:
    products = [(value * second[key]).sum() for key, value in first.items()]
    return sum(products, products[0].new_zeros(()))
