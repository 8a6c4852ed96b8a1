"""Training by gradients at a fixed norm of the parameters."""

import torch
from torch import Tensor

from grokatlas.components.dynamics.gradient_training import GradientTraining, Training
from grokatlas.engine.contracts import (
    Batch,
    EpochDynamics,
    GradientLink,
    Hyperparameter,
    InputChange,
    Model,
    NetworkLoss,
    Optimizer,
    Params,
    Penalty,
    Tree,
)
from grokatlas.engine.keyword_types import Positive
from grokatlas.engine.update_link import UpdateLink

LEARNS_BY_LOSS = True  # of outputs and targets a step has the gradient of the loss alone


class NormedTraining(Training):
    """The state: that of `gradient_training`, and the norm ``[]``."""

    norm: Tensor


class FixedNormTraining:
    """The step of `gradient_training`, then ``params <- params * norm / |params|_2``.

    ``|params|_2`` is of all parameters as one vector, biases included. The state of the optimizer
    is left as it is. The state holds ``norm`` beside what `gradient_training` keeps.

    Source: arXiv 2210.01117, reduced landscapes, and its code (``mnist-landscape.ipynb``).
    """

    def __init__(self, training: GradientTraining, relative_norm: Hyperparameter) -> None:
        self.training = training
        self.relative_norm = relative_norm

    def init(self, params: Params) -> NormedTraining:
        """The state before the first step: the parameters are already of the norm that is kept."""
        scaled = {key: self.relative_norm * value for key, value in params.items()}
        return {**self.training.init(scaled), "norm": _norm(scaled)}

    def begin_epoch(self, state: NormedTraining, train: Batch) -> NormedTraining:
        """Renew what changes of inputs remember, from the whole training set."""
        return {**self.training.begin_epoch(state, train), "norm": state["norm"]}

    def update(self, state: NormedTraining, batch: Batch) -> NormedTraining:
        """The state after one step on a batch, back at its norm."""
        moved = self.training.update(state, batch)
        factor = state["norm"] / _norm(moved["params"])
        params = {key: factor * value for key, value in moved["params"].items()}
        return {**moved, "params": params, "norm": state["norm"]}

    def parameters(self, state: NormedTraining, batch: Batch) -> Params:
        """The parameters that the model uses in this state."""
        return state["params"]


def _norm(params: Params) -> Tensor:
    return torch.stack([value.square().sum() for value in params.values()]).sum().sqrt()


def build(
    model: Model,
    loss: NetworkLoss,
    optimizer: Optimizer[Tree],
    penalties: list[Penalty],
    gradients: list[GradientLink[Tree]],
    inputs: list[InputChange[Tree]],
    updates: list[UpdateLink[Tree]],
    *,
    relative_norm: Positive,
) -> EpochDynamics[NormedTraining]:
    """Training as `gradient_training` does, with the norm of all parameters fixed.

    Args:
        model: as in `gradient_training`, and so are all blocks.
        loss: of the model on a batch.
        optimizer: of the step before the norm is restored.
        penalties: added to the loss.
        gradients: chain of changes.
        inputs: changes of a batch.
        updates: changes of the step, before the norm is restored.
        relative_norm: the norm that is kept, over the norm of the member's own initial parameters
            (alpha); these are multiplied by it before the first step.
    """
    training = GradientTraining(model, loss, optimizer, penalties, gradients, inputs, updates)
    return FixedNormTraining(training, relative_norm)
