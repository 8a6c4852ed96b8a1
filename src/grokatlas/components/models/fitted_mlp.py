"""A two-layer ReLU network that starts on the zero-loss set."""

import math
from typing import Any

import torch
from torch import nn

from grokatlas.components.models.mlp import MLP
from grokatlas.engine.contracts import TaskData
from grokatlas.engine.keyword_types import Count, NonNegative


def build(*, data: TaskData, generator: torch.Generator, width: Count, excess: NonNegative) -> MLP:
    """``yhat = relu(x E) W`` without biases, whose second layer fits the training set exactly.

    E is drawn with variance 1/D, V with variance 1/`width`, and with ``H = relu(X E)`` ``[N, H]``

        ``W = H^+ Y + excess (I - H^+ H) V``.

    ``H^+ Y`` is the second layer of least norm (arXiv 2511.01938, below eq. 21). With `excess` 1 it
    is where gradient descent on the second layer alone leads from V. Parameters are named as those
    of `mlp` with one hidden layer: ``E`` is the transpose of ``layers.0.weight`` ``[H, D]``, ``W``
    the transpose of ``layers.1.weight`` ``[C, H]``.

    Args:
        data: the data set; all members share one.
        generator: the member's.
        width: hidden units, at least as many as training samples.
        excess: factor on the part of W that no training output sees.

    Raises:
        ValueError: each member has data of its own, or the hidden units are too few to fit them.
    """
    if data.per_member:
        raise ValueError("fitted_mlp fits one training set; give the task's seed as a number")
    inputs = torch.from_numpy(data.train_inputs).double().flatten(1)
    targets = torch.from_numpy(data.train_targets)
    if not targets.is_floating_point():
        targets = nn.functional.one_hot(targets, data.outputs).double()
    first = torch.empty(width, inputs.shape[1], dtype=torch.float64)
    second = torch.empty(data.outputs, width, dtype=torch.float64)
    for drawn in (first, second):
        drawn.normal_(0.0, drawn.shape[1] ** -0.5, generator=generator)
    hidden = torch.relu(inputs @ first.T)
    if torch.linalg.matrix_rank(hidden) < len(hidden):
        problem = f"width {width} is not allowed: its hidden layer cannot fit"
        raise ValueError(f"{problem} {len(hidden)} training samples; take a larger one")
    second = excess * second.T
    second = second + torch.linalg.pinv(hidden) @ (targets - hidden @ second)
    return MLP([_linear(first), _linear(second.T)], output_scale=1.0)


def _linear(weight: torch.Tensor) -> nn.Linear:
    layer = nn.utils.skip_init(nn.Linear, *weight.shape[::-1], bias=False, dtype=torch.float64)
    with torch.no_grad():
        layer.weight.copy_(weight)
    return layer


def parameters(data: dict[str, Any], *, width: int, **_: Any) -> int:
    """Number of parameters of one member, for data of this `size` (docs/extending.md)."""
    return width * (math.prod(data["shape"]) + data["outputs"])


def written(data: dict[str, Any], *, width: int, **_: Any) -> int:
    """Numbers that a forward pass writes for each sample (docs/extending.md)."""
    return 2 * (width + data["outputs"])
