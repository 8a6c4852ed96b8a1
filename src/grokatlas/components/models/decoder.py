"""The decoder of several layers: causal attention, an MLP and layer norms in each."""

from typing import Any, Literal

import torch
from torch import Tensor, nn
from torch.nn import functional

from grokatlas.engine.contracts import TaskData
from grokatlas.engine.keyword_types import Count

PLACES = 4  # tokens of a sample, at which an inner layer is used


class Block(nn.Module):
    """Attention and an MLP, each added to the stream; `layer_norm` says where norms stand."""

    def __init__(
        self, dimension: int, heads: int, width: int, layer_norm: str, activation: str, bias: bool
    ) -> None:
        super().__init__()
        self.heads = heads
        self.after = layer_norm == "after"
        self.activation = torch.relu if activation == "relu" else functional.gelu
        self.norm_1 = _norm(dimension)
        self.attention_in = _linear(dimension, 3 * dimension, bias)
        self.attention_out = _linear(dimension, dimension, bias)
        self.norm_2 = _norm(dimension)
        self.mlp_in = _linear(dimension, width, bias)
        self.mlp_out = _linear(width, dimension, bias)

    def forward(self, stream: Tensor, last: bool) -> Tensor:
        """The stream ``[N, T, d]`` after the block, ``[N, 1, d]`` where `last` alone is needed."""
        if self.after:
            stream = self.norm_1(self._kept(stream, last) + self._attention(stream, last))
            return self.norm_2(stream + self._mlp(stream))
        stream = self.norm_1(stream)
        stream = self._kept(stream, last) + self._attention(stream, last)
        return stream + self._mlp(self.norm_2(stream))

    def _kept(self, stream: Tensor, last: bool) -> Tensor:
        return stream[:, -1:] if last else stream

    def _mlp(self, stream: Tensor) -> Tensor:
        return self.mlp_out(self.activation(self.mlp_in(stream)))

    def _attention(self, stream: Tensor, last: bool) -> Tensor:
        """What attention adds; the last place attends to all, so that it needs no mask."""
        parts = self.attention_in(stream).unflatten(-1, (3, self.heads, -1))  # [N, T, 3, h, d_h]
        query, key, value = parts.movedim(-2, 1).unbind(-2)  # each [N, h, T, d_h]
        query = query[:, :, -1:] if last else query
        scores = query @ key.mT / key.shape[-1] ** 0.5
        if not last:
            places = torch.arange(stream.shape[1], device=stream.device)
            scores = scores.masked_fill(places > places[:, None], -torch.inf)
        mixed = torch.softmax(scores, dim=-1) @ value
        return self.attention_out(mixed.movedim(1, 2).flatten(2))


class Decoder(nn.Module):
    """Logits ``[N, C]`` at the last place of tokens ``[N, T]``.

    Parameters: ``embedding`` ``[V, d]``, ``position`` ``[T, d]`` unless it is fixed, and then a
    buffer; of each block ``blocks.<l>.attention_in`` (queries, keys and values, head by head),
    ``attention_out``, ``mlp_in``, ``mlp_out``, ``norm_1`` and ``norm_2``, each with ``weight`` and
    ``bias`` where it has one; ``norm.weight`` and ``norm.bias`` with norms on the stream;
    ``unembedding.weight`` ``[C, d]``.
    """

    embedding: Tensor
    position: Tensor

    def __init__(
        self, tables: dict[str, Tensor], learned: bool, blocks: list[Block], outputs: int
    ) -> None:
        super().__init__()
        self.embedding = nn.Parameter(tables["embedding"])
        if learned:
            self.position = nn.Parameter(tables["position"])
        else:
            self.register_buffer("position", tables["position"])
        dimension = self.embedding.shape[1]
        self.blocks = nn.ModuleList(blocks)
        self.norm = nn.Identity() if blocks[0].after else _norm(dimension)
        self.unembedding = _linear(dimension, outputs, bias=False)

    def embed(self, tokens: Tensor) -> Tensor:
        """Features ``[N, T, d]`` of tokens ``[N, T]``, before positions are added."""
        return functional.embedding(tokens, self.embedding)

    def forward(self, inputs: Tensor) -> Tensor:
        """Logits ``[N, C]`` of tokens ``[N, T]``, or of features ``[N, T, d]`` as from `embed`."""
        features = inputs if inputs.is_floating_point() else self.embed(inputs)
        stream = features + self.position
        for index, block in enumerate(self.blocks):
            stream = block(stream, last=index == len(self.blocks) - 1)
        return self.unembedding(self.norm(stream[:, 0]))


def _norm(dimension: int) -> nn.LayerNorm:
    return nn.LayerNorm(dimension, dtype=torch.float64)


def _linear(before: int, after: int, bias: bool) -> nn.Linear:
    return nn.utils.skip_init(nn.Linear, before, after, bias=bias, dtype=torch.float64)


def _sinusoids(places: int, dimension: int) -> Tensor:
    """Positions ``[T, d]``."""
    index = torch.arange(dimension, dtype=torch.float64)
    place = torch.arange(places, dtype=torch.float64)[:, None]
    angle = place / 10000 ** ((index - index % 2) / dimension)
    return torch.where(index % 2 == 0, angle.sin(), angle.cos())


def build(
    *,
    data: TaskData,
    generator: torch.Generator,
    layers: Count,
    dimension: Count,
    heads: Count,
    width: Count,
    layer_norm: Literal["after", "on_stream"],
    activation: Literal["relu", "gelu"],
    bias: bool,
    positions: Literal["learned", "sinusoidal"],
) -> Decoder:
    """The decoder of Power et al. or of Lee et al.

    Published: 2 layers of dimension 128, 4 heads, width 512. That of Power et al. (arXiv
    2201.02177, openai/grok) has norms ``after``, ``relu``, no biases and sinusoidal positions; that
    of Lee et al. (arXiv 2405.20233, ironjr/grokfast) norms ``on_stream``, ``gelu``, biases and
    learned positions.

    Args:
        data: the data set; its inputs must be tokens ``[N, T]``.
        generator: the member's.
        layers: number of blocks.
        dimension: of the residual stream, ``d``.
        heads: number of attention heads, of ``d / heads`` each.
        width: units of the MLP's hidden layer.
        layer_norm: ``after``: ``x <- norm(x + attention(x))``, ``x <- norm(x + mlp(x))``;
            ``on_stream``: ``x <- norm(x)``, ``x <- x + attention(x)``, ``x <- x + mlp(norm(x))``,
            and a norm before the unembedding.
        activation: of the MLP.
        bias: whether linear maps but the unembedding have biases; norms always have.
        positions: ``learned``, or ``sinusoidal`` (Vaswani et al., arXiv 1706.03762, section 3.5):
            ``sin(t / 10000^(i / d))`` at even i, the cosine of the angle of i - 1 at odd i.

    A place attends to itself and to those before it. Only the last place of the last block is
    computed, as the logits are read there. Draws are those of PyTorch: embeddings and learned
    positions N(0, 1), linear maps and their biases U(-1/sqrt(in), 1/sqrt(in)); with biases that
    into attention is of ``nn.MultiheadAttention``: U(-sqrt(1.5/d), sqrt(1.5/d)), and the biases of
    attention are 0.

    Raises:
        ValueError: the inputs are not tokens, or `heads` do not divide `dimension`.
    """
    tokens, shape = data.vocabulary, data.input_shape
    if tokens is None or len(shape) != 1:
        raise ValueError("decoder needs tokens [N, T]: a task with encoding tokens")
    if dimension % heads:
        raise ValueError(f"decoder: {heads} heads do not divide dimension {dimension}")
    learned = positions == "learned"
    fixed = _sinusoids(shape[0], dimension)

    def normal(rows: int) -> Tensor:
        return torch.randn(rows, dimension, generator=generator, dtype=torch.float64)

    tables = {"embedding": normal(tokens), "position": normal(shape[0]) if learned else fixed}
    blocks = [Block(dimension, heads, width, layer_norm, activation, bias) for _ in range(layers)]
    model = Decoder(tables, learned, blocks, data.outputs)
    _draw(model, generator)
    return model


@torch.no_grad()
def _draw(model: Decoder, generator: torch.Generator) -> None:
    """Draw all linear maps, in place."""
    for name, module in model.named_modules():
        if isinstance(module, nn.Linear):
            bound = module.in_features**-0.5
            bias = dict(module.named_parameters()).get("bias")
            entering = name.endswith("attention_in") and bias is not None
            wide = 1.5**0.5 * bound if entering else bound
            module.weight.uniform_(-wide, wide, generator=generator)
            if bias is not None and "attention" in name:
                bias.zero_()
            elif bias is not None:
                bias.uniform_(-bound, bound, generator=generator)


def parameters(
    data: dict[str, Any],
    *,
    layers: int,
    dimension: int,
    width: int,
    layer_norm: str,
    bias: bool,
    positions: str,
    **_: Any,
) -> int:
    """Number of parameters of one member, for data of this `size` (docs/extending.md)."""
    places = data["shape"][0] if positions == "learned" else 0
    ends = dimension * (data["vocabulary"] + data["outputs"] + places)
    norms = dimension * (4 * layers + 2 * (layer_norm == "on_stream"))
    biases = 5 * dimension + width if bias else 0
    return ends + norms + layers * (4 * dimension**2 + 2 * width * dimension + biases)


def written(
    data: dict[str, Any], *, layers: int, dimension: int, heads: int, width: int, **_: Any
) -> int:
    """Numbers that a forward pass writes for each sample (docs/extending.md)."""
    places = data["shape"][0]
    block = places * (14 * dimension + 3 * width + 3 * heads * places)
    return layers * block + 2 * places * dimension + int(data["outputs"])
