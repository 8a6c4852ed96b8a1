"""Both layers of a two-layer network of smooth units on the zero-loss set."""

import torch

from grokatlas.components.dynamics import joint_layers
from grokatlas.components.dynamics.isolated_first_layer import FIRST, SECOND
from grokatlas.components.models.fitted_softplus_mlp import softplus
from grokatlas.engine.contracts import Batch, Dynamics, Hyperparameter, Model, NetworkLoss, Params
from grokatlas.engine.keyword_types import Positive
from grokatlas.engine.linalg import solve_positive

FULL_BATCH = True  # a step takes the whole training set
COST = joint_layers.COST


class JointSoftplusLayers(joint_layers.JointLayers):
    """`joint_layers` with softplus s in place of ReLU: ``H = s(X E)``, and s' for relu'."""

    def __init__(self, model: Model, rate: Hyperparameter, ratio: Hyperparameter) -> None:
        super().__init__(rate, ratio)
        self.model = model

    def init(self, params: Params) -> Params:
        """The state is both layers.

        Raises:
            ValueError: the model is not the one of this dynamics.
        """
        if "sharpness" not in self.model.constants:
            raise ValueError("joint_softplus_layers needs model fitted_softplus_mlp")
        return super().init(params)

    def update(self, state: Params, batch: Batch) -> Params:
        """One step on the whole training set."""
        inputs, (first, second) = batch[0], (state[FIRST], state[SECOND])
        sharpness = self.model.constants["sharpness"]
        targets = joint_layers._targets(batch[1], second)
        before = inputs @ first.T
        hidden, slope = softplus(before, sharpness), torch.sigmoid(sharpness * before)
        multiplier = self._multiplier(inputs, hidden, slope, second)
        pull = ((multiplier @ second) * slope).T @ inputs
        first = first + self.rate * (pull - first)
        second = second + self.rate * self.ratio * (multiplier.T @ hidden - second)
        hidden = softplus(inputs @ first.T, sharpness)
        back = solve_positive(hidden @ hidden.T, targets - hidden @ second.T)
        return {FIRST: first, SECOND: second + back.T @ hidden}


def build(model: Model, loss: NetworkLoss, *, rate: Positive, ratio: Positive) -> Dynamics[Params]:
    """The flow of both layers on the zero-loss set; equations as in `joint_layers`.

    Args:
        model: `models.fitted_softplus_mlp`, whose sharpness it takes.
        loss: only observed, as the dynamics stays on its zero set.
        rate: step in slow time.
        ratio: the second layer's step size over the first one's.
    """
    return JointSoftplusLayers(model, rate, ratio)
