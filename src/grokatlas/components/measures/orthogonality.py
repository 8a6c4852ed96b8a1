"""The angle between the loss gradient and the zero-loss set."""

import pandas as pd
import torch

from grokatlas.components.measures._zero_loss_set import flat, linearised, nearest
from grokatlas.engine.contracts import FinishedRun, Measure
from grokatlas.engine.keyword_types import Count
from grokatlas.engine.rebuilt import RebuiltMember, restored

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
    point = flat(one.params)
    residual, jacobian = linearised(one, point)
    if len(residual) > len(point):
        raise ValueError("orthogonality needs at least as many parameters as there are residuals")
    row = {"member": one.member, "step": one.step, "residual": float(residual.norm())}
    projection = nearest(one, point, corrections)
    if projection is None:
        return row
    closest, there = projection
    distance = float((point - closest).norm())
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
