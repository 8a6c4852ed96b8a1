"""Any loss as a function of a network, in the precision that the run asks for its loss."""

from typing import TypeGuard

import torch
from torch import Tensor

from grokatlas.engine.contracts import (
    Buffers,
    Loss,
    LossOnNetwork,
    Model,
    NetworkLoss,
    Params,
    Spec,
)


def network_loss(loss: Loss, spec: Spec) -> NetworkLoss:
    """A member's loss as a function of parameters, model and batch.

    A loss of outputs and targets is applied to the model's outputs; one that needs more of the
    model, such as its derivatives, says so by a method ``on_network``.

    With ``train.loss_dtype`` the model's outputs and real targets are cast to that precision where
    they meet the loss, which is computed in it. The gradient crosses the same cast backwards: that
    by parameters or by inputs has the run's own precision again, as the model has throughout.

    Args:
        loss: built for one member.
        spec: the run's.
    """
    applied = _applied(loss)
    name = spec["train"].get("loss_dtype")
    if name is None:
        return applied
    dtype: torch.dtype = getattr(torch, name)

    def cast(params: Params, model: Model, inputs: Tensor, targets: Tensor) -> Tensor:
        real = targets.is_floating_point()
        own = targets.to(dtype) if real else targets
        value = applied(params, _CastModel(model, dtype), inputs, own)
        if value.dtype != dtype:
            problem = f"loss {spec['loss']['name']} is {value.dtype} for outputs in {name}"
            raise ValueError(f"train.loss_dtype: {problem}; remove the key, or mend that loss")
        return value

    return cast


def _applied(loss: Loss) -> NetworkLoss:
    if _is_on_network(loss):
        return loss.on_network

    def applied(params: Params, model: Model, inputs: Tensor, targets: Tensor) -> Tensor:
        return loss(model(params, inputs), targets)

    return applied


def _is_on_network(loss: Loss) -> TypeGuard[LossOnNetwork]:
    return hasattr(loss, "on_network")


class _CastModel:
    """A `Model` whose outputs are cast to a dtype; its features are those of the model."""

    def __init__(self, model: Model, dtype: torch.dtype) -> None:
        self._model = model
        self._dtype = dtype

    @property
    def constants(self) -> Buffers:
        """The member's buffers."""
        return self._model.constants

    def __call__(self, params: Params, inputs: Tensor) -> Tensor:
        """Outputs ``[N, C]`` of inputs ``[N, ...]``, or of their features."""
        return self._model(params, inputs).to(self._dtype)

    def features(self, params: Params, inputs: Tensor) -> Tensor:
        """The variable of derivatives, in the run's precision."""
        return self._model.features(params, inputs)
