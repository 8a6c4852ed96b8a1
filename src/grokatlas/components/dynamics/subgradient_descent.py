"""Subgradient descent for sparse recovery: least squares with l1 and l2 terms."""

import numpy as np
from torch import Tensor

from grokatlas.components.dynamics._compiled import compiled, only_parameter, real
from grokatlas.components.dynamics._least_squares import add_gradient, descended
from grokatlas.engine.contracts import (
    Batch,
    Hyperparameter,
    Model,
    NetworkLoss,
    Params,
    PenalisedDynamics,
    PerMember,
)
from grokatlas.engine.keyword_types import NonNegative, Positive

FULL_BATCH = True  # a step takes the whole training set
MODEL = {"negative_slope": 1.0}  # as in the equation, which does not read it

NAME = "subgradient_descent"


class SubgradientDescent:
    """``a <- a - rate * (X^T (X a - y) + l1 sign(a) + l2 a)``, with ``sign(0) = 0``.

    Full-batch subgradient descent of ``1/2 |X a - y|^2 + l1 |a|_1 + l2/2 |a|^2`` (a sum over
    samples, not a mean) for ``X [N, D]``, ``y [N]``, ``a [D]``. The model is `models.linear` with
    one output and ``negative_slope`` 1; ``a`` is its weight ``[1, D]``.

    Source: arXiv 2506.05718, sparse recovery. There the l2 term is written ``beta_2 |a|^2``; its
    code, as here, has ``beta_2/2 |a|^2``.
    """

    def __init__(self, rate: Hyperparameter, l1: Hyperparameter, l2: Hyperparameter) -> None:
        self.rate = rate
        self.l1 = l1
        self.l2 = l2

    def init(self, params: Params) -> Params:
        """The state is the weight.

        Raises:
            ValueError: the model is not the one of this dynamics.
        """
        only_parameter(params, NAME, "[1, D]")
        return dict(params)

    def update(self, state: Params, batch: Batch) -> Params:
        """One step on the whole training set."""
        ((key, weight),) = state.items()
        inputs, targets = batch
        return {key: _step(weight, inputs, real(targets, NAME), self.rate, self.l1, self.l2)}

    def parameters(self, state: Params, batch: Batch) -> Params:
        """The weight."""
        return state

    def penalty(self, params: Params, model: Model, inputs: Tensor) -> Tensor:
        """``l1 |a|_1 + l2/2 |a|^2``, for observables."""
        (weight,) = params.values()
        return self.l1 * weight.abs().sum() + self.l2 / 2 * weight.square().sum()


def advance(
    state: Params,
    train: Batch,
    steps: int,
    *,
    rate: PerMember,
    l1: PerMember,
    l2: PerMember,
) -> Params:
    """All members by many steps, compiled.

    Args:
        state: the weights ``[M, 1, D]``.
        train: inputs ``[N, D]`` and targets ``[N, 1]``, or one for each member with an axis ``M``.
        steps: how many.
        rate: one number, or ``[M]``.
        l1: one number, or ``[M]``.
        l2: one number, or ``[M]``.

    The result is that of `update` taken `steps` times but for the order of sums. It depends neither
    on how a stretch is cut nor on threads and members. Without numba, or on a GPU, the steps are
    taken by torch.
    """
    ((key, weight),) = state.items()
    inputs, targets = train[0], real(train[1], NAME)
    terms = [rate, l1, l2]
    moved = descended(weight, inputs, targets, terms, steps, step=_step, loop=_descend)
    return {key: moved}


def _step(
    weight: Tensor,
    x: Tensor,
    y: Tensor,
    rate: PerMember,
    l1: PerMember,
    l2: PerMember,
) -> Tensor:
    """One step of ``[..., 1, D]``."""
    residual = weight @ x.mT - y[..., None, :]
    return weight - rate * (residual @ x + l1 * weight.sign() + l2 * weight)


@compiled
def _descend(
    x: np.ndarray,
    y: np.ndarray,
    weight: np.ndarray,
    rate: float,
    l1: float,
    l2: float,
    steps: int,
) -> None:
    """Move ``weight [1, D]`` in place."""
    a = weight[0]
    gradient = np.empty_like(a)
    residual = np.empty_like(y)
    zero = rate - rate
    for _ in range(steps):
        for i in range(a.size):
            sign = l1 if a[i] > zero else (-l1 if a[i] < zero else zero)
            gradient[i] = l2 * a[i] + sign
        add_gradient(x, y, a, residual, gradient)
        for i in range(a.size):
            a[i] -= rate * gradient[i]


def build(
    model: Model, loss: NetworkLoss, *, rate: Positive, l1: NonNegative, l2: NonNegative
) -> PenalisedDynamics[Params]:
    """Subgradient descent with step size `rate`.

    Args:
        model: `models.linear` with one output and ``negative_slope`` 1; inherent in the equation.
        loss: only observed, as the equation has its own.
        rate: step size (alpha).
        l1: weight of ``|a|_1`` (beta_1).
        l2: weight of ``|a|^2 / 2`` (beta_2).
    """
    return SubgradientDescent(rate, l1, l2)
