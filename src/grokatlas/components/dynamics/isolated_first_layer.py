"""The first layer of a two-layer ReLU network on the zero-loss set, isolated (geometry, eq. 21)."""

import torch
from torch import Tensor
from torch.nn.functional import pad

from grokatlas.engine.contracts import Batch, Dynamics, Hyperparameter, Model, NetworkLoss, Params
from grokatlas.engine.keyword_types import Positive
from grokatlas.engine.linalg import solve_positive

FULL_BATCH = True  # a step takes the whole training set
COST = 4  # times the work of a step of gradient descent: H H^T and its Cholesky factors
# as in the equation, which does not read them
MODEL = {"output_scale": 1.0, "dropout": None, "weight_noise": None}

FIRST = "layers.0.weight"
SECOND = "layers.1.weight"
BLOCKS = 3  # of rows of H H^T: a third of the multiplications saved, and large products still


class IsolatedFirstLayer:
    """Norm minimisation on the zero-loss set, followed by the first layer alone.

    With ``H = relu(X E)`` ``[N, H]`` and ``A = (H H^T)^-1`` the second layer is the one of least
    norm among those of zero loss, ``W = H^+ Y = H^T A Y``, at every step. The first layer moves by
    the paper's equation 21,

        ``E <- E + rate * (X^T [((A Y)(A Y)^T H) o relu'(X E)] - E)``,

    solved with a Cholesky factorisation of ``H H^T``. The network is `models.mlp` with one hidden
    layer and no biases: ``E`` is the transpose of ``layers.0.weight`` ``[H, D]`` and ``W`` the
    transpose of ``layers.1.weight`` ``[C, H]``.

    Source: arXiv 2511.01938, eq. 21. The paper prints the pseudo-inverse as ``(H^T H)^-1 H^T``,
    which is singular when there are more hidden units than samples; ours is its second form.
    """

    def __init__(self, rate: Hyperparameter) -> None:
        self.rate = rate

    def init(self, params: Params) -> Params:
        """The state is the first layer.

        Raises:
            ValueError: the model is not the one of this dynamics.
        """
        if set(params) != {FIRST, SECOND}:
            raise ValueError("isolated_first_layer needs model mlp: hidden_layers 1, bias false")
        if params[SECOND].shape[0] != params[FIRST].shape[1]:
            raise ValueError("isolated_first_layer needs as many classes as an input has entries")
        return {FIRST: params[FIRST]}

    def update(self, state: Params, batch: Batch) -> Params:
        """One step of equation 21 on the whole training set."""
        inputs, targets = batch
        first = state[FIRST]
        hidden, solved = _solve(first, inputs, targets)
        # relu' is the sign of what relu left; asked for last, it can take the place of H
        back = solved @ (solved.T @ hidden) * torch.sign(hidden)
        pull = (inputs.T @ back).T  # half of the time of back.T @ inputs, as inputs are narrow
        rate = self.rate.to(first.dtype) if isinstance(self.rate, Tensor) else self.rate
        return {FIRST: torch.lerp(first, pull, rate)}

    def parameters(self, state: Params, batch: Batch) -> Params:
        """Both layers: the second is solved for, from the training set."""
        hidden, solved = _solve(state[FIRST], *batch)
        return {FIRST: state[FIRST], SECOND: solved.T @ hidden}


def _solve(first: Tensor, inputs: Tensor, labels: Tensor) -> tuple[Tensor, Tensor]:
    """``H`` ``[N, H]`` and ``A Y = (H H^T)^-1 Y`` ``[N, C]`` for one-hot ``Y``."""
    if labels.is_floating_point():
        raise ValueError("isolated_first_layer needs labels, not real targets")
    if len(first) < len(inputs):
        problem = f"isolated_first_layer cannot fit {len(inputs)} training samples with"
        raise ValueError(f"{problem} {len(first)} hidden units; give model.width at least as many")
    hidden = torch.relu(inputs @ first.T)
    classes = torch.arange(inputs.shape[-1], device=labels.device)  # one_hot reads values
    targets = (labels[:, None] == classes).to(hidden.dtype)
    return hidden, solve_positive(_lower_product(hidden), targets)


def _lower_product(hidden: Tensor) -> Tensor:
    """``H H^T`` ``[N, N]`` on and below the diagonal, which is all that ``cholesky`` reads.

    Rows are multiplied in blocks, each with the rows up to its own last; what is to the right of
    a block is zero.
    """
    count = hidden.shape[0]
    size = -(-count // BLOCKS)
    blocks = (hidden[i : i + size] @ hidden[: i + size].T for i in range(0, count, size))
    return torch.cat([pad(block, (0, count - block.shape[1])) for block in blocks])


def build(model: Model, loss: NetworkLoss, *, rate: Positive) -> Dynamics[Params]:
    """Equation 21 with step size `rate`.

    Args:
        model: `models.mlp` with one hidden layer and no biases; its forward pass is inherent here.
        loss: only observed, as the dynamics stays on its zero set.
        rate: step size (eta).
    """
    return IsolatedFirstLayer(rate)
