"""Inputs in the coordinates of the space that samples and first-layer weights span.

A network of few samples and many features sees its inputs ``x`` through ``W x`` alone, with ``W``
the weights of its first layer. Gradient descent, weight decay and a penalty on the norm of the
Jacobian by inputs move ``W`` to ``A W + B X``: its rows stay in the space that they and the samples
``X`` span, and in orthonormal coordinates of that space every ``W x``, ``W W^T`` and ``x x^T`` is
what it was. So training there is the same training, of as many inputs as there are samples (of
training and test) and units, not features. `declare/train_rules.py` says which runs may.
"""

import torch
from torch import Tensor

from grokatlas.engine.contracts import Spec

DEPENDENT = 1e-10  # of its length: what a sample that others span may have outside them


class Span:
    """Coordinates of inputs ``[N, D]`` and of first-layer weights ``[H, D]``.

    The first `spared` coordinates, S, stay. Then come K coordinates of the space that `samples`
    span in all others, one for each sample that those before it do not span; then one for each
    unit: of what its weights have outside that space, where samples are zero. The network moves as
    it would in all ``D`` coordinates but for rounding.

    Standard normal noise in every coordinate but the spared ones is standard normal noise here, as
    what is outside meets no weight. That is so for each member; one draw is other noise to each,
    as the coordinates of units are its own.

    Args:
        samples: training and test inputs, ``[N, D]`` in float64.
        spared: number of coordinates that stay as they are.
        units: units ``H`` of the first layer.
    """

    def __init__(self, samples: Tensor, spared: int, units: int) -> None:
        others = samples[:, spared:]
        basis, corner = torch.linalg.qr(others[_independent(others)].T)
        self._basis = basis * _signs(corner)  # [D - S, K]
        self._spared = spared
        self._units = units

    def inputs(self, inputs: Tensor) -> Tensor:
        """``[N, S + K + H]`` of some of the samples ``[N, D]``."""
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


def of(spec: Spec, samples: Tensor) -> Span | None:
    """The span of a run that asks for one; None if it is no smaller than the inputs are.

    Args:
        spec: the run's.
        samples: training and test inputs, ``[N, D]`` in float64.
    """
    observables, units = spec.get("observables", []), spec["model"]["width"]
    # as many coordinates stay as an observable tells from the rest
    spared = max((entry.get("spared", 0) for entry in observables), default=0)
    smaller = spared + len(samples) + units < samples.shape[1]
    return Span(samples, spared, units) if smaller else None


def _independent(rows: Tensor) -> Tensor:
    """Rows ``[N, D]`` that those before them do not span, as booleans ``[N]``.

    By Gram and Schmidt, twice for each row. The diagonal of a triangular factor would not tell: a
    dependent row is given a direction of chance there, which a later row may need.
    """
    basis, count, own = torch.empty_like(rows), 0, []
    for row in rows:
        rest = row
        for _ in range(2):
            rest = rest - (basis[:count] @ rest) @ basis[:count]
        length = rest.norm()
        own.append(bool(length > DEPENDENT * row.norm()))  # less is rounding
        if own[-1]:
            basis[count] = rest / length
            count += 1
    return torch.tensor(own, device=rows.device)


def _signs(corner: Tensor) -> Tensor:
    """Signs that make the diagonal of a triangular factor positive: they differ by library."""
    return torch.where(corner.diagonal() < 0, -1.0, 1.0)
