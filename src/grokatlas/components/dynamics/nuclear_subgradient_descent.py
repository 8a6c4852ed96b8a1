"""Subgradient descent for matrix completion: least squares with a nuclear norm."""

import numpy as np
import torch
from torch import Tensor

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
from grokatlas.engine.keyword_types import NonNegative, Positive
from grokatlas.engine.linalg import nan_if_not_finite
from grokatlas.engine.polar import polar_factor

COST = 6  # times the work of a step of gradient descent: a polar factor

FULL_BATCH = True  # a step takes the whole training set

NAME = "nuclear_subgradient_descent"


class NuclearSubgradientDescent:
    """``A <- A - rate * (R + weight * U V^T)`` for a matrix ``A [R, S] = U S V^T`` (thin).

    Full-batch subgradient descent of ``1/2 sum_observed (A_ij - y_ij)^2 + weight |A|_*``; ``R`` is
    ``A_ij - y_ij`` at observed entries and zero elsewhere. Inputs are index pairs ``[N, 2]``,
    targets their values ``[N, 1]``; the model has the matrix as its one parameter.

    ``U V^T`` takes in all ``min(R, S)`` singular vectors, as the paper's code does. Those of
    singular values that are exactly zero are any that LAPACK gives, although the subgradient of
    least norm would leave them out. On a GPU ``U V^T`` comes from `engine.polar.polar_factor`, as
    an SVD would make the host wait; it leaves them out where a row, a column or ``A`` is zero.

    Source: arXiv 2506.05718, matrix completion.
    """

    def __init__(self, rate: Hyperparameter, weight: Hyperparameter) -> None:
        self.rate = rate
        self.weight = weight

    def init(self, params: Params) -> Params:
        """The state is the matrix.

        Raises:
            ValueError: the model is not the one of this dynamics.
        """
        only_parameter(params, NAME, "[R, S]")
        return dict(params)

    def update(self, state: Params, batch: Batch) -> Params:
        """One step on all observed entries."""
        ((key, matrix),) = state.items()
        places = _places(batch[0], matrix.shape[-1])
        return {key: _step(matrix, places, real(batch[1], NAME), self.rate, self.weight)}

    def parameters(self, state: Params, batch: Batch) -> Params:
        """The matrix."""
        return state

    def penalty(self, params: Params, model: Model, inputs: Tensor) -> Tensor:
        """``weight |A|_*``, for observables; its gradient is ``weight U V^T``."""
        (matrix,) = params.values()
        return self.weight * (nan_if_not_finite(_polar_factor, matrix.detach()) * matrix).sum()


def advance(
    state: Params, train: Batch, steps: int, *, rate: PerMember, weight: PerMember
) -> Params:
    """All members by many steps, compiled, with ``U V^T`` by Newton's iteration.

    Args:
        state: the matrices ``[M, R, S]``.
        train: pairs ``[N, 2]`` and values ``[N, 1]``, or one for each member with an axis ``M``.
        steps: how many.
        rate: one number, or ``[M]``.
        weight: one number, or ``[M]``.

    ``U V^T`` is computed backward stably, as LAPACK's is: it is that of a matrix which differs from
    ``A`` by rounding. Two such factors differ by about ``eps |A| / (s_n + s_(n-1))``, the last two
    singular values. Where these jump about zero they are of size ``rate * weight``, so one step
    differs from `update` by rounding alone; over many steps the jumps lose step with those of
    `update` but keep their size. How a stretch is cut, threads and members do not matter.

    Matrices that are not square or are exactly singular take the steps of `update`; without numba,
    or on a GPU, all do.
    """
    ((key, matrix),) = state.items()
    places, targets = _places(train[0], matrix.shape[-1]), real(train[1], NAME)
    if matrix.shape[-1] != matrix.shape[-2] or not usable(matrix.device):
        terms = [broadcast(value, matrix) for value in (rate, weight)]
        for _ in range(steps):
            matrix = _step(matrix, places, targets, *terms)
        return {key: matrix}
    values = [numbers(value, matrix) for value in (rate, weight)]
    moved = matrix.contiguous().clone()

    def work(member: int) -> None:
        own = (places[member], targets[member]) if places.ndim == 2 else (places, targets)
        pairs, known = (np.ascontiguousarray(tensor.numpy()) for tensor in own)
        own_rate, own_weight = (value[member] for value in values)
        left = steps
        while left:
            left -= _descend(pairs, known, moved[member].numpy(), own_rate, own_weight, left)
            if left:  # an exactly singular matrix, or one that is not finite
                moved[member] = _step(moved[member], *own, float(own_rate), float(own_weight))
                left = left - 1 if moved[member].isfinite().all() else 0

    each_member(work, len(moved))
    return {key: moved}


def _places(pairs: Tensor, columns: int) -> Tensor:
    """Positions of the entries of pairs ``[..., N, 2]`` in a matrix laid out row by row."""
    return pairs[..., 0] * columns + pairs[..., 1]


def _step(
    matrix: Tensor, places: Tensor, targets: Tensor, rate: PerMember, weight: PerMember
) -> Tensor:
    """One step of ``[..., R, S]``."""
    flat = matrix.flatten(-2)
    places = places.expand(*flat.shape[:-1], -1)
    residual = flat.gather(-1, places) - targets
    masked = torch.zeros_like(flat).scatter_add(-1, places, residual)
    factor = nan_if_not_finite(_polar_factor, matrix)
    return matrix - rate * (masked.view_as(matrix) + weight * factor)


def _polar_factor(matrix: Tensor) -> Tensor:
    """``U V^T`` of ``U S V^T``."""
    if matrix.device.type != "cpu":
        return polar_factor(matrix)
    u, _, vt = torch.linalg.svd(matrix, full_matrices=False)
    return u @ vt


@compiled
def _descend(
    places: np.ndarray, targets: np.ndarray, a: np.ndarray, rate: float, weight: float, steps: int
) -> int:
    """Move ``a [n, n]`` in place; returns after how many steps it was singular, or `steps`."""
    n = len(a)
    u = np.empty_like(a)
    inverse = np.empty_like(a)
    row = np.empty_like(a[0])
    order = np.empty(n, np.int64)
    residual = np.empty_like(targets)
    flat = a.reshape(-1)
    for step in range(steps):
        if not _polar(a, u, inverse, row, order):
            return step
        for k in range(len(places)):
            residual[k] = rate * (flat[places[k]] - targets[k])
        for i in range(n):
            for j in range(n):
                a[i, j] -= rate * weight * u[i, j]
        for k in range(len(places)):
            flat[places[k]] -= residual[k]
    return steps


@compiled
def _polar(
    a: np.ndarray, u: np.ndarray, inverse: np.ndarray, row: np.ndarray, order: np.ndarray
) -> bool:
    """``U V^T`` of ``a [n, n]`` into ``u``; False if `a` is exactly singular or not finite.

    Newton's iteration ``X <- (g X + X^-T / g) / 2`` with ``g^2 = |X^-1| / |X|`` from ``X = a``
    (Higham 1986), until a step is so small that ``X`` is orthogonal to 0.005; then three of
    Newton and Schulz, ``X <- X (3 I - X^T X) / 2``, whose errors are 4e-5, 3e-9, 1e-17.
    """
    n = len(a)
    half = a.dtype.type(0.5)
    _copy(a, u)
    for _ in range(40):
        _copy(u, inverse)
        if not _invert(inverse, row, order):
            return False
        size = inverse_size = a.dtype.type(0)
        for i in range(n):
            for j in range(n):
                size += u[i, j] * u[i, j]
                inverse_size += inverse[i, j] * inverse[i, j]
        scale = np.sqrt(np.sqrt(inverse_size / size))
        change = a.dtype.type(0)
        for k in range(n):
            i = order[k]  # column k of what `_invert` left is column i of the inverse
            for j in range(n):
                value = half * (scale * u[i, j] + inverse[j, k] / scale)
                change += (value - u[i, j]) ** 2
                u[i, j] = value
        if not np.isfinite(change):
            return False
        if change < 0.01:
            for _ in range(3):
                _orthogonalise(u, inverse, row)
            return True
    return False


@compiled
def _copy(source: np.ndarray, target: np.ndarray) -> None:
    """``[n, n]`` entry by entry: an assignment of slices takes a second to compile."""
    n = len(source)
    for i in range(n):
        for j in range(n):
            target[i, j] = source[i, j]


@compiled
def _invert(b: np.ndarray, row: np.ndarray, order: np.ndarray) -> bool:
    """Gauss-Jordan in place with row pivots; False if a pivot is zero or not a number."""
    n = len(b)
    for k in range(n):
        order[k] = k
    for k in range(n):
        pivot = k
        for i in range(k + 1, n):
            if abs(b[i, k]) > abs(b[pivot, k]):
                pivot = i
        if not abs(b[pivot, k]) > 0:
            return False
        scale = 1 / b[pivot, k]
        for j in range(n):
            row[j] = b[pivot, j] * scale
            b[pivot, j] = b[k, j]
        row[k] = scale
        order[k], order[pivot] = order[pivot], order[k]
        for i in range(n):
            factor = b[i, k]
            b[i, k] = 0
            for j in range(n):
                b[i, j] -= factor * row[j]
        for j in range(n):
            b[k, j] = row[j]
    return True


@compiled
def _orthogonalise(u: np.ndarray, gram: np.ndarray, row: np.ndarray) -> None:
    """``u <- u (3 I - u^T u) / 2`` in place."""
    n = len(u)
    for i in range(n):
        for j in range(n):
            gram[i, j] = 0
    for k in range(n):
        for i in range(n):
            for j in range(n):
                gram[i, j] += u[k, i] * u[k, j]
    for k in range(n):
        for j in range(n):
            row[j] = 3 * u[k, j]
        for i in range(n):
            for j in range(n):
                row[j] -= u[k, i] * gram[i, j]
        for j in range(n):
            u[k, j] = row[j] / 2


def build(
    model: Model, loss: NetworkLoss, *, rate: Positive, weight: NonNegative
) -> PenalisedDynamics[Params]:
    """Subgradient descent with step size `rate`.

    Args:
        model: whose one parameter is the matrix; its entries at index pairs are the outputs.
        loss: only observed, as the equation has its own.
        rate: step size (alpha).
        weight: of the nuclear norm (beta).
    """
    return NuclearSubgradientDescent(rate, weight)
