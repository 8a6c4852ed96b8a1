"""The norm of the Jacobian of outputs by inputs (GrokAlign)."""

from typing import Literal

from torch import Tensor

from grokatlas.components.penalties._jacobian import norm, of_norms
from grokatlas.engine.contracts import Penalty
from grokatlas.engine.keyword_types import Count, NonNegative

ROTATABLE = True  # a rotation of inputs and first-layer weights changes nothing

COST = 3  # times the work of a step without it: Jacobians


def build(
    *, weight: NonNegative, form: Literal["norm", "half_square"], projections: Count | None
) -> Penalty:
    """``weight * mean_n r_n`` with ``r_n`` of the Jacobian ``J_n`` of sample n.

    Args:
        weight: lambda_Jac.
        form: ``norm``, ``r_n = sqrt(max(s_n, 1e-8))``, as in the code of arXiv 2506.12284; or
            ``half_square``, ``r_n = s_n / 2`` (Hoffman et al., arXiv 1908.02729).
        projections: ``s_n = C mean_k |v_k^T J_n|^2`` over so many unit vectors ``v_k``, drawn anew
            for each sample and step; its expectation is ``||J_n||_F^2``. Null: ``s_n`` is exactly
            that, which takes as many backward passes as there are outputs ``C``.

    ``J_n`` is by real inputs, or by the embeddings of tokens.
    """

    def penalty(squares: Tensor) -> Tensor:
        values = norm(squares) if form == "norm" else squares / 2
        return weight * values.mean()

    return of_norms(penalty, projections)
