"""Bounds on descent on least squares: its speed, and its distance from the truth."""

from typing import Any

import numpy as np
import pandas as pd

from grokatlas.engine import members
from grokatlas.engine.contracts import FinishedRun, Measure, Member, Spec, TaskData

SETTLED = 1e-9  # a step that changes the bound by less, relative to it, is the last


def build() -> Measure[FinishedRun]:
    """Bounds on the errors of sparse recovery, from X ``[N, n]`` with ``N <= n`` of full rank.

    Under l2 (``linear_descent``), where a^ is the ridge solution and s the singular values of X:

        ``|a_t - a*| <= rho^t |a_0 - a^| + |a^ - a*|``, ``rho = max |1 - rate (s^2 + l2)|``,

    over the zeros of ``X^T X`` too: ``test_error_above``. In the end a is in the row space of X, so
    ``|a - a*| >= |(I - X^+ X) a*|``: ``test_error_below``. Theorem 3.6 of arXiv 2506.05718.

    Under l1 (``subgradient_descent`` without l2), ``train_error_above``. With G the gradient of the
    loss g, H the subgradient of the penalty, L and mu the largest and the least ``s^2``, a step of
    size rate gives, as g is L-smooth,

        ``g+ - g <= -rate/2 [(2 - rate L) |G|^2 + 2 (1 - rate L) <G, H> - rate L |H|^2]
        <= -rate/2 kappa |G|^2``, ``kappa = (2 - rate L) - 2 r |1 - rate L| - rate L r^2``

    where ``|H| <= r |G|``, and ``|G|^2 >= 2 mu g``. So g falls by the factor ``1 - rate mu kappa``
    at least, as long as kappa is positive: for ``rate L <= 1`` as long as r is below 1. Here r is
    bounded by ``l1 sqrt(n) / sqrt(2 mu g)``, and the bound stays where kappa comes to zero. This is
    theorem 2.1 there with a Polyak-Lojasiewicz inequality, its rate derived again.

    Returns:
        a function of a finished run with a given start, giving for each member and logged ``step``
        these errors relative to |y| (train) and |a*| (test), as observable `relative_errors` has
        them. A `ValueError` for other runs.
    """

    def measure(run: FinishedRun) -> pd.DataFrame:
        frames = []
        for member, values in enumerate(members.of(run.spec)):
            steps = np.sort(run.history.loc[run.history["member"] == member, "step"].to_numpy())
            errors = _bounds(_dynamics(run.spec, values), run.spec, run.data, member, steps)
            frames.append(pd.DataFrame({"member": member, "step": steps} | errors))
        return pd.concat(frames, ignore_index=True)

    return measure


def _dynamics(spec: Spec, values: Member) -> dict[str, Any]:
    own = {key.removeprefix("dynamics."): value for key, value in values.items()}
    return {key: own.get(key, value) for key, value in spec["dynamics"].items()}


def _bounds(
    dynamics: dict[str, Any], spec: Spec, data: TaskData, member: int, steps: np.ndarray
) -> dict[str, np.ndarray]:
    def own(array: np.ndarray) -> np.ndarray:
        return array[member] if data.per_member else array

    if "truth" not in data.extras or own(data.extras["truth"]).ndim != 1:
        raise ValueError("descent_bounds needs the task sparse_recovery")
    start = spec["model"].get("init")
    if spec["model"]["name"] != "linear" or start == "normal":
        raise ValueError("descent_bounds needs the model linear with a given start")
    inputs, targets = own(data.train_inputs), own(data.train_targets)[:, 0]
    truth = own(data.extras["truth"])
    values = np.linalg.svd(inputs, compute_uv=False)
    if inputs.shape[0] > inputs.shape[1] or values.min() <= 1e-12 * values.max():
        raise ValueError("descent_bounds needs independent samples, no more than features")
    first = np.broadcast_to(np.asarray(start, dtype=float), truth.shape)
    if dynamics["name"] == "linear_descent":
        return _ridge(inputs, targets, truth, first, dynamics, steps)
    if dynamics["name"] == "subgradient_descent" and dynamics["l2"] == 0:
        return _subgradient(inputs, targets, first, dynamics, steps)
    raise ValueError("descent_bounds needs linear_descent, or subgradient_descent without l2")


def _ridge(
    inputs: np.ndarray,
    targets: np.ndarray,
    truth: np.ndarray,
    start: np.ndarray,
    dynamics: dict[str, Any],
    steps: np.ndarray,
) -> dict[str, np.ndarray]:
    scale = 1 / len(inputs) if dynamics["data_scale"] == "mean" else 1.0
    left, values, right = np.linalg.svd(inputs, full_matrices=False)
    solution = right.T @ (
        scale * values * (left.T @ targets) / (scale * values**2 + dynamics["l2"])
    )
    curvatures = [*(scale * values**2), *([0.0] if inputs.shape[0] < inputs.shape[1] else [])]
    contraction = max(abs(1 - dynamics["rate"] * (each + dynamics["l2"])) for each in curvatures)
    away, left_over = np.linalg.norm(start - solution), np.linalg.norm(solution - truth)
    unseen = np.linalg.norm(truth - right.T @ (right @ truth))
    size = np.linalg.norm(truth)
    above = (contraction ** steps.astype(float) * away + left_over) / size
    return {"test_error_above": above, "test_error_below": np.full(len(steps), unseen / size)}


def _subgradient(
    inputs: np.ndarray,
    targets: np.ndarray,
    start: np.ndarray,
    dynamics: dict[str, Any],
    steps: np.ndarray,
) -> dict[str, np.ndarray]:
    curvatures = np.linalg.svd(inputs, compute_uv=False) ** 2
    rate, largest, least = dynamics["rate"], curvatures.max(), curvatures.min()
    penalty = dynamics["l1"] * inputs.shape[1] ** 0.5
    losses = [float(np.square(inputs @ start - targets).sum() / 2)]
    while len(losses) <= steps.max():
        ratio = penalty / (2 * least * losses[-1]) ** 0.5
        kappa = (2 - rate * largest) - 2 * ratio * abs(1 - rate * largest)
        fall = rate * least * (kappa - rate * largest * ratio**2)
        if fall < SETTLED:
            break
        losses.append(losses[-1] * (1 - fall))
    bound = np.array(losses)[np.minimum(steps, len(losses) - 1)]
    return {"train_error_above": (2 * bound) ** 0.5 / np.linalg.norm(targets)}
