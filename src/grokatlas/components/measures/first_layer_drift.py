"""The drift of a trained first layer, beside that of the isolated dynamics."""

from typing import Any

import numpy as np
import pandas as pd

from grokatlas.engine import members
from grokatlas.engine.contracts import FinishedRun, Measure, Member, Spec, TaskData
from grokatlas.engine.keyword_types import Count

FIRST = "layers.0.weight"
SECOND = "layers.1.weight"

NEEDS = ["snapshots"]


def build(*, span: Count) -> Measure[FinishedRun]:
    """The drift of the first layer of ``relu(X E) W`` in slow time, measured and predicted.

    With the loss ``|f - y|^2 / N + lambda |theta|^2``, a step of size eta moves E by ``-eta times
    (2/N) X^T[(r W^T) o relu'] - 2 eta lambda E``. Near the zero-loss set ``r = -lambda N mu`` with
    a finite mu, so in the slow time ``2 eta lambda step`` E drifts by

        ``X^T[(mu W^T) o relu'] - E``,

    a *pull* of the data against the decay. Two predictions of it, with ``H = relu(X E)``:

    ``isolated``: the second layer is the optimum for the present E. Then ``W = H^+ Y`` and ``mu =
    (H H^T)^-1 Y`` as lambda vanishes: the drift is equation 21 itself, the constant is ``2 eta
    lambda``. Nothing is used of the trained W.

    ``joint``: both layers descend, W with k times E's step size. The constraint ``d(H W) = 0`` then
    gives ``(k H H^T x I + K_E) mu = (k + 1) H W`` with the first layer's tangent kernel ``K_E[nc,
    md] = <x_n, x_m> sum_h relu'_nh relu'_mh W_hc W_hd``: the projection of ``-theta`` on the
    directions along the zero-loss set, in the metric of the two rates. As k grows it becomes the
    isolated one. The second layer leaves its optimum in the same slow time in which E moves, so
    with equal rates (k = 1) the two differ however small lambda is. Where W is small beside E, as
    in wide networks, K_E is small beside ``k H H^T``: the joint pull is ``(k + 1) / k`` times the
    isolated one.

    Measured is ``(E_{step + span} - E_step) / (2 eta lambda span)``, with E's own step size.

    Args:
        span: every snapshot that has another so many steps later is compared.

    Returns:
        a function of a finished run of gradient descent, giving a row for each member, such
        snapshot ``step`` and ``prediction``: ``slow_time`` of the second layer, ``cosine`` with the
        measured drift and relative ``difference``, |measured - predicted| / |measured|;
        ``pull_cosine`` and ``pull_difference``, the same without the ``-E`` that all share;
        ``excess``, |W - H^+ Y| / |H^+ Y|, and ``kinked``, the share of units and samples whose
        activation changes within the span. A `ValueError` for other networks and losses.

    Source: arXiv 2511.01938, eq. 21; the joint form is ours.
    """

    def measure(run: FinishedRun) -> pd.DataFrame:
        _check(run.spec)
        steps = [step for step in sorted(run.snapshots) if step + span in run.snapshots]
        places = range(len(members.of(run.spec)))
        rows = [row for step in steps for k in places for row in _rows(run, k, step, span)]
        return pd.DataFrame(rows)

    return measure


def _check(spec: Spec) -> None:
    penalties, links = spec.get("penalties") or [], spec.get("gradients") or []
    allowed = (
        spec["loss"]["name"] == "mse"
        and (spec.get("optimizer") or {}).get("name") == "gd"
        and [(block["name"], block.get("squared")) for block in penalties] == [("l2", True)]
        and [(block["name"], block.get("parameter")) for block in links] in ([], [("scale", FIRST)])
        and spec["model"].get("output_scale", 1.0) == 1.0
        and not spec.get("updates")
    )
    if not allowed:
        needs = "loss mse, optimizer gd, no updates, one penalty l2 (squared), output_scale 1"
        raise ValueError(f"first_layer_drift needs {needs}, and gradients none or scale of {FIRST}")


def _rows(run: FinishedRun, place: int, step: int, span: int) -> list[dict[str, Any]]:
    """Both predictions of a member at a step."""
    rate, decay, factor = _rates(run.spec, members.of(run.spec)[place])
    first, second = (run.snapshots[step][key][place].T for key in (FIRST, SECOND))
    later = run.snapshots[step + span][FIRST][place].T
    inputs, targets = _data(run.data, place)
    hidden = np.maximum(inputs @ first, 0)
    optimum = np.linalg.solve(hidden @ hidden.T, targets)  # A Y
    fitted = hidden.T @ optimum
    pulls = {
        "isolated": inputs.T @ ((optimum @ fitted.T) * (hidden > 0)),
        "joint": joint_pull(inputs, first, second, 1 / factor),
    }
    known = np.isfinite(inputs @ later) & np.isfinite(hidden)  # not where the member diverged
    drift = (later - first) / (2 * rate * factor * decay * span)
    shared = {
        "member": place,
        "step": step,
        "slow_time": 2 * rate * decay * step,
        "excess": np.linalg.norm(second - fitted) / np.linalg.norm(fitted),
        "kinked": np.where(known, (inputs @ later > 0) != (hidden > 0), np.nan).mean(),
    }
    return [
        {"prediction": name}
        | shared
        | dict(zip(("cosine", "difference"), _compare(drift, pull - first), strict=True))
        | dict(zip(("pull_cosine", "pull_difference"), _compare(drift + first, pull), strict=True))
        for name, pull in pulls.items()
    ]


def _rates(spec: Spec, member: Member) -> tuple[float, float, float]:
    """Step size, weight of the penalty, and E's step size over that of W."""
    links = spec.get("gradients") or [{"factor": 1.0}]
    rate = member.get("optimizer.lr", spec["optimizer"].get("lr"))
    decay = member.get("penalties.0.weight", spec["penalties"][0].get("weight"))
    return rate, decay, member.get("gradients.0.factor", links[0].get("factor"))


def joint_pull(
    inputs: np.ndarray, first: np.ndarray, second: np.ndarray, ratio: float
) -> np.ndarray:
    """The pull ``X^T[(mu W^T) o relu']`` ``[D, H]`` if W moves with `ratio` times E's step size.

    Args:
        inputs: X ``[N, D]``.
        first: E ``[D, H]``.
        second: W ``[H, C]``.
        ratio: k.
    """
    hidden = np.maximum(inputs @ first, 0)
    active = (hidden > 0).astype(hidden.dtype)
    samples, outputs = len(inputs), second.shape[1]
    back = (active[:, None] * second.T).reshape(samples * outputs, -1)
    kernel = np.kron(inputs @ inputs.T, np.ones((outputs, outputs))) * (back @ back.T)
    kernel += ratio * np.kron(hidden @ hidden.T, np.eye(outputs))
    wanted = (ratio + 1) * (hidden @ second).ravel()
    multiplier = np.linalg.solve(kernel, wanted).reshape(samples, outputs)
    return inputs.T @ ((multiplier @ second.T) * active)


def _compare(measured: np.ndarray, predicted: np.ndarray) -> tuple[float, float]:
    """Cosine, and difference relative to the measured."""
    norms = np.linalg.norm(measured), np.linalg.norm(predicted)
    difference = np.linalg.norm(measured - predicted) / norms[0]
    return float((measured * predicted).sum() / (norms[0] * norms[1])), float(difference)


def _data(data: TaskData, place: int) -> tuple[np.ndarray, np.ndarray]:
    """Inputs ``[N, D]`` and one-hot or real targets ``[N, C]`` of a member."""
    inputs, targets = (
        array[place] if data.per_member else array
        for array in (data.train_inputs, data.train_targets)
    )
    if np.issubdtype(targets.dtype, np.integer):
        targets = np.eye(data.outputs)[targets]
    return inputs.reshape(len(inputs), -1).astype(np.float64), targets
