"""Descent of least squares over all samples by many steps, compiled: what its dynamics share."""

from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor

from grokatlas.components.dynamics._compiled import (
    broadcast,
    compiled,
    each_member,
    numbers,
    usable,
)
from grokatlas.engine.contracts import PerMember

ROWS = 6  # samples that a pass of the compiled loop takes together


def descended(
    start: Tensor,
    inputs: Tensor,
    targets: Tensor,
    terms: list[PerMember],
    steps: int,
    *,
    step: Callable[..., Tensor],
    loop: Callable[..., None],
) -> Tensor:
    """The parameters of all members after many steps; by torch without numba, or on a GPU.

    Args:
        start: ``[M, ...]``, left as it is.
        inputs: ``[N, D]``, or ``[M, N, D]``.
        targets: ``[N]``, or ``[M, N]``.
        terms: keywords of the equation, one number or ``[M]`` each.
        steps: how many.
        step: of parameters, inputs, targets and terms, the parameters of all after a step.
        loop: compiled; of padded inputs and targets, a member's parameters, its terms and `steps`,
            moves the parameters in place.
    """
    if not usable(start.device):
        shaped = [broadcast(term, start) for term in terms]
        for _ in range(steps):
            start = step(start, inputs, targets, *shaped)
        return start
    x, y = _padded(inputs.numpy()), _padded(targets[..., None].numpy())[..., 0]
    values = [numbers(term, start) for term in terms]
    moved = start.numpy().copy()

    def work(member: int) -> None:
        own = (x[member], y[member]) if inputs.ndim == 3 else (x, y)
        loop(*own, moved[member], *(value[member] for value in values), steps)

    each_member(work, len(moved))
    return torch.from_numpy(moved)


def _padded(samples: np.ndarray) -> np.ndarray:
    """``[..., N, D]`` with samples of zeros (and target zero) up to a multiple of `ROWS`."""
    more = -samples.shape[-2] % ROWS
    widths = [(0, 0)] * (samples.ndim - 2) + [(0, more), (0, 0)]
    return np.ascontiguousarray(np.pad(samples, widths))


@compiled
def add_gradient(
    x: np.ndarray, y: np.ndarray, a: np.ndarray, residual: np.ndarray, gradient: np.ndarray
) -> None:
    """Add ``X^T (X a - y)`` to ``gradient [D]``; leaves ``X a - y`` in ``residual [N]``.

    ``x [N, D]`` and ``y [N]`` are padded by `descended`: rows are taken six at a time (`ROWS`), so
    that ``a`` and the gradient are read once for six.
    """
    samples, features = x.shape
    zero = a[0] - a[0]
    for j in range(0, samples, 6):
        x0, x1, x2, x3, x4, x5 = x[j], x[j + 1], x[j + 2], x[j + 3], x[j + 4], x[j + 5]
        s0 = s1 = s2 = s3 = s4 = s5 = zero
        for i in range(features):
            s0 += x0[i] * a[i]
            s1 += x1[i] * a[i]
            s2 += x2[i] * a[i]
            s3 += x3[i] * a[i]
            s4 += x4[i] * a[i]
            s5 += x5[i] * a[i]
        residual[j], residual[j + 1] = s0 - y[j], s1 - y[j + 1]
        residual[j + 2], residual[j + 3] = s2 - y[j + 2], s3 - y[j + 3]
        residual[j + 4], residual[j + 5] = s4 - y[j + 4], s5 - y[j + 5]
    for j in range(0, samples, 6):
        x0, x1, x2, x3, x4, x5 = x[j], x[j + 1], x[j + 2], x[j + 3], x[j + 4], x[j + 5]
        r0, r1, r2 = residual[j], residual[j + 1], residual[j + 2]
        r3, r4, r5 = residual[j + 3], residual[j + 4], residual[j + 5]
        for i in range(features):
            gradient[i] += (
                r0 * x0[i] + r1 * x1[i] + r2 * x2[i] + r3 * x3[i] + r4 * x4[i] + r5 * x5[i]
            )
