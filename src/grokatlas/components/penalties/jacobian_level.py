"""The distance of the Jacobian's mean norm from a level."""

from torch import Tensor

from grokatlas.components.penalties._jacobian import norm, of_norms
from grokatlas.engine.contracts import Penalty
from grokatlas.engine.keyword_types import Count, NonNegative

ROTATABLE = True  # a rotation of inputs and first-layer weights changes nothing

COST = 3  # times the work of a step without it: Jacobians


def build(*, weight: NonNegative, level: NonNegative, projections: Count | None) -> Penalty:
    """``weight * |level - mean_n sqrt(max(s_n, 1e-8))|``.

    It keeps the Jacobian from shrinking, and so inhibits generalisation: arXiv 2506.12284, figure
    7, where `level` is 5 (c in the code).

    Args:
        weight: lambda_Jac.
        level: the mean Frobenius norm to keep.
        projections: of the estimate ``s_n`` of ``||J_n||_F^2``, as in `jacobian`; null: exact.
    """

    def penalty(squares: Tensor) -> Tensor:
        return weight * (level - norm(squares).mean()).abs()

    return of_norms(penalty, projections)
