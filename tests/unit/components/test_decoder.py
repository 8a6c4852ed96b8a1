"""The decoder against PyTorch's modules with a causal mask, at all places, as its sources have."""

import math

import pytest
import torch
from torch import nn

from grokatlas.components.models import decoder
from grokatlas.components.tasks import modular_operation

SIZES = {"layers": 2, "dimension": 12, "heads": 3, "width": 16}
POWER = {"layer_norm": "after", "activation": "relu", "bias": False, "positions": "sinusoidal"}
LEE = {"layer_norm": "on_stream", "activation": "gelu", "bias": True, "positions": "learned"}
SOURCES = {"power": POWER, "lee": LEE}
each_source = pytest.mark.parametrize("source", SOURCES)


def _data(modulus=7):
    return modular_operation.build(
        operation="sum",
        modulus=modulus,
        encoding="tokens_op_equals",
        train_fraction=0.5,
        corrupted=0.0,
        split_seed=0,
    )


def _build(data, seed=0, **keywords):
    return decoder.build(data=data, generator=torch.Generator().manual_seed(seed), **keywords)


def _shaken(source):
    """A model whose biases and norms are no longer those of its draw, and tokens."""
    data = _data()
    model = _build(data, **SIZES | SOURCES[source])
    generator = torch.Generator().manual_seed(1)
    for parameter in model.parameters():
        if parameter.ndim == 1:
            parameter.data += 0.3 * torch.randn(
                len(parameter), generator=generator, dtype=torch.float64
            )
    return model, torch.from_numpy(data.train_inputs)


def _attention(block, bias):
    """The block's attention as PyTorch's."""
    theirs = nn.MultiheadAttention(12, 3, bias=bias, batch_first=True, dtype=torch.float64)
    state = {
        "in_proj_weight": block.attention_in.weight,
        "out_proj.weight": block.attention_out.weight,
    }
    if bias:
        state |= {
            "in_proj_bias": block.attention_in.bias,
            "out_proj.bias": block.attention_out.bias,
        }
    theirs.load_state_dict(state)
    later = torch.ones(4, 4, dtype=torch.bool).triu(1)
    return lambda stream: theirs(stream, stream, stream, attn_mask=later, need_weights=False)[0]


@each_source
def test_logits_are_those_of_the_sources_at_the_last_place(source):
    model, tokens = _shaken(source)
    stream = model.embedding[tokens] + model.position
    for block in model.blocks:
        attention = _attention(block, bias=source == "lee")
        if source == "power":
            stream = block.norm_1(stream + attention(stream))
            hidden = torch.relu(block.mlp_in(stream))
            stream = block.norm_2(stream + block.mlp_out(hidden))
        else:
            stream = block.norm_1(stream)
            stream = stream + attention(stream)
            hidden = nn.functional.gelu(block.mlp_in(block.norm_2(stream)))
            stream = stream + block.mlp_out(hidden)
    if source == "lee":
        stream = model.norm(stream)
    expected = model.unembedding(stream)[:, -1]
    torch.testing.assert_close(model(tokens), expected, rtol=1e-11, atol=1e-12)


def test_sinusoidal_positions_are_the_formula_and_not_trained():
    model = _build(_data(), **SIZES | POWER)
    for place in range(4):
        for index in range(12):
            angle = place / 10000 ** ((index - index % 2) / 12)
            expected = math.cos(angle) if index % 2 else math.sin(angle)
            assert float(model.position[place, index]) == pytest.approx(expected, abs=1e-14)
    assert "position" not in dict(model.named_parameters())
    assert "position" in dict(model.named_buffers())


@each_source
def test_a_later_token_changes_no_logit_of_the_places_before(source):
    """The causal mask: what the first block writes at a place depends on those up to it alone."""
    model, tokens = _shaken(source)
    changed = tokens.clone()
    changed[:, 2] = (changed[:, 2] + 1) % 7
    before, after = (
        model.blocks[0](model.embedding[each] + model.position, last=False)
        for each in (tokens, changed)
    )
    assert torch.equal(before[:, :2], after[:, :2])
    assert not torch.equal(before[:, 2:], after[:, 2:])
    assert not torch.equal(model(tokens), model(changed))


@each_source
def test_published_size_has_the_laws_of_pytorch(source):
    model = _build(_data(97), layers=2, dimension=128, heads=4, width=512, **SOURCES[source])
    for name, parameter in model.state_dict().items():
        if name == "position" and source == "power":
            continue  # fixed
        if "norm" in name:
            assert torch.equal(parameter, torch.full_like(parameter, float("weight" in name)))
        elif name in ("embedding", "position"):
            error = (2 / parameter.numel()) ** 0.5
            assert abs(float(parameter.var()) - 1) < 4 * error, name
        elif "attention" in name and name.endswith("bias"):
            assert not parameter.any()
        else:
            into = 512 if "mlp_out" in name else 128
            bound = into**-0.5
            bound *= 1.5**0.5 if source == "lee" and "attention_in" in name else 1
            assert 0.9 * bound < float(parameter.abs().max()) <= bound, name
            assert float(parameter.std()) == pytest.approx(bound / 3**0.5, rel=0.1)


def test_parameters_of_the_published_decoder():
    """Counted in openai/grok: 12 d^2 and two norms a block, and both tables of tokens."""
    model = _build(_data(97), layers=2, dimension=128, heads=4, width=512, **POWER)
    found = sum(parameter.numel() for parameter in model.parameters())
    assert found == 2 * (12 * 128**2 + 4 * 128) + 2 * 99 * 128


def test_heads_that_do_not_divide_the_dimension_are_refused():
    with pytest.raises(ValueError, match="5 heads do not divide dimension 12"):
        _build(_data(), **SIZES | POWER | {"heads": 5})
