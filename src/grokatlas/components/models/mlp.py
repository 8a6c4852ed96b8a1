"""The multilayer perceptron with ReLU."""

import math
from itertools import pairwise
from typing import Any, Literal

import torch
from torch import Tensor, nn

from grokatlas.components.models._noise import Noisy
from grokatlas.engine.contracts import Shape, TaskData
from grokatlas.engine.keyword_types import Count, Decay, NonNegative

ROTATABLE = True  # a rotation of inputs and first-layer weights changes nothing
DEFAULTED = {"dropout": None, "weight_noise": None}


class MLP(nn.Module):
    """``x -> relu(x W_1^T + b_1) -> ... -> output_scale * (h W_L^T + b_L)``; ``x`` is flattened.

    Parameters are ``layers.<l>.weight`` ``[out, in]`` and, where there is one, ``layers.<l>.bias``.
    """

    output_scale: Tensor

    def __init__(self, layers: list[nn.Linear], output_scale: float) -> None:
        super().__init__()
        self.layers = nn.ModuleList(layers)
        self.register_buffer("output_scale", torch.tensor(output_scale, dtype=torch.float64))

    def forward(self, inputs: Tensor, *, masks: Tensor | None = None) -> Tensor:
        """Outputs ``[N, C]`` of inputs ``[N, ...]``; `masks` ``[L - 1, N, H]`` are of units."""
        hidden = inputs.flatten(1)
        for index, layer in enumerate(self.layers[:-1]):
            hidden = torch.relu(layer(hidden))
            if masks is not None:
                hidden = hidden * masks[index]
        return self.output_scale * self.layers[-1](hidden)


class NoisyMLP(Noisy, MLP):
    """An `MLP` whose hidden units are dropped, and whose parameters get noise, in training."""

    def units(self, samples: int) -> Shape:
        """``[L - 1, N, H]``."""
        weight = dict(self.named_parameters())["layers.0.weight"]
        return (len(self.layers) - 1, samples, len(weight))


def build(
    *,
    data: TaskData,
    generator: torch.Generator,
    width: Count,
    hidden_layers: Count,
    bias: bool | Literal["hidden"],
    init_law: Literal["uniform_fan_in", "normal_fan_in", "normal_fan_out", "normal"],
    init_scale: NonNegative,
    output_scale: NonNegative,
    dropout: Decay | None,
    weight_noise: NonNegative | None,
) -> MLP:
    """An MLP of equal hidden layers.

    Args:
        data: the data set, for its shapes.
        generator: the member's.
        width: units of a hidden layer.
        hidden_layers: number of hidden layers (`hidden_layers` + 1 linear maps).
        bias: whether layers have biases; ``hidden`` for all layers but the last.
        init_law: of weights: ``uniform_fan_in`` U(-1/sqrt(in), 1/sqrt(in)), PyTorch's default;
            ``normal_fan_in`` N(0, 1/in); ``normal_fan_out`` N(0, 1/out); ``normal`` N(0, 1)
            (variances).
        init_scale: factor on every drawn weight and bias.
        output_scale: factor on the outputs, not trained.
        dropout: in a step of training, the share of hidden units that are 0, drawn for each sample
            (Srivastava et al. 2014); others are multiplied by ``1 / (1 - dropout)``. Null: none.
        weight_noise: in a step of training, the standard deviation of normal noise that is added to
            each parameter, one draw for the whole batch; null: none.

    Biases are drawn as PyTorch does, from U(-1/sqrt(in), 1/sqrt(in)), and with ``normal`` from the
    law of the weights: arXiv 2505.20172, figure 3, is ``bias: hidden``, ``init_law: normal`` with
    `init_scale` 2, the standard deviation of every parameter.

    Raises:
        ValueError: inputs are tokens.
    """
    if data.vocabulary is not None:
        raise ValueError("mlp needs real inputs, not tokens: a task with another encoding")
    inputs = torch.Size(data.input_shape).numel()
    sizes = [inputs, *[width] * hidden_layers, data.outputs]
    layers = []
    for place, (before, after) in enumerate(pairwise(sizes)):
        biased = place < hidden_layers if bias == "hidden" else bias
        layer = nn.utils.skip_init(nn.Linear, before, after, bias=biased, dtype=torch.float64)
        with torch.no_grad():
            for tensor in (layer.weight, layer.bias) if biased else (layer.weight,):
                _draw(tensor, before, after, init_law, generator)
                tensor.mul_(init_scale)
        layers.append(layer)
    if dropout is None and weight_noise is None:
        return MLP(layers, output_scale)
    model = NoisyMLP(layers, output_scale)
    model.set_rates(dropout, weight_noise)
    return model


def _draw(
    tensor: Tensor, before: int, after: int, init_law: str, generator: torch.Generator
) -> None:
    """Draw the weight or the bias of a layer, in place, without `init_scale`."""
    fans = {"normal_fan_in": before, "normal_fan_out": after, "normal": 1}
    if init_law == "uniform_fan_in" or (tensor.ndim == 1 and init_law != "normal"):
        tensor.uniform_(-(before**-0.5), before**-0.5, generator=generator)
    else:
        tensor.normal_(0.0, fans[init_law] ** -0.5, generator=generator)


def parameters(data: dict[str, Any], *, width: int, hidden_layers: int, bias: Any, **_: Any) -> int:
    """Number of parameters of one member, for data of this `size` (docs/extending.md)."""
    inputs, outputs = math.prod(data["shape"]), data["outputs"]
    weights = width * (inputs + outputs + (hidden_layers - 1) * width)
    hidden = hidden_layers * width if bias else 0
    return weights + hidden + (outputs if bias is True else 0)


def written(data: dict[str, Any], *, width: int, hidden_layers: int, **_: Any) -> int:
    """Numbers that a forward pass writes for each sample (docs/extending.md)."""
    return 2 * (hidden_layers * width + data["outputs"])


def noise(
    parameters: int,
    samples: int,
    *,
    width: int,
    hidden_layers: int,
    dropout: float | None = 0.0,
    weight_noise: float | None = 0.0,
    **_: Any,
) -> int:
    """Numbers of noise in a step of one member; rates may be a member's (docs/extending.md)."""
    units = 0 if dropout is None else hidden_layers * width * samples
    return units + (0 if weight_noise is None else parameters)
