"""Squared error, with its conventions by name."""

from typing import Literal

import torch
from torch import Tensor

from grokatlas.engine.contracts import Loss

ROTATABLE = True  # a rotation of inputs and first-layer weights changes nothing


def build(*, reduction: Literal["mean", "sample_mean", "sum"], half: bool) -> Loss:
    """``loss(outputs [N, C], targets)`` over squared residuals.

    Args:
        reduction: ``mean`` over samples and outputs (PyTorch's), ``sample_mean`` over samples of
            the sum over outputs, or ``sum`` over both.
        half: whether it has a factor 1/2.

    Targets are ``[N, C]``, or integer labels ``[N]`` that are made one-hot.

    Raises:
        ValueError: when called: real targets have another shape than the outputs, or labels have
            one output.
    """

    def loss(outputs: Tensor, targets: Tensor) -> Tensor:
        if not targets.is_floating_point():
            if outputs.shape[-1] == 1:
                problem = "mse needs real targets for one output, not labels"
                raise ValueError(f"{problem}; take binary_cross_entropy, or other targets")
            classes = torch.arange(outputs.shape[-1], device=targets.device)  # one_hot reads values
            targets = (targets[:, None] == classes).to(outputs.dtype)
        if targets.shape != outputs.shape:
            sizes = f"{tuple(targets.shape)}, the model's outputs {tuple(outputs.shape)}"
            raise ValueError(f"mse needs a target for each output: targets are {sizes}")
        squares = (outputs - targets).square()
        if reduction == "mean":
            value = squares.mean()
        elif reduction == "sample_mean":
            value = squares.sum(-1).mean()
        else:
            value = squares.sum()
        return value / 2 if half else value

    return loss
