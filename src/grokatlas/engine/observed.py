"""What an observable sees of one member at one step."""

from functools import cached_property
from typing import Any

import torch
from torch import Tensor

Tree = dict[str, Any]


class Observed:
    """One member at one step.

    Attributes:
        params: parameters by name.
        model: the member's `Network`, ``model(params, inputs) -> outputs [N, C]``; its
            ``features(params, inputs)`` are what outputs are differentiated by.
        loss: ``loss(params, model, inputs, targets) -> scalar``; None without a loss block.
        penalties: ``penalty(params, model, inputs) -> scalar``, weights included; with that of the
            dynamics' own equation, if it has one.
        data: ``train_inputs``, ``train_targets``, ``test_inputs``, ``test_targets``.
        extras: what else the task knows, by name.
        dynamics: the member's dynamics, with the numbers it was built with.
        step: how many steps were taken, a 0-d tensor.
    """

    def __init__(
        self,
        params: Tree,
        model: Any,
        loss: Any,
        penalties: list[Any],
        data: dict[str, Tensor],
        extras: dict[str, Tensor],
        dynamics: Any,
        step: Tensor,
    ) -> None:
        self.params = params
        self.model = model
        self.loss = loss
        self.penalties = penalties
        self.data = data
        self.extras = extras
        self.dynamics = dynamics
        self.step = step

    @cached_property
    def train_outputs(self) -> Tensor:
        """Outputs on the training set ``[N, C]``, computed once for all observables."""
        return self.model(self.params, self.data["train_inputs"])

    @cached_property
    def test_outputs(self) -> Tensor:
        """Outputs on the test set ``[N, C]``, computed once for all observables."""
        return self.model(self.params, self.data["test_inputs"])

    @cached_property
    def train_loss(self) -> Tensor:
        """The loss on the whole training set, without penalties."""
        data = self.data
        return self.loss(self.params, self.model, data["train_inputs"], data["train_targets"])

    @cached_property
    def test_loss(self) -> Tensor:
        """The loss on the whole test set, without penalties."""
        data = self.data
        return self.loss(self.params, self.model, data["test_inputs"], data["test_targets"])

    @cached_property
    def loss_gradients(self) -> Tree:
        """Gradients of the training loss by parameter, without penalties."""
        data = self.data
        arguments = (self.params, self.model, data["train_inputs"], data["train_targets"])
        return torch.func.grad(self.loss)(*arguments)
