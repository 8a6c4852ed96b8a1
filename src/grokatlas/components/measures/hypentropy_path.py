"""A product of two factors under weight decay, beside the minimiser of the hypentropy."""

from typing import Any

import numpy as np
import pandas as pd

from grokatlas.components.measures import _least_norm
from grokatlas.engine import members
from grokatlas.engine.contracts import FinishedRun, Measure, Member, Spec
from grokatlas.engine.keyword_types import Positive

TOLERANCE = 1e-8  # of X a = y, relative to |y|
ITERATIONS = 200
HALVINGS = 60
ROUNDING = 1e-12  # of the dual function, which cannot be seen to fall by less


def build(*, fitted: Positive) -> Measure[FinishedRun]:
    """The theory's ``a = u o v`` once the data are fitted, for each logged step.

    Gradient flow of any loss of ``X a`` with ``(beta / 2) (|u|^2 + |v|^2)`` moves u by
    ``-g o v - beta u`` and v by ``-g o u - beta v`` with g in the row space of X, so that exactly

        ``a(t) = exp(-2 beta t) (p o exp(2 X^T l) - q o exp(-2 X^T l)) / 4``

    with ``p = (u_0 + v_0)^2``, ``q = (u_0 - v_0)^2`` and some l. Where ``X a = y`` this is the
    interpolator of least Bregman distance of the hypentropy of size ``exp(-2 beta t) |u_0^2 -
    v_0^2|`` from ``exp(-2 beta t) u_0 o v_0``. For ``beta = 0`` it is that of Woodworth et al.
    (arXiv 2002.09277, theorem 1). While the size is large it is the interpolator of least l2 norm,
    the kernel's; where it is small that of least l1 norm. From ``u_0 = gamma`` and ``v_0 = 0``
    it changes from one to the other at ``t = log(gamma) / beta`` (Lyu et al., arXiv 2311.18817).

    Args:
        fitted: steps with a larger relative training error ``|X a - y| / |y|`` are left out.

    Returns:
        a function of a finished run, giving for each member and such ``step``: ``train_error``;
        ``distance``, ``|a - a_h| / |a_h|`` with the predicted a_h (missing where none was found);
        ``distance_l2``, ``|a - a_2| / |a_2|``, and ``distance_l1``, likewise, of the interpolators
        of least l2 and l1 norm; ``predicted_l1``, ``|a_h - a_1| / |a_1|``; ``between``,
        ``|a_2 - a_1| / |a_1|``. A `ValueError` for a model that is no product of two factors on
        vectors, without observable ``parameters``, or with anything but `gd` and squared l2.
    """

    def measure(run: FinishedRun) -> pd.DataFrame:
        rows: list[dict[str, float]] = []
        data, shared = run.data, not run.data.per_member
        for member, values in enumerate(members.of(run.spec)):
            inputs, targets = (
                each if shared else each[member] for each in (data.train_inputs, data.train_targets)
            )
            part = run.history[run.history["member"] == member].sort_values("step")
            decay = 2 * _rate(run.spec, values) * part["step"].to_numpy(dtype=float)
            path = _Path(np.asarray(inputs, float), np.asarray(targets, float)[:, 0])
            fitted_rows = path.rows(*_factors(part, inputs.shape[1]), decay, fitted)
            steps = part["step"].to_numpy()
            rows += [{"member": member, "step": steps[at]} | row for at, row in fitted_rows]
        columns = ["train_error", "distance", "distance_l2", "distance_l1", "predicted_l1"]
        return pd.DataFrame(rows, columns=["member", "step", *columns, "between"])

    return measure


def _rate(spec: Spec, values: Member) -> float:
    """``beta`` times the step size of one member."""
    model, optimizer, penalties = spec["model"], spec.get("optimizer"), spec.get("penalties") or []
    two = model["name"] == "diagonal_linear" or model.get("depth") == 2
    plain = [each["name"] for each in penalties] in ([], ["l2"])
    linked = spec.get("gradients") or spec.get("updates")
    if not two or not optimizer or optimizer["name"] != "gd" or not plain or linked:
        needs = "two factors, gd without links of gradients or updates, and no penalty but l2"
        raise ValueError(f"hypentropy_path needs {needs}")
    if not all(each["squared"] for each in penalties):
        raise ValueError("hypentropy_path needs the squared l2 norm")

    def own(path: str, given: Any) -> float:
        return float(values.get(path, given))

    weight = own("penalties.0.weight", penalties[0].get("weight")) if penalties else 0.0
    return 2 * weight * own("optimizer.lr", optimizer.get("lr"))


def _factors(part: pd.DataFrame, features: int) -> tuple[np.ndarray, np.ndarray]:
    """Both factors ``[steps, D]`` at the logged steps."""
    names = [name for name in part if name.startswith("parameters.")]
    if len(names) != 2 * features or part["step"].iloc[0] != 0:
        raise ValueError("hypentropy_path needs the observable parameters, from step 0 on")
    values = part[names].to_numpy(dtype=float)
    return values[:, :features], values[:, features:]


class _Path:
    """The predicted interpolators of one problem ``X [N, D]``, ``y [N]``."""

    def __init__(self, inputs: np.ndarray, targets: np.ndarray) -> None:
        self.inputs, self.targets = inputs, targets
        self.least = np.linalg.pinv(inputs) @ targets
        self.sparse, _ = _least_norm.l1(inputs, targets)
        self.dual = np.zeros(len(targets))  # where the next solution is looked for

    def rows(
        self, first: np.ndarray, second: np.ndarray, decay: np.ndarray, fitted: float
    ) -> list[tuple[int, dict[str, float]]]:
        """A row for each fitted step, with its place; factors ``[steps, D]``, ``2 beta t``."""
        plus, minus = (first[0] + second[0]) ** 2, (first[0] - second[0]) ** 2
        rows = []
        for at, vector in enumerate(first * second):
            left = _relative(self.inputs @ vector, self.targets)
            if not left <= fitted:
                continue
            shrunk = np.exp(-decay[at])
            predicted = self.predict(shrunk * plus, shrunk * minus)
            row = {
                "train_error": left,
                "distance": _relative(vector, predicted),
                "distance_l2": _relative(vector, self.least),
                "distance_l1": _relative(vector, self.sparse),
                "predicted_l1": _relative(predicted, self.sparse),
                "between": _relative(self.least, self.sparse),
            }
            rows.append((at, row))
        return rows

    def predict(self, plus: np.ndarray, minus: np.ndarray) -> np.ndarray:
        """The interpolator ``[D]``, by Newton's method on the dual; NaN where there is none.

        It minimises ``sum (plus e^(2 X^T l) + minus e^(-2 X^T l)) / 8 - <y, l>``, a convex function
        of l, whose gradient is ``X a - y``.
        """
        dual = self.dual
        for _ in range(ITERATIONS):
            value, vector, curvature = self._dual(dual, plus, minus)
            error = self.inputs @ vector - self.targets
            if np.linalg.norm(error) <= TOLERANCE * np.linalg.norm(self.targets):
                self.dual = dual
                return vector
            hessian = (self.inputs * curvature) @ self.inputs.T
            move = -np.linalg.lstsq(hessian, error, rcond=None)[0]
            allowed, share = value + ROUNDING * abs(value), 1.0
            for _ in range(HALVINGS):
                fall = 1e-4 * share * float(error @ move)
                if self._dual(dual + share * move, plus, minus)[0] <= allowed + fall:
                    break
                share /= 2
            dual = dual + share * move
        return np.full_like(plus, np.nan)

    def _dual(
        self, dual: np.ndarray, plus: np.ndarray, minus: np.ndarray
    ) -> tuple[float, np.ndarray, np.ndarray]:
        """The dual function, the vector a ``[D]`` there, and ``da / d(X^T l)`` ``[D]``."""
        with np.errstate(over="ignore", invalid="ignore"):
            way = 2 * (self.inputs.T @ dual)
            rise, fall = plus * np.exp(way), minus * np.exp(-way)
            value = float((rise + fall).sum() / 8 - self.targets @ dual)
        return value, (rise - fall) / 4, (rise + fall) / 2


def _relative(vector: np.ndarray, other: np.ndarray) -> float:
    return float(np.linalg.norm(vector - other) / np.linalg.norm(other))
