"""The first layer of a two-layer ReLU network, the second optimal at a finite weight decay."""

import torch
from torch import Tensor

from grokatlas.components.dynamics.isolated_first_layer import FIRST, SECOND
from grokatlas.engine.contracts import Batch, Dynamics, Hyperparameter, Model, NetworkLoss, Params
from grokatlas.engine.keyword_types import Positive
from grokatlas.engine.linalg import solve_positive

FULL_BATCH = True  # a step takes the whole training set
COST = 4  # times the work of a step of gradient descent: H H^T and its Cholesky factors
# as in the equation, which does not read them
MODEL = {"output_scale": 1.0, "dropout": None, "weight_noise": None}


class RidgeFirstLayer:
    """Descent of the regularised loss by the first layer, the second at its optimum for it.

    With ``H = relu(X E)`` ``[N, H]`` the loss ``|H W - Y|^2 / N + weight_decay (|E|^2 + |W|^2)`` is
    least in W at the ridge solution

        ``W = (H^T H + weight_decay N I)^-1 H^T Y = H^T A Y``,
        ``A = (H H^T + weight_decay N I)^-1``.

    Its residual is ``H W - Y = -weight_decay N A Y``, so that the gradient in E at this W (which is
    that of the loss minimised over W) is ``-2 weight_decay (X^T [((A Y)(A Y)^T H) o relu'(X E)] -
    E)``. In slow time, ``2 weight_decay`` times the step size, the first layer moves by

        ``E <- E + rate * (X^T [((A Y)(A Y)^T H) o relu'(X E)] - E)``:

    equation 21 of dynamics `isolated_first_layer` but for A, which comes to ``(H H^T)^-1`` where
    ``weight_decay N`` is small beside the least eigenvalue of ``H H^T``. Network and names are as
    there. The training loss is not zero, and units may be fewer than samples.

    Source: arXiv 2511.01938, eq. 16 to 18; the form with A, which shares equation 21's, is ours.
    """

    def __init__(self, rate: Hyperparameter, weight_decay: Hyperparameter) -> None:
        self.rate = rate
        self.weight_decay = weight_decay

    def init(self, params: Params) -> Params:
        """The state is the first layer.

        Raises:
            ValueError: the model is not the one of this dynamics.
        """
        if set(params) != {FIRST, SECOND}:
            raise ValueError("ridge_first_layer needs model mlp: hidden_layers 1, bias false")
        if params[SECOND].shape[0] != params[FIRST].shape[1]:
            raise ValueError("ridge_first_layer needs as many classes as an input has entries")
        return {FIRST: params[FIRST]}

    def update(self, state: Params, batch: Batch) -> Params:
        """One step on the whole training set."""
        first = state[FIRST]
        hidden, solved = self._solve(first, *batch)
        back = solved @ (solved.T @ hidden) * torch.sign(hidden)
        return {FIRST: first + self.rate * ((batch[0].T @ back).T - first)}

    def parameters(self, state: Params, batch: Batch) -> Params:
        """Both layers: the second is solved for, from the training set."""
        hidden, solved = self._solve(state[FIRST], *batch)
        return {FIRST: state[FIRST], SECOND: solved.T @ hidden}

    def _solve(self, first: Tensor, inputs: Tensor, labels: Tensor) -> tuple[Tensor, Tensor]:
        """``H`` ``[N, H]`` and ``A Y`` ``[N, C]`` for one-hot ``Y``."""
        if labels.is_floating_point():
            raise ValueError("ridge_first_layer needs labels, not real targets")
        hidden = torch.relu(inputs @ first.T)
        classes = torch.arange(inputs.shape[-1], device=labels.device)
        targets = (labels[:, None] == classes).to(hidden.dtype)
        identity = torch.eye(len(inputs), dtype=hidden.dtype, device=hidden.device)
        gram = hidden @ hidden.T + self.weight_decay * len(inputs) * identity
        return hidden, solve_positive(gram, targets)


def build(
    model: Model, loss: NetworkLoss, *, rate: Positive, weight_decay: Positive
) -> Dynamics[Params]:
    """The first layer's descent at a finite weight decay.

    Args:
        model: `models.mlp` with one hidden layer and no biases; its forward pass is inherent here.
        loss: only observed.
        rate: step in slow time: 2 weight_decay times the step size of gradient descent.
        weight_decay: lambda, of both layers, beside the mean over samples of the squared error.
    """
    return RidgeFirstLayer(rate, weight_decay)
