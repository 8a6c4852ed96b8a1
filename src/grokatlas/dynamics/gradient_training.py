"""Training by gradients: inputs, loss and penalties, gradient chain, optimizer."""

from typing import Any

import torch


class GradientTraining:
    """``params = optimizer(params, chain(grad(loss(model(params, inputs(x)), y) + penalties)))``.

    The state holds ``params``, ``optimizer`` and ``gradients`` (one entry for each of the chain).
    """

    def __init__(
        self,
        model: Any,
        loss: Any,
        optimizer: Any,
        penalties: list[Any],
        gradients: list[Any],
        inputs: list[Any],
    ) -> None:
        self.model = model
        self.loss = loss
        self.optimizer = optimizer
        self.penalties = penalties
        self.gradients = gradients
        self.inputs = inputs

    def init(self, params: dict) -> dict:
        """The state before the first step."""
        chain = {str(index): link.init(params) for index, link in enumerate(self.gradients)}
        return {"params": params, "optimizer": self.optimizer.init(params), "gradients": chain}

    def objective(self, params: dict, inputs: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
        """The loss of a batch plus every penalty: one scalar."""
        for change in self.inputs:
            inputs = change(inputs)
        value = self.loss(self.model(params, inputs), targets)
        for penalty in self.penalties:
            value = value + penalty(params, self.model, inputs)
        return value

    def update(self, state: dict, batch: tuple[torch.Tensor, torch.Tensor]) -> dict:
        """The state after one step on a batch."""
        grads = torch.func.grad(self.objective)(state["params"], *batch)
        chain = {}
        for index, link in enumerate(self.gradients):
            grads, chain[str(index)] = link.update(grads, state["gradients"][str(index)])
        params, optimizer = self.optimizer.update(state["params"], grads, state["optimizer"])
        return {"params": params, "optimizer": optimizer, "gradients": chain}

    def parameters(self, state: dict, batch: tuple[torch.Tensor, torch.Tensor]) -> dict:
        """The parameters that the model uses in this state."""
        return state["params"]


def build(
    model: Any,
    loss: Any,
    optimizer: Any,
    penalties: list[Any],
    gradients: list[Any],
    inputs: list[Any],
) -> GradientTraining:
    """Training by the gradient of ``loss + sum of penalties``.

    Every block is already built for one member: `model` is ``model(params, x)``.
    """
    return GradientTraining(model, loss, optimizer, penalties, gradients, inputs)
