"""Both layers of a two-layer network of smooth units on the zero-loss set."""

import torch
from torch import Tensor

from grokatlas.components.dynamics import joint_layers
from grokatlas.components.dynamics.isolated_first_layer import FIRST, SECOND
from grokatlas.engine.contracts import Batch, Dynamics, Hyperparameter, Model, NetworkLoss, Params
from grokatlas.engine.keyword_types import Positive
from grokatlas.engine.linalg import solve_positive

FULL_BATCH = True  # a step takes the whole training set
COST = joint_layers.COST


class JointSoftplusLayers(joint_layers.JointLayers):
    """`joint_layers` with softplus s in place of ReLU: ``H = s(Z)``, ``Z = X E``, s' for relu'.

    As ``s'(Z) o Z`` is not H, the multiplier obeys ``(ratio H H^T x I + K) mu = (s'(Z) o Z + ratio
    H) W``, with K as there.
    """

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
        hidden, slope = _softplus(before, sharpness), torch.sigmoid(sharpness * before)
        wanted = (slope * before + self.ratio * hidden) @ second.T
        multiplier = solve_positive(
            self._matrix(inputs, hidden, slope, second), wanted.reshape(-1, 1)
        ).reshape(wanted.shape)
        pull = ((multiplier @ second) * slope).T @ inputs
        first = first + self.rate * (pull - first)
        second = second + self.rate * self.ratio * (multiplier.T @ hidden - second)
        hidden = _softplus(inputs @ first.T, sharpness)
        back = solve_positive(hidden @ hidden.T, targets - hidden @ second.T)
        return {FIRST: first, SECOND: second + back.T @ hidden}

    def _matrix(self, inputs: Tensor, hidden: Tensor, slope: Tensor, second: Tensor) -> Tensor:
        """``ratio H H^T x I + K`` ``[N C, N C]``."""
        back = (slope[:, None] * second).flatten(0, 1)  # [N C, H]
        identity = torch.eye(len(second), dtype=hidden.dtype, device=hidden.device)
        fast = torch.kron(self.ratio * (hidden @ hidden.T), identity)
        return fast + (back @ back.T) * torch.kron(inputs @ inputs.T, torch.ones_like(identity))


def _softplus(values: Tensor, sharpness: Tensor) -> Tensor:
    """``log(1 + exp(b z)) / b``, as the model has it."""
    return torch.logaddexp(sharpness * values, torch.zeros_like(values)) / sharpness


def build(model: Model, loss: NetworkLoss, *, rate: Positive, ratio: Positive) -> Dynamics[Params]:
    """The flow of both layers on the zero-loss set; equations as in `joint_layers`.

    Args:
        model: `models.fitted_softplus_mlp`, whose sharpness it takes.
        loss: only observed, as the dynamics stays on its zero set.
        rate: step in slow time.
        ratio: the second layer's step size over the first one's.
    """
    return JointSoftplusLayers(model, rate, ratio)
