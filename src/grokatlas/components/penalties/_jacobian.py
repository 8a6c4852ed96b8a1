"""The Frobenius norm of a network's Jacobian, exact or from random projections."""

from collections.abc import Callable

import torch
from torch import Tensor

from grokatlas.engine.contracts import Model, Params, Penalty, Shape
from grokatlas.engine.noise_contracts import NoisyPenalty

FLOOR = 1e-8  # of a squared norm under a root, so that the gradient is finite at 0


def exact(params: Params, model: Model, inputs: Tensor) -> Tensor:
    """``||J_n||_F^2`` ``[N]`` of each sample, ``J = d outputs / d features``: C products."""
    outputs, pull = _pull(params, model, inputs)
    units = torch.eye(outputs.shape[-1], dtype=outputs.dtype, device=outputs.device)
    rows = [pull(unit.expand_as(outputs))[0] for unit in units]
    return sum((_squares(row) for row in rows), outputs.new_zeros(len(outputs)))


def projected(params: Params, model: Model, inputs: Tensor, noise: Tensor) -> Tensor:
    """``C mean_k |v_k^T J_n|^2`` ``[N]``, of which ``||J_n||_F^2`` is the expectation.

    Args:
        params: the parameters.
        model: the network.
        inputs: ``[N, ...]``.
        noise: standard normal ``[projections, N, C]``; ``v_k`` are its rows, made unit vectors.
    """
    directions = noise / noise.square().sum(-1, keepdim=True).sqrt()
    outputs, pull = _pull(params, model, inputs)
    squares = [_squares(pull(direction)[0]) for direction in directions]
    total = sum(squares, outputs.new_zeros(len(outputs)))
    return outputs.shape[-1] * total / len(squares)


def norm(squares: Tensor) -> Tensor:
    """``sqrt(max(squares, 1e-8))``."""
    return squares.clamp(min=FLOOR).sqrt()


def _pull(
    params: Params, model: Model, inputs: Tensor
) -> tuple[Tensor, Callable[[Tensor], tuple[Tensor]]]:
    """Outputs ``[N, C]``, and ``v -> v^T J`` for one ``v`` ``[N, C]`` of all samples."""
    features = model.features(params, inputs)
    return torch.func.vjp(lambda given: model(params, given), features)[:2]


def _squares(rows: Tensor) -> Tensor:
    return rows.flatten(1).square().sum(-1)


class Projected:
    """A penalty of the Jacobian's squared norms ``[N]``, estimated by the noise of each batch.

    Called without noise it takes the exact norms.
    """

    def __init__(self, penalty: Callable[[Tensor], Tensor], projections: int) -> None:
        self.penalty = penalty
        self.projections = projections

    def noise_shape(self, inputs_shape: Shape, outputs_shape: Shape) -> Shape:
        """``[projections, N, C]``."""
        return (self.projections, *outputs_shape)

    def given(self, noise: Tensor) -> Penalty:
        """The penalty of one batch."""

        def penalty(params: Params, model: Model, inputs: Tensor) -> Tensor:
            return self.penalty(projected(params, model, inputs, noise))

        return penalty

    def __call__(self, params: Params, model: Model, inputs: Tensor) -> Tensor:
        return self.penalty(exact(params, model, inputs))


def of_norms(penalty: Callable[[Tensor], Tensor], projections: int | None) -> Penalty:
    """A penalty of the squared norms ``[N]``, from `projections` or exact if None."""
    if projections is not None:
        noisy: NoisyPenalty = Projected(penalty, projections)
        return noisy
    return lambda params, model, inputs: penalty(exact(params, model, inputs))
