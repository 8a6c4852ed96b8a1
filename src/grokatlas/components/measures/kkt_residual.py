"""The distance of weights from a stationary point of the norm among interpolators."""

import numpy as np
import pandas as pd
import torch
from torch import Tensor

from grokatlas.engine.contracts import FinishedRun, Measure, Params
from grokatlas.engine.rebuilt import RebuiltMember, restored

NEEDS = ["snapshots"]


def build() -> Measure[FinishedRun]:
    """The two residuals of ``min |w|^2 / 2`` subject to ``f(w) = y``, at every snapshot.

    At a point of Karush, Kuhn and Tucker all outputs are the targets, and ``w = J^T m`` for some
    multipliers m, with ``J = df/dw [N C, P]`` on the training inputs (arXiv 2505.20172,
    propositions 3 and 4). So with the projection ``P_T = I - J^+ J`` on the directions that leave
    outputs as they are, ``P_T w`` vanishes there. J is the derivative that automatic
    differentiation gives: where a ReLU's argument is zero at a training input, the subdifferential
    has more multipliers than are counted here.

    Returns:
        a function of a finished run, giving one row for each member and snapshot ``step``:
        ``tangential_share``, ``|P_T w| / |w|``, and ``constraint``, the root of the mean of
        ``(f(w) - y)^2`` over training samples and outputs. A `ValueError` if targets are labels.
    """

    def measure(run: FinishedRun) -> pd.DataFrame:
        return pd.DataFrame([_row(one) for one in restored(run)])

    return measure


def _row(one: RebuiltMember) -> dict[str, float]:
    inputs, targets = one.data["train_inputs"], one.data["train_targets"]
    if not targets.is_floating_point():
        raise ValueError("kkt_residual needs a task with real targets, not labels")

    def residuals(params: Params) -> tuple[Tensor, Tensor]:
        value = (one.network(params, inputs) - targets).flatten()
        return value, value

    derivative, value = torch.func.jacrev(residuals, has_aux=True)(one.params)
    weights = torch.cat([each.flatten() for each in one.params.values()]).double().numpy()
    blocks = [derivative[key].flatten(1) for key in one.params]
    jacobian = torch.cat(blocks, dim=1).double().detach().numpy()
    return {
        "member": one.member,
        "step": one.step,
        "tangential_share": _tangential_share(jacobian, weights),
        "constraint": float(value.detach().double().square().mean().sqrt()),
    }


def _tangential_share(jacobian: np.ndarray, weights: np.ndarray) -> float:
    """``|P_T w| / |w|`` for J ``[N C, P]`` and w ``[P]``; not a number where one is not finite."""
    whole = np.linalg.norm(weights)
    if not (np.isfinite(jacobian).all() and np.isfinite(whole)) or whole == 0:
        return float("nan")
    multipliers = np.linalg.lstsq(jacobian.T, weights, rcond=None)[0]
    return float(np.linalg.norm(weights - jacobian.T @ multipliers) / whole)
