"""The share of training points whose cross-entropy has rounded to zero."""

import torch
from torch import Tensor

from grokatlas.engine.contracts import Buffers, Columns, Model, Observable, Params
from grokatlas.engine.observed import Observed

COLUMNS = {"largest_residual": None, "collapsed_points": None, "largest_gradient": None}


class _ShiftedModel:
    """A `Model` with numbers added to its outputs, by which a loss is then differentiated."""

    def __init__(self, model: Model, shift: Tensor) -> None:
        self._model = model
        self._shift = shift

    @property
    def constants(self) -> Buffers:
        """The member's buffers."""
        return self._model.constants

    def __call__(self, params: Params, inputs: Tensor) -> Tensor:
        """Outputs ``[N, C]`` of inputs ``[N, ...]``, shifted."""
        return self._model(params, inputs) + self._shift

    def features(self, params: Params, inputs: Tensor) -> Tensor:
        """The variable of derivatives."""
        return self._model.features(params, inputs)


def build() -> Observable:
    """Residuals of the right classes, and the largest gradient, as training computes them.

    With the loss ``g`` on the training set, outputs ``f`` and labels ``y``, the residual of point n
    is ``r_n = |N dg / df_(n, y_n)|``. Under cross-entropy it is ``1 - p_n``, where ``p_n`` is the
    probability of the right class. It is taken from the gradient that reaches the model, in the
    precision of the loss (``train.loss_dtype``): once ``1 - p_n`` is below about 6e-8 in float32,
    or 1e-16 in float64, ``r_n`` is exactly 0. Prieto et al. 2025 (arXiv 2501.04697) call this
    softmax collapse. Wrong classes keep their part of the gradient, so that the gradient by the
    parameters need not be 0.

    Columns: ``largest_residual`` is the largest ``r_n``, ``collapsed_points`` the share of points
    with ``r_n = 0``, and ``largest_gradient`` the largest size of an entry of ``dg / dp`` over all
    parameters p, without penalties, to be compared with the constant eps of Adam.

    A run without labels is refused with a `ValueError` when observed.
    """

    def observe(view: Observed) -> Columns:
        inputs, labels = view.data["train_inputs"], view.data["train_targets"]
        loss = view.loss
        if labels.is_floating_point() or loss is None:
            raise ValueError("softmax_collapse needs a loss of labels, not of real targets")

        def shifted(shift: Tensor) -> Tensor:
            return loss(view.params, _ShiftedModel(view.model, shift), inputs, labels)

        gradient = torch.func.grad(shifted)(torch.zeros_like(view.train_outputs))
        residuals = len(labels) * gradient.gather(-1, labels[:, None]).abs()
        collapsed = torch.where(
            residuals.isfinite(), (residuals == 0).to(residuals.dtype), torch.nan
        )
        sizes = [value.abs().max() for value in view.loss_gradients.values()]
        return {
            "largest_residual": residuals.max(),
            "collapsed_points": collapsed.mean(),
            "largest_gradient": torch.stack(sizes).max(),
        }

    return observe
