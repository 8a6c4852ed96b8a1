"""A two-layer network of smooth units that starts on the zero-loss set."""

import math
from typing import Any

import torch
from torch import Tensor, nn

from grokatlas.components.models import fitted_mlp
from grokatlas.components.models.mlp import MLP
from grokatlas.engine.contracts import TaskData
from grokatlas.engine.keyword_types import Count, Positive


class SoftplusMLP(MLP):
    """``yhat = s(x E) W``, ``s(z) = log(1 + exp(b z)) / b``, with ``b`` the buffer `sharpness`."""

    sharpness: Tensor

    def __init__(self, layers: list[nn.Linear], sharpness: float) -> None:
        super().__init__(layers, output_scale=1.0)
        self.register_buffer("sharpness", torch.tensor(sharpness, dtype=torch.float64))

    def forward(self, inputs: Tensor, *, masks: Tensor | None = None) -> Tensor:
        """Outputs ``[N, C]`` of inputs ``[N, ...]``; it takes no `masks`."""
        return self.layers[1](softplus(self.layers[0](inputs.flatten(1)), self.sharpness))


def softplus(values: Tensor, sharpness: Tensor) -> Tensor:
    """``log(1 + exp(b z)) / b``, which has no kink at 0; its slope is ``sigmoid(b z)``."""
    return torch.logaddexp(sharpness * values, torch.zeros_like(values)) / sharpness


def build(
    *, data: TaskData, generator: torch.Generator, width: Count, sharpness: Positive
) -> SoftplusMLP:
    """`fitted_mlp` with softplus in place of ReLU, and a second layer of least norm.

    E and the draws of a seed are those of `fitted_mlp`; with ``H = s(X E)`` the second layer is ``W
    = H^+ Y``. For a control of what kinks of the units do.

    Args:
        data: the data set; all members share one.
        generator: the member's.
        width: hidden units, at least as many as training samples.
        sharpness: b; as it grows, units become ReLU.

    Raises:
        ValueError: each member has data of its own, or the hidden units are too few to fit them.
    """
    drawn = fitted_mlp.build(data=data, generator=generator, width=width, excess=0.0)
    first = dict(drawn.named_parameters())["layers.0.weight"].detach()
    inputs = torch.from_numpy(data.train_inputs).double().flatten(1)
    targets = torch.from_numpy(data.train_targets)
    if not targets.is_floating_point():
        targets = nn.functional.one_hot(targets, data.outputs).double()
    hidden = softplus(inputs @ first.T, torch.tensor(sharpness, dtype=torch.float64))
    second = (torch.linalg.pinv(hidden) @ targets).T
    return SoftplusMLP([fitted_mlp._linear(first), fitted_mlp._linear(second)], sharpness)


def parameters(data: dict[str, Any], *, width: int, **_: Any) -> int:
    """Number of parameters of one member, for data of this `size` (docs/extending.md)."""
    return width * (math.prod(data["shape"]) + data["outputs"])


def written(data: dict[str, Any], *, width: int, **_: Any) -> int:
    """Numbers that a forward pass writes for each sample (docs/extending.md)."""
    return 2 * (width + data["outputs"])
