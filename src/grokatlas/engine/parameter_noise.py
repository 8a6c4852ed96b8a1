"""Noise with one number for each entry of a model's parameters: a vector ``[P]``."""

from torch import Tensor

from grokatlas.engine.contracts import Params, Shape


def shape(params: Params) -> Shape:
    """``(P,)``."""
    return (sum(value.numel() for value in params.values()),)


def split(noise: Tensor, params: Params) -> Params:
    """Noise ``[P]`` as tensors of the parameters' shapes, by name, in the order of their names."""
    names = sorted(params)
    parts = noise.split([params[name].numel() for name in names])
    return {name: part.view_as(params[name]) for name, part in zip(names, parts, strict=True)}
