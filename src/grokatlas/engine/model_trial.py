"""A model tried on a few samples before training: mistakes that a step would show late or never."""

from typing import Any

import torch
from torch import Tensor, nn

from grokatlas import registry
from grokatlas.engine.network import is_noisy
from grokatlas.engine.unmapped import STATE


def check(name: str, model: nn.Module, inputs: Tensor, outputs: int) -> None:
    """Refuse a model with state, or with outputs of another shape than ``[N, C]``.

    Args:
        name: of the component.
        model: of one member.
        inputs: ``[N, ...]``, some of the training set.
        outputs: ``C``.

    Raises:
        ValueError: with the component's file, and what is wanted.
    """
    where = f"model {name} ({registry.shown_component('model', name)})"
    buffers = {key: value.clone() for key, value in model.named_buffers()}
    arguments: list[tuple[Tensor, ...]] = [(inputs,)]
    parameter = next(model.parameters())
    if is_noisy(model):
        shape = model.noise_shape(tuple(inputs.shape), (len(inputs), outputs))
        arguments.append((inputs, parameter.new_zeros(shape)))
    for each in arguments:
        with torch.no_grad():
            made = model(*each)
        wanted = (len(inputs), outputs)
        if not isinstance(made, Tensor) or made.shape != wanted:
            problem = f"its outputs are {_kind(made)}, and one row for each sample is wanted"
            raise ValueError(f"{where}: {problem}: [N, C], here {[*wanted]}")
    for key, value in model.named_buffers():
        if key not in buffers or not torch.equal(value, buffers[key]):
            raise ValueError(f"{where}: its forward pass changes {key}, and {STATE}")


def _kind(value: Any) -> str:
    """A value by its shape, else by its type."""
    shape = getattr(value, "shape", None)
    return f"of type {type(value).__name__}" if shape is None else f"of the shape {[*shape]}"
