"""Squared error of outputs, and of their derivatives by inputs."""

from typing import Literal

import torch
from torch import Tensor

from grokatlas.components.losses import mse
from grokatlas.engine.contracts import Hyperparameter, Loss, LossOnNetwork, Model, Params
from grokatlas.engine.keyword_types import NonNegative

COST = 3  # times the work of a step without it: Jacobians


class Sobolev:
    """``value loss + weight * mismatch``.

    Targets are ``[N, C, 1 + D]``: the value ``y_c``, then its derivatives ``dy_c / dx_d`` by the D
    entries of an input, in the order of a flattened input.
    """

    def __init__(self, values: Loss, weight: Hyperparameter, form: str) -> None:
        self.values = values
        self.weight = weight
        self.form = form

    def __call__(self, outputs: Tensor, targets: Tensor) -> Tensor:
        """The value loss alone, of outputs ``[N, C]``."""
        return self.values(outputs, targets[..., 0])

    def on_network(self, params: Params, model: Model, inputs: Tensor, targets: Tensor) -> Tensor:
        """The loss with the mismatch of derivatives.

        Raises:
            ValueError: targets hold no derivatives by these inputs.
        """
        derivatives = inputs[0].numel()
        if targets.ndim != 3 or targets.shape[-1] != 1 + derivatives:
            shape = f"[N, C, {1 + derivatives}]"
            raise ValueError(f"sobolev needs targets {shape}: values, then derivatives by inputs")
        outputs, pull = torch.func.vjp(lambda given: model(params, given), inputs)[:2]
        units = torch.eye(outputs.shape[-1], dtype=outputs.dtype, device=outputs.device)
        rows = [pull(unit.expand_as(outputs))[0].flatten(1) for unit in units]
        jacobian = torch.stack(rows, dim=1)  # [N, C, D]
        square = (jacobian - targets[..., 1:]).square().sum()
        if self.form == "mean_square":
            mismatch = square / len(inputs)
        else:
            zero = square == 0
            mismatch = torch.where(zero, 0.0, torch.where(zero, 1.0, square).sqrt())
        return self(outputs, targets) + self.weight * mismatch


def build(
    *,
    reduction: Literal["mean", "sample_mean", "sum"],
    half: bool,
    weight: NonNegative,
    form: Literal["frobenius", "mean_square"],
) -> LossOnNetwork:
    """The loss of arXiv 2506.05718 for Sobolev training.

    Args:
        reduction: of the value loss, as in `mse`.
        half: whether the value loss has a factor 1/2, as in `mse`.
        weight: factor of the mismatch of Jacobians (beta).
        form: ``frobenius``, ``(sum_n ||J_n - J*_n||_F^2)^(1/2)`` over the whole batch, the
            authors' code; or ``mean_square``, ``(1/N) sum_n ||J_n - J*_n||_F^2``, the paper.
    """
    return Sobolev(mse.build(reduction=reduction, half=half), weight, form)
