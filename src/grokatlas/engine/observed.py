"""One member at one step, as an observable sees it."""

from dataclasses import dataclass, field
from functools import cached_property

import torch
from torch import Tensor

from grokatlas.engine.contracts import (
    Data,
    Dynamics,
    Extras,
    Model,
    NetworkLoss,
    Params,
    Penalty,
    Tree,
)


@dataclass(eq=False)
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
        state: of the dynamics after these steps, for an observable whose file says
            ``SEES_STATE = True``; empty where no observable of the run does.
    """

    params: Params
    model: Model
    loss: NetworkLoss | None
    penalties: list[Penalty]
    data: Data
    extras: Extras
    dynamics: Dynamics[Tree]
    step: Tensor
    state: Tree = field(default_factory=dict)

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
        """The loss ``[]`` on the whole training set, without penalties.

        Raises:
            ValueError: the run has no loss.
        """
        return self._loss_on("train")

    @cached_property
    def test_loss(self) -> Tensor:
        """The loss ``[]`` on the whole test set, without penalties.

        Raises:
            ValueError: the run has no loss.
        """
        return self._loss_on("test")

    @cached_property
    def loss_gradients(self) -> Params:
        """Gradients of the training loss by parameter, without penalties.

        Raises:
            ValueError: the run has no loss.
        """
        data = self.data
        arguments = (self.params, self.model, data["train_inputs"], data["train_targets"])
        return torch.func.grad(self._known_loss)(*arguments)

    @property
    def _known_loss(self) -> NetworkLoss:
        if self.loss is None:
            raise ValueError("the run has no loss that could be observed; give it a block `loss`")
        return self.loss

    def _loss_on(self, part: str) -> Tensor:
        inputs, targets = self.data[f"{part}_inputs"], self.data[f"{part}_targets"]
        return self._known_loss(self.params, self.model, inputs, targets)
