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
    ``updates``, which change the step that the optimizer makes. With `only` the optimizer and both
    chains know the parameters of these names alone: the others keep their values.
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
        only: Sequence[str] | None = None,
    ) -> None:
        self.model = model
        self.loss = loss
        self.optimizer = optimizer
        self.penalties = penalties
        self.gradients = gradients
        self.inputs = inputs
        self.updates = updates
        self.only = only

    def init(self, params: Params) -> Training:
        """The state before the first step."""
        moving = self._moving(params)
        return {
            "params": params,
            "optimizer": self.optimizer.init(moving),
            "gradients": {str(k): link.init(moving) for k, link in enumerate(self.gradients)},
            "inputs": {str(k): change.init(params) for k, change in enumerate(self.inputs)},
            "updates": {str(k): link.init(moving) for k, link in enumerate(self.updates)},
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
        whole, moving = state["params"], self._moving(state["params"])

        def objective(moving: Params) -> Tensor:
            return self.objective({**whole, **moving}, inputs, targets)

        grads = torch.func.grad(objective)(moving)
        chain: dict[str, Tree] = {}
        for k, link in enumerate(self.gradients):
            own = state["gradients"][str(k)]
            grads, chain[str(k)] = link.update(moving, grads, own)
        after, optimizer = self.optimizer.update(moving, grads, state["optimizer"])
        moved, updates = self._updated(moving, after, state["updates"])
        params = {**whole, **moved}
        state = state | {"params": params, "optimizer": optimizer, "updates": updates}
        return state | {"gradients": chain}

    def _updated(
        self, before: Params, after: Params, states: dict[str, Tree]
    ) -> tuple[Params, dict[str, Tree]]:
        """The parameters after the optimizer and the links of `updates`; the links' states."""
        chain: dict[str, Tree] = {}
        for k, link in enumerate(self.updates):
            after, chain[str(k)] = link.update(before, after, states[str(k)])
        return after, chain

    def parameters(self, state: Training, batch: Batch) -> Params:
        """The parameters that the model uses in this state."""
        return state["params"]

    def _moving(self, params: Params) -> Params:
        """The parameters that a step moves."""
        return params if self.only is None else {key: params[key] for key in self.only}


def build(
    model: Model,
    loss: NetworkLoss,
    optimizer: Optimizer[Tree],
    penalties: list[Penalty],
    gradients: list[GradientLink[Tree]],
    inputs: list[InputChange[Tree]],
    updates: list[UpdateLink[Tree]],
    only: Sequence[str] | None,
) -> EpochDynamics[Training]:
    """Training by the gradient of ``loss + sum of penalties``.

    Every block is already built for one member: `model` is ``model(params, inputs)`` and `loss` is
    ``loss(params, model, inputs, targets)``. `only` names the parameters that a step moves; None:
    all of them.
    """
    return GradientTraining(model, loss, optimizer, penalties, gradients, inputs, updates, only)
