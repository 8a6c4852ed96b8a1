"""Subgradient descent for matrix sensing: least squares of linear measurements, nuclear norm."""

import numpy as np
from torch import Tensor

from grokatlas.components.dynamics import _least_squares
from grokatlas.components.dynamics import nuclear_subgradient_descent as completion
from grokatlas.components.dynamics._compiled import (
    broadcast,
    compiled,
    each_member,
    numbers,
    only_parameter,
    real,
    usable,
)
from grokatlas.engine.contracts import (
    Batch,
    Hyperparameter,
    Model,
    NetworkLoss,
    Params,
    PenalisedDynamics,
    PerMember,
)
from grokatlas.engine.keyword_types import Count, NonNegative, Positive
from grokatlas.engine.linalg import nan_if_not_finite

COST = 6  # times the work of a step of gradient descent: a polar factor
FULL_BATCH = True  # a step takes the whole training set
MODEL = {"negative_slope": 1.0}  # as in the equation, which does not read it

NAME = "matrix_sensing_descent"
polar = completion._polar  # Newton's iteration: U V^T, compiled
add_gradient = _least_squares.add_gradient


class MatrixSensingDescent:
    """``a <- a - rate * (X^T (X a - y) + weight vec(U V^T))``, ``mat(a) = U S V^T`` (thin).

    Full-batch subgradient descent of ``1/2 |X a - y|^2 + weight |mat(a)|_*`` (a sum over samples)
    for ``X [N, D]``, ``y [N]``; ``mat(a)`` is ``a [D]`` as a matrix of some rows, row by row. The
    model is `models.linear` with one output and ``negative_slope`` 1; ``a`` is its weight
    ``[1, D]``. Singular vectors are as in `dynamics.nuclear_subgradient_descent`, which is the same
    descent where the measurements are entries.
    """

    def __init__(self, rate: Hyperparameter, weight: Hyperparameter, rows: int) -> None:
        self.rate = rate
        self.weight = weight
        self.rows = rows

    def init(self, params: Params) -> Params:
        """The state is the weight.

        Raises:
            ValueError: the model is not the one of this dynamics, or has no such matrix.
        """
        entries = only_parameter(params, NAME, "[1, D]").shape[-1]
        if entries % self.rows:
            raise ValueError(f"{NAME} cannot make {self.rows} rows of {entries} weights")
        return dict(params)

    def update(self, state: Params, batch: Batch) -> Params:
        """One step on the whole training set."""
        ((key, a),) = state.items()
        inputs, targets = batch
        return {key: _step(a, inputs, real(targets, NAME), self.rate, self.weight, rows=self.rows)}

    def parameters(self, state: Params, batch: Batch) -> Params:
        """The weight."""
        return state

    def penalty(self, params: Params, model: Model, inputs: Tensor) -> Tensor:
        """``weight |mat(a)|_*``, for observables."""
        (a,) = params.values()
        return self.weight * (_factor(a.detach(), self.rows) * a).sum()


def advance(
    state: Params, train: Batch, steps: int, *, rate: PerMember, weight: PerMember, rows: int
) -> Params:
    """All members by many steps, compiled, with ``U V^T`` by Newton's iteration.

    Args:
        state: the weights ``[M, 1, D]``.
        train: inputs ``[N, D]`` and targets ``[N, 1]``, or one for each member with an axis ``M``.
        steps: how many.
        rate: one number, or ``[M]``.
        weight: one number, or ``[M]``.
        rows: of the matrix.

    What is said of accuracy, cuts, threads and members in
    `dynamics.nuclear_subgradient_descent.advance` holds here too. Matrices that are not square or
    are exactly singular take the steps of `update`; without numba, or on a GPU, all do.
    """
    ((key, a),) = state.items()
    inputs, targets = train[0], real(train[1], NAME)
    if a.shape[-1] != rows * rows or not usable(a.device):
        terms = [broadcast(value, a) for value in (rate, weight)]
        for _ in range(steps):
            a = _step(a, inputs, targets, *terms, rows=rows)
        return {key: a}
    x = _least_squares._padded(inputs.numpy())
    y = _least_squares._padded(targets[..., None].numpy())[..., 0]
    values = [numbers(value, a) for value in (rate, weight)]
    moved = a.contiguous().clone()

    def work(member: int) -> None:
        known, seen = (x[member], y[member]) if x.ndim == 3 else (x, y)
        own = (inputs[member], targets[member]) if x.ndim == 3 else (inputs, targets)
        own_rate, own_weight = (value[member] for value in values)
        matrix, left = moved[member].view(rows, rows).numpy(), steps
        while left:
            left -= _descend(known, seen, matrix, own_rate, own_weight, left)
            if left:  # an exactly singular matrix, or one that is not finite
                terms = float(own_rate), float(own_weight)
                moved[member] = _step(moved[member], *own, *terms, rows=rows)
                left = left - 1 if moved[member].isfinite().all() else 0

    each_member(work, len(moved))
    return {key: moved}


def _step(
    a: Tensor, x: Tensor, y: Tensor, rate: PerMember, weight: PerMember, *, rows: int
) -> Tensor:
    """One step of ``[..., 1, D]``."""
    residual = a @ x.mT - y[..., None, :]
    return a - rate * (residual @ x + weight * _factor(a, rows))


def _factor(a: Tensor, rows: int) -> Tensor:
    """``vec(U V^T)`` of ``[..., 1, D]``."""
    matrix = a.reshape(*a.shape[:-2], rows, -1)
    factor: Tensor = nan_if_not_finite(completion._polar_factor, matrix)
    return factor.reshape(a.shape)


@compiled
def _descend(
    x: np.ndarray, y: np.ndarray, a: np.ndarray, rate: float, weight: float, steps: int
) -> int:
    """Move ``a [n, n]`` in place; returns after how many steps it was singular, or `steps`."""
    n = len(a)
    u = np.empty_like(a)
    inverse = np.empty_like(a)
    row = np.empty_like(a[0])
    order = np.empty(n, np.int64)
    residual = np.empty_like(y)
    flat = a.reshape(-1)
    gradient = np.empty_like(flat)
    for step in range(steps):
        if not polar(a, u, inverse, row, order):
            return step
        for i in range(n):
            for j in range(n):
                gradient[i * n + j] = weight * u[i, j]
        add_gradient(x, y, flat, residual, gradient)
        for i in range(flat.size):
            flat[i] -= rate * gradient[i]
    return steps


def build(
    model: Model, loss: NetworkLoss, *, rate: Positive, weight: NonNegative, rows: Count
) -> PenalisedDynamics[Params]:
    """Subgradient descent with step size `rate`.

    Args:
        model: `models.linear` with one output and ``negative_slope`` 1; inherent in the equation.
        loss: only observed, as the equation has its own.
        rate: step size (alpha).
        weight: of the nuclear norm (beta).
        rows: of the matrix whose entries, row by row, are the weights.
    """
    return MatrixSensingDescent(rate, weight, rows)
