"""The distance of a network from the zero-loss set."""

import pandas as pd
from torch import Tensor

from grokatlas.components.measures._zero_loss_set import flat, least_squares, linearised, nearest
from grokatlas.engine.contracts import FinishedRun, Measure
from grokatlas.engine.keyword_types import Count
from grokatlas.engine.rebuilt import RebuiltMember, restored

NEEDS = ["snapshots"]
REACHED = 1e-9  # residual, relative to that at the network, at which a point is of the set


def build(*, corrections: Count) -> Measure[FinishedRun]:
    """The distance to the nearest point of zero training loss, or to another one.

    The nearest point is sought as in measure `orthogonality`. Where that does not settle (the
    nearest piece of the set ends at a kink, or rounding decides) a point of the set is sought by
    ``x <- x - J^+ r(x)``, the method of Gauss and Newton; its distance is an upper bound. Where
    neither is found the row has no numbers.

    Args:
        corrections: steps of either method, at most.

    Returns:
        a function of a finished run, giving one row for each member and snapshot ``step``:
        ``distance``, and ``nearest``, 1 if it is that of the nearest point and 0 if it is an upper
        bound. A `ValueError` if the loss is not the squared error.
    """

    def measure(run: FinishedRun) -> pd.DataFrame:
        if run.spec["loss"]["name"] != "mse":
            raise ValueError("zero_loss_distance needs loss mse: its zero set is f = y")
        return pd.DataFrame([_row(one, corrections) for one in restored(run)])

    return measure


def _row(one: RebuiltMember, corrections: int) -> dict[str, float]:
    point = flat(one.params)
    row: dict[str, float] = {"member": one.member, "step": one.step}
    projection = nearest(one, point, corrections)
    if projection is not None:
        return row | {"distance": float((point - projection[0]).norm()), "nearest": 1.0}
    other = _another(one, point, corrections)
    if other is None:
        return row | {"distance": float("nan"), "nearest": float("nan")}
    return row | {"distance": float((point - other).norm()), "nearest": 0.0}


def _another(one: RebuiltMember, point: Tensor, corrections: int) -> Tensor | None:
    """A point of the zero-loss set, or None if it is not found."""
    residual, jacobian = linearised(one, point)
    level = max(REACHED * float(residual.norm()), 1e-14 * len(residual))
    for _ in range(corrections):
        point = point - least_squares(jacobian, residual)
        residual, jacobian = linearised(one, point)
        if residual.norm() <= level:
            return point
    return None
