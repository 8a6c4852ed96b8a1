"""Points of the zero-loss set ``{theta : f(theta) = y}`` near a network."""

import torch
from torch import Tensor

from grokatlas.engine.contracts import Params
from grokatlas.engine.rebuilt import RebuiltMember

SETTLED = 1e-6  # change of the projection, relative to the distance, at which it has been found


def nearest(one: RebuiltMember, point: Tensor, corrections: int) -> tuple[Tensor, Tensor] | None:
    """The nearest point of the zero-loss set and the Jacobian there, or None if not found."""
    nearest_point = point
    for _ in range(corrections):
        residual, jacobian = linearised(one, nearest_point)
        wanted = residual + jacobian @ (point - nearest_point)
        before, nearest_point = nearest_point, point - least_squares(jacobian, wanted)
        if (nearest_point - before).norm() < SETTLED * (nearest_point - point).norm():
            return nearest_point, linearised(one, nearest_point)[1]
    return None


def least_squares(jacobian: Tensor, value: Tensor) -> Tensor:
    """``J^+ v`` ``[P]`` for ``J [N C, P]`` of full rank and ``v [N C]``."""
    normal, factor = torch.linalg.qr(jacobian.T)
    return normal @ torch.linalg.solve_triangular(factor.T, value[:, None], upper=False)[:, 0]


def linearised(one: RebuiltMember, point: Tensor) -> tuple[Tensor, Tensor]:
    """Residuals ``[N C]`` on the training set, and their Jacobian ``[N C, P]``."""
    targets = one.data["train_targets"]

    def residual(flat: Tensor) -> tuple[Tensor, Tensor]:
        outputs = one.network(unflat(flat, one.params), one.data["train_inputs"])
        wanted = targets
        if not targets.is_floating_point():
            wanted = torch.nn.functional.one_hot(targets, outputs.shape[-1])
        value = (outputs - wanted).flatten()
        return value, value

    jacobian, value = torch.func.jacrev(residual, has_aux=True)(point)
    return value.detach(), jacobian.detach()


def flat(params: Params) -> Tensor:
    return torch.cat([value.flatten() for value in params.values()])


def unflat(flat: Tensor, like: Params) -> Params:
    parts = flat.split([value.numel() for value in like.values()])
    return {key: part.view_as(like[key]) for key, part in zip(like, parts, strict=True)}
