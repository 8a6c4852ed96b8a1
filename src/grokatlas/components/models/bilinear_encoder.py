"""The modular addition network of `beyond_l2`: two embedded tokens, composed, then an MLP."""

from typing import Any, Literal

import torch
from torch import Tensor, nn
from torch.nn import functional

from grokatlas.engine.contracts import TaskData
from grokatlas.engine.keyword_types import Count


class BilinearEncoder(nn.Module):
    """``readout(relu(hidden(E_a * E_b)))`` for tokens ``[N, 2]``; outputs ``[N, C]``.

    ``*`` is the composition of two embeddings of dimension ``side^2``: their product as ``side`` x
    ``side`` matrices, their entrywise product, or their sum. Parameters: ``embedding.<k>`` ``[V,
    side^2]`` (one if shared, else two), ``hidden.weight``, ``readout.weight`` and, with biases,
    ``hidden.bias``, ``readout.bias``.
    """

    def __init__(
        self, tables: list[Tensor], hidden: nn.Linear, readout: nn.Linear, composition: str
    ) -> None:
        super().__init__()
        self.embedding = nn.ParameterList([nn.Parameter(table) for table in tables])
        self.hidden = hidden
        self.readout = readout
        self.composition = composition

    def embed(self, tokens: Tensor) -> Tensor:
        """Features ``[N, 2, side^2]`` of token pairs ``[N, 2]``."""
        return torch.stack(self._sides(tokens), 1)

    def forward(self, inputs: Tensor) -> Tensor:
        """Outputs ``[N, C]`` of token pairs ``[N, 2]``, or of features as from `embed`."""
        left, right = inputs.unbind(1) if inputs.is_floating_point() else self._sides(inputs)
        if self.composition == "matrix_product":
            side = round(left.shape[-1] ** 0.5)
            product = left.unflatten(-1, (side, side)) @ right.unflatten(-1, (side, side))
            composed = product.flatten(-2)
        elif self.composition == "hadamard_product":
            composed = left * right
        else:
            composed = left + right
        return self.readout(torch.relu(self.hidden(composed)))

    def _sides(self, tokens: Tensor) -> list[Tensor]:
        """The embeddings of both tokens, ``[N, side^2]`` each.

        The gradient of this lookup is the same for any number of threads.
        """
        tables = (self.embedding[0], self.embedding[-1])
        columns = zip(tokens.unbind(1), tables, strict=True)
        return [functional.embedding(column, table) for column, table in columns]


def build(
    *,
    data: TaskData,
    generator: torch.Generator,
    embedding: Literal["shared", "separate"],
    composition: Literal["matrix_product", "hadamard_product", "sum"],
    side: Count,
    width: Count,
    bias: bool,
) -> BilinearEncoder:
    """The network of arXiv 2506.05718, figure 1.

    Args:
        data: the data set; its inputs must be token pairs.
        generator: the member's.
        embedding: one table for both tokens (the blog's formula) or two (the authors' notebook).
        composition: how two embeddings become one.
        side: an embedding has ``side^2`` entries.
        width: units of the hidden layer.
        bias: whether hidden layer and readout have biases.

    Embeddings are drawn as PyTorch draws a linear layer's weight, U(-1/sqrt(V), 1/sqrt(V)); hidden
    and readout weights from N(0, 1/fan_out) (variance); biases as PyTorch does.

    Raises:
        ValueError: the inputs are not pairs of tokens.
    """
    tokens, size = data.vocabulary, side * side
    if tokens is None or data.input_shape != (2,):
        raise ValueError("bilinear_encoder needs pairs of tokens: a task with encoding tokens")

    def linear(before: int, after: int) -> nn.Linear:
        layer = nn.utils.skip_init(nn.Linear, before, after, bias=bias, dtype=torch.float64)
        with torch.no_grad():
            layer.weight.normal_(0.0, after**-0.5, generator=generator)
            if bias:
                layer.bias.uniform_(-(before**-0.5), before**-0.5, generator=generator)
        return layer

    tables = []
    for _ in range(1 if embedding == "shared" else 2):
        table = torch.empty(tokens, size, dtype=torch.float64)
        tables.append(table.uniform_(-(tokens**-0.5), tokens**-0.5, generator=generator))
    return BilinearEncoder(tables, linear(size, width), linear(width, data.outputs), composition)


def parameters(
    data: dict[str, Any], *, embedding: str, side: int, width: int, bias: bool, **_: Any
) -> int:
    """Number of parameters of one member, for data of this `size` (docs/extending.md)."""
    size, outputs = side * side, data["outputs"]
    tables = (1 if embedding == "shared" else 2) * data["vocabulary"] * size
    return tables + size * width + width * outputs + (width + outputs if bias else 0)


def written(data: dict[str, Any], *, side: int, width: int, **_: Any) -> int:
    """Numbers that a forward pass writes for each sample (docs/extending.md)."""
    return 3 * side * side + 2 * width + int(data["outputs"])
