"""Training by gradients: inputs, loss and penalties, gradient chain, optimizer, update chain."""

from collections.abc import Sequence
from typing import TypedDict

import torch
from torch import Tensor

from grokatlas.engine.contracts import (
    Batch,
    EpochDynamics,
    GradientLink,
    InputChange,
    Model,
    NetworkLoss,
    Optimizer,
    Params,
    Penalty,
    Tree,
)
from grokatlas.engine.update_link import UpdateLink

ROTATABLE = True  # a rotation of inputs and first-layer weights changes nothing
LEARNS_BY_LOSS = True  # of outputs and targets a step has the gradient of the loss alone


class Training(TypedDict):
    """The state: parameters, and that of every block; lists as dicts by index."""

    params: Params
    optimizer: Tree
    gradients: dict[str, Tree]
    inputs: dict[str, Tree]
    updates: dict[str, Tree]


class GradientTraining:
    """``p = updates(p, optimizer(p, gradients(grad(loss(model(p, inputs(x)), y) + penalties))))``.

    ``p`` are the parameters. The links of ``gradients`` act one after the other, and so do those of
    ``updates``, which change the step that the optimizer makes.
    """

    def __init__(
        self,
        model: Model,
        loss: NetworkLoss,
        optimizer: Optimizer[Tree],
        penalties: list[Penalty],
        gradients: list[GradientLink[Tree]],
        inputs: list[InputChange[Tree]],
        updates: Sequence[UpdateLink[Tree]] = (),
    ) -> None:
        self.model = model
        self.loss = loss
        self.optimizer = optimizer
        self.penalties = penalties
        self.gradients = gradients
        self.inputs = inputs
        self.updates = updates

    def init(self, params: Params) -> Training:
        """The state before the first step."""
        return {
            "params": params,
            "optimizer": self.optimizer.init(params),
            "gradients": {str(k): link.init(params) for k, link in enumerate(self.gradients)},
            "inputs": {str(k): change.init(params) for k, change in enumerate(self.inputs)},
            "updates": {str(k): link.init(params) for k, link in enumerate(self.updates)},
        }

    def begin_epoch(self, state: Training, train: Batch) -> Training:
        """Renew what changes of inputs remember, from the whole training set."""
        renewed: dict[str, Tree] = {}
        for k, change in enumerate(self.inputs):
            before = state["inputs"][str(k)]
            renewed[str(k)] = change.begin_epoch(before, state["params"], self.model, *train)
        return state | {"inputs": renewed}

    def objective(self, params: Params, inputs: Tensor, targets: Tensor) -> Tensor:
        """The loss of a batch plus every penalty: one scalar."""
        value = self.loss(params, self.model, inputs, targets)
        for penalty in self.penalties:
            value = value + penalty(params, self.model, inputs)
        return value

    def update(self, state: Training, batch: Batch) -> Training:
        """The state after one step on a batch."""
        inputs, targets = batch
        for k, change in enumerate(self.inputs):
            inputs = change(inputs, state["inputs"][str(k)])
        grads = torch.func.grad(self.objective)(state["params"], inputs, targets)
        chain: dict[str, Tree] = {}
        for k, link in enumerate(self.gradients):
            own = state["gradients"][str(k)]
            grads, chain[str(k)] = link.update(state["params"], grads, own)
        after, optimizer = self.optimizer.update(state["params"], grads, state["optimizer"])
        params, updates = self._updated(state, after)
        state = state | {"params": params, "optimizer": optimizer, "updates": updates}
        return state | {"gradients": chain}

    def _updated(self, state: Training, after: Params) -> tuple[Params, dict[str, Tree]]:
        """What the links of `updates` make of the parameters after the optimizer; their states."""
        chain: dict[str, Tree] = {}
        for k, link in enumerate(self.updates):
            own = state["updates"][str(k)]
            after, chain[str(k)] = link.update(state["params"], after, own)
        return after, chain

    def parameters(self, state: Training, batch: Batch) -> Params:
        """The parameters that the model uses in this state."""
        return state["params"]


def build(
    model: Model,
    loss: NetworkLoss,
    optimizer: Optimizer[Tree],
    penalties: list[Penalty],
    gradients: list[GradientLink[Tree]],
    inputs: list[InputChange[Tree]],
    updates: list[UpdateLink[Tree]],
) -> EpochDynamics[Training]:
    """Training by the gradient of ``loss + sum of penalties``.

    Every block is already built for one member: `model` is ``model(params, inputs)`` and `loss` is
    ``loss(params, model, inputs, targets)``.
    """
    return GradientTraining(model, loss, optimizer, penalties, gradients, inputs, updates)
