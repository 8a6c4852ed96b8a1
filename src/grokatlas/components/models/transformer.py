"""The one-layer transformer on modular addition: attention and an MLP, no layer norm."""

from typing import Any, Literal

import torch
from torch import Tensor, nn
from torch.nn import functional

from grokatlas.components.models._noise import Noisy
from grokatlas.engine.contracts import Shape, TaskData
from grokatlas.engine.keyword_types import Count, Decay, NonNegative

DEFAULTED = {"dropout": None, "weight_noise": None}
PLACES = 3  # tokens of a sample, at which an inner layer is used


class Transformer(nn.Module):
    """Logits ``[N, C]`` at the last position of tokens ``[N, T]``.

    With ``x_t`` the embedding of token ``t`` plus its position's, and ``y`` the last position::

        y = x_T + sum_h O_h sum_t softmax_t(<Q_h x_T, K_h x_t> / sqrt(d_h)) V_h x_t
        logits = (y + W_out relu(W_in y + b_in) + b_out) W_U

    The last position attends to all, so that the causal mask of the source has no effect on it,
    and the other positions of a single layer are not computed.

    Parameters: ``embedding`` ``[V, d]``, ``position`` ``[T, d]``, ``query``, ``key``, ``value``
    ``[heads, d_h, d]``, ``attention_out`` ``[d, heads * d_h]``, ``mlp_in`` ``[H, d]``,
    ``mlp_in_bias`` ``[H]``, ``mlp_out`` ``[d, H]``, ``mlp_out_bias`` ``[d]``, ``unembedding``
    ``[d, C]``. A fixed embedding or unembedding is a buffer of that name: it is not among the
    parameters, so nothing trains, decays or penalises it.
    """

    embedding: Tensor
    position: Tensor
    query: Tensor
    key: Tensor
    value: Tensor
    attention_out: Tensor
    mlp_in: Tensor
    mlp_in_bias: Tensor
    mlp_out: Tensor
    mlp_out_bias: Tensor
    unembedding: Tensor

    def __init__(self, tensors: dict[str, Tensor], fixed: set[str]) -> None:
        super().__init__()
        for name, tensor in tensors.items():
            if name in fixed:
                self.register_buffer(name, tensor)
            else:
                self.register_parameter(name, nn.Parameter(tensor))

    def embed(self, tokens: Tensor) -> Tensor:
        """Features ``[N, T, d]`` of tokens ``[N, T]``, before positions are added.

        The gradient of this lookup is the same for any number of threads.
        """
        return functional.embedding(tokens, self.embedding)

    def forward(self, inputs: Tensor, *, masks: Tensor | None = None) -> Tensor:
        """Logits ``[N, C]`` of tokens ``[N, T]``, or of features ``[N, T, d]`` as from `embed`.

        `masks` ``[2, N, d]`` are of what attention and the MLP add to ``y``.
        """
        features = inputs if inputs.is_floating_point() else self.embed(inputs)
        stream = features + self.position
        last = stream[:, -1]
        queries = _project(last, self.query)  # [N, heads, d_h]
        keys, values = _project(stream, self.key), _project(stream, self.value)
        scores = (queries[:, None] * keys).sum(-1) / keys.shape[-1] ** 0.5  # [N, T, heads]
        mixed = (torch.softmax(scores, dim=1)[..., None] * values).sum(1)
        attended = mixed.flatten(1) @ self.attention_out.T
        last = last + (attended if masks is None else attended * masks[0])
        hidden = torch.relu(last @ self.mlp_in.T + self.mlp_in_bias)
        if masks is not None:
            added = (hidden @ self.mlp_out.T + self.mlp_out_bias) * masks[1]
            return (last + added) @ self.unembedding
        return (last + hidden @ self.mlp_out.T + self.mlp_out_bias) @ self.unembedding


class NoisyTransformer(Noisy, Transformer):
    """A `Transformer` with dropout on what both layers add, and noise on weights, in training."""

    def units(self, samples: int) -> Shape:
        """``[2, N, d]``."""
        return (2, samples, self.position.shape[1])


def _project(stream: Tensor, weight: Tensor) -> Tensor:
    """``[..., d]`` by every head's ``[heads, d_h, d]``, as ``[..., heads, d_h]``."""
    return (stream @ weight.flatten(0, 1).T).unflatten(-1, weight.shape[:2])


def build(
    *,
    data: TaskData,
    generator: torch.Generator,
    dimension: Count,
    heads: Count,
    head_dimension: Count,
    width: Count,
    embedding: Literal["learned", "fixed"],
    unembedding: Literal["learned", "fixed"],
    dropout: Decay | None,
    weight_noise: NonNegative | None,
) -> Transformer:
    """The transformer of arXiv 2506.12284, as in its authors' code, which follows Nanda et al.

    Published: dimension 128, 4 heads of 32, width 512.

    Args:
        data: the data set; its inputs must be tokens ``[N, T]``.
        generator: the member's.
        dimension: of the residual stream, ``d``.
        heads: number of attention heads.
        head_dimension: of queries, keys and values of a head, ``d_h``.
        width: units of the MLP's hidden layer, ``H``.
        embedding: ``learned``, or ``fixed`` at its draw.
        unembedding: ``learned``, or ``fixed`` at its draw.
        dropout: in a step of training, the share of entries that are 0 of what attention and the
            MLP add to the stream, drawn for each sample (Vaswani et al., arXiv 1706.03762, section
            5.4); the others are multiplied by ``1 / (1 - dropout)``. Null: none.
        weight_noise: in a step of training, the standard deviation of normal noise that is added to
            each parameter, one draw for the whole batch (Power et al., arXiv 2201.02177); null:
            none.

    Every weight is drawn from N(0, 1/d), the unembedding from N(0, 1/C) (variances); biases are 0.
    Source: the notebook of Nanda et al., "Progress measures for grokking via mechanistic
    interpretability" (arXiv 2301.05217), whose ``C`` is the vocabulary with ``=``: 114 for p 113.

    Raises:
        ValueError: the inputs are not tokens.
    """
    tokens, shape = data.vocabulary, data.input_shape
    if tokens is None or len(shape) != 1:
        raise ValueError("transformer needs tokens [N, T]: a task with encoding tokens")

    def draw(*sizes: int, variance: float = 1 / dimension) -> Tensor:
        normal = torch.randn(sizes, generator=generator, dtype=torch.float64)
        return variance**0.5 * normal

    tensors = {
        "embedding": draw(tokens, dimension),
        "position": draw(shape[0], dimension),
        "query": draw(heads, head_dimension, dimension),
        "key": draw(heads, head_dimension, dimension),
        "value": draw(heads, head_dimension, dimension),
        "attention_out": draw(dimension, heads * head_dimension),
        "mlp_in": draw(width, dimension),
        "mlp_in_bias": torch.zeros(width, dtype=torch.float64),
        "mlp_out": draw(dimension, width),
        "mlp_out_bias": torch.zeros(dimension, dtype=torch.float64),
        "unembedding": draw(dimension, data.outputs, variance=1 / data.outputs),
    }
    how = {"embedding": embedding, "unembedding": unembedding}
    fixed = {name for name in how if how[name] == "fixed"}
    if dropout is None and weight_noise is None:
        return Transformer(tensors, fixed)
    model = NoisyTransformer(tensors, fixed)
    model.set_rates(dropout, weight_noise)
    return model


def parameters(
    data: dict[str, Any], *, dimension: int, heads: int, head_dimension: int, width: int, **_: Any
) -> int:
    """Number of parameters of one member, for data of this `size` (docs/extending.md)."""
    tokens, places = data["vocabulary"], data["shape"][0]
    ends = dimension * (tokens + data["outputs"] + places)
    attention = 4 * heads * head_dimension * dimension
    return ends + attention + 2 * width * dimension + width + dimension


def written(
    data: dict[str, Any], *, dimension: int, heads: int, head_dimension: int, width: int, **_: Any
) -> int:
    """Numbers that a forward pass writes for each sample (docs/extending.md)."""
    places, mixed = data["shape"][0], heads * head_dimension
    attention = places * (2 * dimension + 4 * mixed) + 2 * mixed
    return attention + 5 * dimension + 3 * width + int(data["outputs"])


def noise(
    parameters: int,
    samples: int,
    *,
    dimension: int,
    dropout: float | None = 0.0,
    weight_noise: float | None = 0.0,
    **_: Any,
) -> int:
    """Numbers of noise in a step of one member; rates may be a member's (docs/extending.md)."""
    units = 0 if dropout is None else 2 * dimension * samples
    return units + (0 if weight_noise is None else parameters)
