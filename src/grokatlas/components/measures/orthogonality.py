"""How nearly the loss gradient is orthogonal to the zero-loss set."""

import pandas as pd
import torch
from torch import Tensor

from grokatlas.engine.contracts import FinishedRun, Measure, Params
from grokatlas.engine.keyword_types import Count
from grokatlas.engine.rebuilt import RebuiltMember, restored

SETTLED = 1e-6  # change of the projection, relative to the distance, at which it has been found

NEEDS = ["snapshots"]


def build(*, corrections: Count) -> Measure[FinishedRun]:
    """The largest cosine between the loss gradient and an available direction, with its bound.

    Let ``f(theta)`` ``[N C]`` be the outputs on the training set, ``r = f - y``, ``J = df/dtheta``
    ``[N C, P]``, and ``theta*`` the nearest point of the zero-loss set ``{r = 0}``, at the distance
    d. *Available* at ``theta*`` are the directions t with ``J(theta*) t = 0``. Squared error has
    the gradient ``g = 2 c J(theta)^T r``, with c = 1 or 1/N or whatever the loss averages over. If
    ``J(theta)`` has full rank NC, with least singular value ``sigma``, then for every available t

        ``|cos(g, t)| <= |J(theta) - J(theta*)| / sigma = K d / sigma``

    with the spectral norm and ``K = |J(theta) - J(theta*)| / d``, at most the Lipschitz constant of
    J on the segment. Proof, for ``|t| = 1``: ``<g, t> = 2 c r^T J(theta) t = 2 c r^T (J(theta) -
    J(theta*)) t``, so ``|<g, t>| <= 2 c |r| K d``, while ``|g| = 2 c |J(theta)^T r| >= 2 c sigma
    |r|``. So where J is Lipschitz and sigma stays away from zero, the gradient becomes orthogonal
    to the set in proportion to the distance.

    The statement is that of arXiv 2511.01938, theorem 4.13; proof and constants are ours. The
    largest cosine is that between g and its projection on the available directions. The nearest
    point is found by Newton's method on ``|theta - x|^2`` under the linearised constraint, ``x <-
    theta - J^+ (r(x) + J (theta - x))``. Where it does not settle (the set has a kink or a singular
    point closer than theta, or rounding decides) the columns are missing.

    Args:
        corrections: of the projection, at most.

    Returns:
        a function of a finished run, giving one row for each member and snapshot ``step``:
        ``residual`` (|r|), ``distance`` (d), ``cosine``, ``bound``, ``lipschitz`` (K),
        ``singular_value`` (sigma) and ``available``, the number of available directions. A
        `ValueError` if the loss is not the squared error.
    """

    def measure(run: FinishedRun) -> pd.DataFrame:
        if run.spec["loss"]["name"] != "mse":
            raise ValueError("orthogonality needs loss mse: its bound is one for squared error")
        return pd.DataFrame([_row(one, corrections) for one in restored(run)])

    return measure


def _row(one: RebuiltMember, corrections: int) -> dict[str, float]:
    point = _flat(one.params)
    residual, jacobian = _linearised(one, point)
    if len(residual) > len(point):
        raise ValueError("orthogonality needs at least as many parameters as there are residuals")
    row = {"member": one.member, "step": one.step, "residual": float(residual.norm())}
    found = _nearest(one, point, corrections)
    if found is None:
        return row
    nearest, there = found
    distance = float((point - nearest).norm())
    gradient = jacobian.T @ residual
    normal, _ = torch.linalg.qr(there.T)
    along = gradient - normal @ (normal.T @ gradient)
    turned = float(torch.linalg.matrix_norm(jacobian - there, 2))
    least = float(torch.linalg.svdvals(jacobian)[-1])
    return row | {
        "distance": distance,
        "cosine": float(along.norm() / gradient.norm()),
        "bound": turned / least,
        "lipschitz": turned / distance,
        "singular_value": least,
        "available": len(point) - len(residual),
    }


def _nearest(one: RebuiltMember, point: Tensor, corrections: int) -> tuple[Tensor, Tensor] | None:
    """The nearest point of the zero-loss set and the Jacobian there, or None if not found."""
    nearest = point
    for _ in range(corrections):
        residual, jacobian = _linearised(one, nearest)
        wanted = residual + jacobian @ (point - nearest)
        before, nearest = nearest, point - _least_squares(jacobian, wanted)
        if (nearest - before).norm() < SETTLED * (nearest - point).norm():
            return nearest, _linearised(one, nearest)[1]
    return None


def _least_squares(jacobian: Tensor, value: Tensor) -> Tensor:
    """``J^+ v`` ``[P]`` for ``J [N C, P]`` of full rank and ``v [N C]``."""
    normal, factor = torch.linalg.qr(jacobian.T)
    return normal @ torch.linalg.solve_triangular(factor.T, value[:, None], upper=False)[:, 0]


def _linearised(one: RebuiltMember, point: Tensor) -> tuple[Tensor, Tensor]:
    """Residuals ``[N C]`` on the training set, and their Jacobian ``[N C, P]``."""
    targets = one.data["train_targets"]

    def residual(flat: Tensor) -> tuple[Tensor, Tensor]:
        outputs = one.network(_unflat(flat, one.params), one.data["train_inputs"])
        wanted = targets
        if not targets.is_floating_point():
            wanted = torch.nn.functional.one_hot(targets, outputs.shape[-1])
        value = (outputs - wanted).flatten()
        return value, value

    jacobian, value = torch.func.jacrev(residual, has_aux=True)(point)
    return value.detach(), jacobian.detach()


def _flat(params: Params) -> Tensor:
    return torch.cat([value.flatten() for value in params.values()])


def _unflat(flat: Tensor, like: Params) -> Params:
    parts = flat.split([value.numel() for value in like.values()])
    return {key: part.view_as(like[key]) for key, part in zip(like, parts, strict=True)}
