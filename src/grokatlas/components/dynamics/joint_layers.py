"""Both layers of a two-layer ReLU network on the zero-loss set, each with a rate of its own."""

import torch
from torch import Tensor

from grokatlas.components.dynamics.isolated_first_layer import FIRST, SECOND
from grokatlas.engine.contracts import Batch, Dynamics, Hyperparameter, Model, NetworkLoss, Params
from grokatlas.engine.keyword_types import Positive
from grokatlas.engine.linalg import solve_positive

FULL_BATCH = True  # a step takes the whole training set
COST = 100  # times the work of a step of gradient descent: Cholesky factors of a matrix [N C, N C]
# as in the equation, which does not read them
MODEL = {"output_scale": 1.0, "dropout": None, "weight_noise": None}


class JointLayers:
    """Norm minimisation on the zero-loss set by both layers, the second `ratio` times faster.

    With ``H = relu(X E)`` ``[N, H]`` and the zero-loss set ``H W = Y`` the layers move by

        ``E' = X^T [(mu W^T) o relu'(X E)] - E``  and  ``W' = ratio (H^T mu - W)``

    in slow time, with the multiplier mu ``[N, C]`` for which ``d(H W) = 0``:

        ``(ratio H H^T x I + K) mu = (ratio + 1) H W``,
        ``K[nc, md] = <x_n, x_m> sum_h relu'_nh relu'_mh W_hc W_hd``.

    This is the limit, as lambda vanishes, of gradient flow of ``|H W - Y|^2 / N + lambda (|E|^2 +
    |W|^2)`` whose second layer has `ratio` times the first one's step size eta; slow time is ``2
    eta lambda`` times the number of steps. For `ratio` 1 it is the Riemannian gradient flow of the
    norm, as dynamics `riemannian_flow` has it, but without a Jacobian of all parameters and for
    labels. As `ratio` grows it becomes equation 21, dynamics `isolated_first_layer`.

    A step is one of Euler's method, after which the second layer goes back to the set by its least
    move, ``W <- W + H^+ (Y - H W)``. Network and names of parameters are as in
    `isolated_first_layer`; it begins where the network does, from the first step on with zero loss.

    Source: ours, after arXiv 2511.01938, section 5, and arXiv 2505.20172; measure
    `first_layer_drift` compares trained networks with the same equations.
    """

    def __init__(self, rate: Hyperparameter, ratio: Hyperparameter) -> None:
        self.rate = rate
        self.ratio = ratio

    def init(self, params: Params) -> Params:
        """The state is both layers.

        Raises:
            ValueError: the model is not the one of this dynamics.
        """
        if set(params) != {FIRST, SECOND}:
            raise ValueError("joint_layers needs model mlp: hidden_layers 1, bias false")
        return {FIRST: params[FIRST], SECOND: params[SECOND]}

    def update(self, state: Params, batch: Batch) -> Params:
        """One step on the whole training set."""
        inputs, (first, second) = batch[0], (state[FIRST], state[SECOND])
        targets = _targets(batch[1], second)
        hidden = torch.relu(inputs @ first.T)
        active = torch.sign(hidden)
        multiplier = self._multiplier(inputs, hidden, active, second)
        pull = ((multiplier @ second) * active).T @ inputs
        first = first + self.rate * (pull - first)
        second = second + self.rate * self.ratio * (multiplier.T @ hidden - second)
        hidden = torch.relu(inputs @ first.T)
        back = solve_positive(hidden @ hidden.T, targets - hidden @ second.T)
        return {FIRST: first, SECOND: second + back.T @ hidden}

    def parameters(self, state: Params, batch: Batch) -> Params:
        """Both layers."""
        return state

    def _multiplier(self, inputs: Tensor, hidden: Tensor, active: Tensor, second: Tensor) -> Tensor:
        """``mu`` ``[N, C]``."""
        samples, outputs = len(inputs), len(second)
        back = (active[:, None] * second).flatten(0, 1)  # [N C, H]
        kernel = (back @ back.T).reshape(samples, outputs, samples, outputs)
        kernel = kernel * (inputs @ inputs.T)[:, None, :, None]
        identity = torch.eye(outputs, dtype=hidden.dtype, device=hidden.device)
        fast = (self.ratio * (hidden @ hidden.T))[:, None, :, None] * identity[None, :, None, :]
        whole = (kernel + fast).reshape(samples * outputs, samples * outputs)
        wanted = (self.ratio + 1) * (hidden @ second.T)
        return solve_positive(whole, wanted.reshape(-1, 1)).reshape(samples, outputs)


def _targets(given: Tensor, second: Tensor) -> Tensor:
    """Real targets ``[N, C]`` as they are, labels as one-hot vectors."""
    if given.is_floating_point():
        return given
    classes = torch.arange(len(second), device=given.device)  # one_hot reads values
    return (given[:, None] == classes).to(second.dtype)


def build(model: Model, loss: NetworkLoss, *, rate: Positive, ratio: Positive) -> Dynamics[Params]:
    """The flow of both layers on the zero-loss set.

    Args:
        model: `models.mlp` with one hidden layer and no biases, or `models.fitted_mlp`; its forward
            pass is inherent here. It needs more hidden units than training samples.
        loss: only observed, as the dynamics stays on its zero set.
        rate: step in slow time.
        ratio: the second layer's step size over the first one's.
    """
    return JointLayers(rate, ratio)
