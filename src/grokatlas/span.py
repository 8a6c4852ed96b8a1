"""Inputs in the coordinates of the space that data and first-layer weights span.

A network of few samples and many features sees its inputs ``x`` through ``W x`` alone, with ``W``
the weights of its first layer. Gradient descent, weight decay and a penalty on the norm of the
Jacobian by inputs move ``W`` to ``A W + B X``: its rows stay in the space that they and the samples
``X`` span, and in orthonormal coordinates of that space every ``W x``, ``W W^T`` and ``x x^T`` is
what it was. So training there is the same training, of as many inputs as there are samples and
units, not features.
"""

import torch
from torch import Tensor


class Span:
    """Coordinates of inputs ``[N, D]`` and of first-layer weights ``[H, D]``.

    The first `spared` coordinates stay. Then come coordinates of the space that the samples span in
    all others, in the order of the samples, then one for each unit: of what its weights have
    outside that space, where samples are zero. The network moves as it would in all ``D``
    coordinates but for rounding. Standard normal noise in every coordinate but the spared ones is
    standard normal noise here: what lies outside meets no weight.

    Args:
        inputs: training and test inputs, ``[N, D]`` in float64.
        spared: number of coordinates ``S`` that stay as they are.
        units: units ``H`` of the first layer.
    """

    def __init__(self, inputs: Tensor, spared: int, units: int) -> None:
        basis, corner = torch.linalg.qr(inputs[:, spared:].T)
        self._basis = basis * _signs(corner)  # [D - S, N]
        self._spared = spared
        self._units = units

    def inputs(self, inputs: Tensor) -> Tensor:
        """``[N, S + K + H]`` of inputs ``[N, D]`` that are in the span, K samples' coordinates."""
        spared, others = inputs[:, : self._spared], inputs[:, self._spared :]
        outside = inputs.new_zeros(len(inputs), self._units)
        return torch.cat([spared, others @ self._basis, outside], 1)

    def weights(self, weights: Tensor) -> Tensor:
        """``[H, S + K + H]`` of weights ``[H, D]``.

        Outside the samples' span only products of two units count: the triangular factor has the
        same ones.
        """
        spared, others = weights[:, : self._spared], weights[:, self._spared :]
        along = others @ self._basis
        outside = others - along @ self._basis.T
        corner = torch.linalg.qr(outside.T, mode="r").R
        return torch.cat([spared, along, corner.T * _signs(corner)], 1)


def _signs(corner: Tensor) -> Tensor:
    """What makes the diagonal of a triangular factor positive: its signs differ by library."""
    return torch.where(corner.diagonal() < 0, -1.0, 1.0)


def of(inputs: Tensor, spared: int, units: int) -> Span | None:
    """The span of inputs ``[N, D]``; None where it is no smaller than the inputs are."""
    samples, features = inputs.shape
    return Span(inputs, spared, units) if spared + samples + units < features else None
