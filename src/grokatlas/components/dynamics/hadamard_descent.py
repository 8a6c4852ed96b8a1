"""Gradient descent for sparse recovery by depth: least squares in a product of factors."""

import math

import numpy as np
import torch
from torch import Tensor

from grokatlas.components.dynamics._compiled import compiled, real
from grokatlas.components.dynamics._least_squares import add_gradient, descended
from grokatlas.engine.contracts import (
    Batch,
    Dynamics,
    Hyperparameter,
    Model,
    NetworkLoss,
    Params,
    PerMember,
)
from grokatlas.engine.keyword_types import Positive

FULL_BATCH = True  # a step takes the whole training set

NAME = "hadamard_descent"


class HadamardDescent:
    """``w_l <- w_l - rate * X^T (X a - y) o prod_(m != l) w_m`` for ``a = w_1 o ... o w_L``.

    Full-batch gradient descent of ``1/2 |X a - y|^2`` (a sum over samples, not a mean) for
    ``X [N, D]``, ``y [N]``; every factor moves by the others as they were before the step. The
    model is `models.hadamard_product`; its factors ``[L, D]`` are the state.

    Source: arXiv 2506.05718, depth instead of a regulariser.
    """

    def __init__(self, rate: Hyperparameter) -> None:
        self.rate = rate

    def init(self, params: Params) -> Params:
        """The state is the factors.

        Raises:
            ValueError: the model is not the one of this dynamics.
        """
        if list(params) != ["factors"]:
            problem = f"{NAME} needs the model hadamard_product, not parameters {sorted(params)}"
            raise ValueError(problem)
        return dict(params)

    def update(self, state: Params, batch: Batch) -> Params:
        """One step on the whole training set."""
        return {"factors": _step(state["factors"], batch[0], real(batch[1], NAME), self.rate)}

    def parameters(self, state: Params, batch: Batch) -> Params:
        """The factors."""
        return state


def advance(state: Params, train: Batch, steps: int, *, rate: PerMember) -> Params:
    """All members by many steps, compiled.

    Args:
        state: the factors ``[M, L, D]``.
        train: inputs ``[N, D]`` and targets ``[N, 1]``, or one for each member with an axis ``M``.
        steps: how many.
        rate: one number, or ``[M]``.

    The result is that of `update` taken `steps` times but for the order of sums. It depends neither
    on how a stretch is cut nor on threads and members. Without numba, or on a GPU, the steps are
    taken by torch.
    """
    inputs, targets = train[0], real(train[1], NAME)
    start = state["factors"]
    moved = descended(start, inputs, targets, [rate], steps, step=_step, loop=_descend)
    return {"factors": moved}


def _step(factors: Tensor, x: Tensor, y: Tensor, rate: PerMember) -> Tensor:
    """One step of ``[..., L, D]``."""
    one = torch.ones_like(factors[..., 0, :])
    parts = factors.unbind(-2)
    residual = math.prod(parts, start=one)[..., None, :] @ x.mT - y[..., None, :]
    rests = [[*parts[:place], *parts[place + 1 :]] for place in range(len(parts))]
    others = torch.stack([math.prod(rest, start=one) for rest in rests], dim=-2)
    return factors - rate * (residual @ x) * others


@compiled
def _descend(x: np.ndarray, y: np.ndarray, factors: np.ndarray, rate: float, steps: int) -> None:
    """Move ``factors [L, D]`` in place."""
    depth, features = factors.shape
    a, gradient = np.empty_like(factors[0]), np.empty_like(factors[0])
    old = np.empty_like(factors[:, 0])
    residual = np.empty_like(y)
    zero = rate - rate
    for _ in range(steps):
        for i in range(features):
            a[i] = factors[0, i]
            for place in range(1, depth):
                a[i] *= factors[place, i]
            gradient[i] = zero
        add_gradient(x, y, a, residual, gradient)
        for i in range(features):
            for place in range(depth):
                old[place] = factors[place, i]
            for place in range(depth):
                move = rate * gradient[i]
                for other in range(depth):
                    if other != place:
                        move *= old[other]
                factors[place, i] -= move


def build(model: Model, loss: NetworkLoss, *, rate: Positive) -> Dynamics[Params]:
    """Gradient descent with step size `rate`.

    Args:
        model: `models.hadamard_product`; inherent in the equation.
        loss: only observed, as the equation has its own.
        rate: step size (alpha).
    """
    return HadamardDescent(rate)
