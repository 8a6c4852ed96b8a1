"""The network of Gromov: one hidden layer of squares, without biases."""

import math
from typing import Any

import torch
from torch import Tensor, nn

from grokatlas.components.models._noise import Noisy
from grokatlas.engine.contracts import Shape, TaskData
from grokatlas.engine.keyword_types import Count, Decay


class QuadraticMLP(nn.Module):
    """``x -> W (U x)^2``; ``x`` is flattened.

    Parameters are ``first``, U ``[H, D]``, and ``second``, W ``[C, H]``.
    """

    def __init__(self, first: Tensor, second: Tensor) -> None:
        super().__init__()
        self.first = nn.Parameter(first)
        self.second = nn.Parameter(second)

    def forward(self, inputs: Tensor, *, masks: Tensor | None = None) -> Tensor:
        """Outputs ``[N, C]`` of inputs ``[N, ...]``; `masks` ``[N, H]`` are of ``U x``."""
        hidden = inputs.flatten(1) @ self.first.T
        if masks is not None:
            hidden = hidden * masks
        return hidden.square() @ self.second.T


class NoisyQuadraticMLP(Noisy, QuadraticMLP):
    """A `QuadraticMLP` whose hidden units are dropped in training."""

    def units(self, samples: int) -> Shape:
        """``[N, H]``."""
        return (samples, len(dict(self.named_parameters())["first"]))


def build(
    *, data: TaskData, generator: torch.Generator, width: Count, dropout: Decay | None
) -> QuadraticMLP:
    """A network whose weights are drawn from N(0, (2 H)^(-2/3) / 4) (variance).

    Source: Doshi et al., arXiv 2310.13061, and ``fcn`` of the authors' code; published: width 500.

    Args:
        data: the data set, for its shapes.
        generator: the member's.
        width: H, the hidden units.
        dropout: in a step of training, the share of entries of ``U x`` that are 0, before they are
            squared; others are multiplied by ``1 / (1 - dropout)``. Null: none.

    Raises:
        ValueError: inputs are tokens.
    """
    if data.vocabulary is not None:
        raise ValueError("quadratic_mlp needs real inputs: a task with encoding one_hot")
    inputs = torch.Size(data.input_shape).numel()
    deviation = 0.5 / (2 * width) ** (1 / 3)

    def draw(*sizes: int) -> Tensor:
        return deviation * torch.randn(sizes, generator=generator, dtype=torch.float64)

    weights = draw(width, inputs), draw(data.outputs, width)
    if dropout is None:
        return QuadraticMLP(*weights)
    model = NoisyQuadraticMLP(*weights)
    model.set_rates(dropout, None)
    return model


def parameters(data: dict[str, Any], *, width: int, **_: Any) -> int:
    """Number of parameters of one member, for data of this `size` (docs/extending.md)."""
    return width * (math.prod(data["shape"]) + int(data["outputs"]))


def written(data: dict[str, Any], *, width: int, **_: Any) -> int:
    """Numbers that a forward pass writes for each sample (docs/extending.md)."""
    return 2 * width + int(data["outputs"])


def noise(
    parameters: int, samples: int, *, width: int, dropout: float | None = 0.0, **_: Any
) -> int:
    """Numbers of noise in a step of one member (docs/extending.md)."""
    del parameters
    return 0 if dropout is None else width * samples
