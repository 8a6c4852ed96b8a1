"""Gradient descent on least squares with an l2 term, by its closed form."""

from typing import Literal, TypedDict

import torch
from torch import Tensor

from grokatlas.components.dynamics._compiled import only_parameter
from grokatlas.engine.contracts import (
    Batch,
    Hyperparameter,
    Model,
    NetworkLoss,
    Params,
    PenalisedDynamics,
    PerMember,
)
from grokatlas.engine.keyword_types import NonNegative, Positive

FULL_BATCH = True  # a step takes the whole training set
KEPT = 1  # copies of the parameters in the state: where they started
MODEL = {"negative_slope": 1.0}  # as in the equation, which does not read it

NAME = "linear_descent"


class Descent(TypedDict):
    """The state: the weight, where it started, and the number of steps ``[]``."""

    params: Params
    start: Params
    step: Tensor


class LinearDescent:
    """``W <- W - rate * (scale * (W X^T - Y^T) X + l2 W)`` for ``X [N, D]``, ``Y [N, C]``.

    Full-batch gradient descent of ``scale/2 |X W^T - Y|^2 + l2/2 |W|^2``, where ``scale`` is 1 or
    1/N. The model is `models.linear` with ``negative_slope`` 1, parameter ``W [C, D]``. The state
    keeps where it started and how many steps ago, as `advance` needs.
    """

    def __init__(self, rate: Hyperparameter, l2: Hyperparameter, data_scale: str) -> None:
        self.rate = rate
        self.l2 = l2
        self.data_scale = data_scale

    def init(self, params: Params) -> Descent:
        """The state before the first step.

        Raises:
            ValueError: the model is not the one of this dynamics.
        """
        weight = only_parameter(params, NAME, "[C, D]")
        step = torch.zeros((), dtype=torch.int64, device=weight.device)
        return {"params": params, "start": dict(params), "step": step}

    def update(self, state: Descent, batch: Batch) -> Descent:
        """One step on the whole training set."""
        ((key, weight),) = state["params"].items()
        inputs, targets = batch[0], _real(batch[1])
        scale = _scale(self.data_scale, inputs)
        gradient = scale * (weight @ inputs.mT - targets.mT) @ inputs + self.l2 * weight
        moved = {key: weight - self.rate * gradient}
        return state | {"params": moved, "step": state["step"] + 1}

    def parameters(self, state: Descent, batch: Batch) -> Params:
        """The weight."""
        return state["params"]

    def penalty(self, params: Params, model: Model, inputs: Tensor) -> Tensor:
        """``l2/2 |W|^2``, for observables."""
        (weight,) = params.values()
        return self.l2 / 2 * weight.square().sum()


def advance(
    state: Descent,
    train: Batch,
    steps: int,
    *,
    rate: PerMember,
    l2: PerMember,
    data_scale: str,
) -> Descent:
    """All members by any number of steps at the cost of one.

    With ``X = U S V^T``, the start ``W_0`` and ``h = scale S^2 + l2``, after ``k`` steps

        ``W V   = (1 - rate h)^k W_0 V + (1 - (1 - rate h)^k) scale Y^T U S / h``
        ``W P   = (1 - rate l2)^k W_0 P``,  ``P = I - V V^T``,

    computed in float64 and from the start every time: so the result does not depend on how a
    stretch is cut. It is what `update` approaches without rounding: in float64 the loop's own
    rounding is the larger.
    """
    ((key, start),) = state["start"].items()
    inputs, targets = train[0].double(), _real(train[1]).double()
    at = state["step"] + steps
    singular = None if inputs.ndim == 3 else torch.linalg.svd(inputs, full_matrices=False)
    weights = []
    for member in range(len(start)):
        x, y = (inputs[member], targets[member]) if inputs.ndim == 3 else (inputs, targets)
        u, s, vt = singular or torch.linalg.svd(x, full_matrices=False)
        own = (_of(rate, member), _of(l2, member), _scale(data_scale, x))
        weights.append(_at(start[member].double(), y, (u, s, vt), int(at[member]), *own))
    weight = torch.stack(weights).to(start.dtype)
    return {"params": {key: weight}, "start": state["start"], "step": at}


def _at(
    start: Tensor,
    y: Tensor,
    singular: tuple[Tensor, Tensor, Tensor],
    step: int,
    rate: float,
    l2: float,
    scale: float,
) -> Tensor:
    """The weight ``[C, D]`` of one member at a step."""
    u, s, vt = singular
    rates = scale * s.square() + l2
    decayed, fitted = _powers(rate * rates, step)
    outside, _ = _powers(rate * torch.full_like(s[:1], l2), step)
    inside = start @ vt.T
    limit = scale * (y.T @ u) * torch.where(rates > 0, s / rates, 0)
    return (decayed * inside + fitted * limit) @ vt + outside * (start - inside @ vt)


def _powers(z: Tensor, step: int) -> tuple[Tensor, Tensor]:
    """``(1 - z)^step`` and one minus it, both accurate for small ``z``."""
    if step == 0:
        return torch.ones_like(z), torch.zeros_like(z)
    small = step * torch.log1p(-z.clamp(max=0.5))
    power = torch.where(z < 0.5, torch.exp(small), (1 - z) ** step)
    return power, torch.where(z < 0.5, -torch.expm1(small), 1 - power)


def _of(keyword: PerMember, member: int) -> float:
    return (
        float(keyword[member]) if isinstance(keyword, Tensor) and keyword.ndim else float(keyword)
    )


def _scale(data_scale: str, inputs: Tensor) -> float:
    return 1.0 if data_scale == "sum" else 1.0 / inputs.shape[-2]


def _real(targets: Tensor) -> Tensor:
    if not targets.is_floating_point():
        raise ValueError(f"{NAME} needs a task with real targets, not labels")
    return targets


def build(
    model: Model,
    loss: NetworkLoss,
    *,
    rate: Positive,
    l2: NonNegative,
    data_scale: Literal["sum", "mean"],
) -> PenalisedDynamics[Descent]:
    """Gradient descent with step size `rate`.

    Args:
        model: `models.linear` with ``negative_slope`` 1; inherent in the equation.
        loss: only observed, as the equation has its own.
        rate: step size.
        l2: weight of ``|W|^2 / 2``.
        data_scale: whether the squared residuals, times 1/2, are summed or averaged over samples.
    """
    return LinearDescent(rate, l2, data_scale)
