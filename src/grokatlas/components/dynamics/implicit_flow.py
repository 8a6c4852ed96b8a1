"""Gradient flow of least squares with weight decay, by implicit steps that lengthen."""

from typing import TypedDict

import torch
from torch import Tensor

from grokatlas.engine.contracts import Batch, Dynamics, Hyperparameter, Model, NetworkLoss, Params
from grokatlas.engine.keyword_types import NonNegative, Positive

FULL_BATCH = True  # a step takes the whole training set
COST = 4  # times the work of a step of gradient descent: the Jacobian and a factorisation


class Flow(TypedDict):
    """The state: the parameters, and the length ``[]`` of the next step in time."""

    params: Params
    length: Tensor


class ImplicitFlow:
    """``w' = -grad(|f(w) - y|^2 / N + weight_decay |w|^2)``, from fast to slow times in few steps.

    Gradient descent takes ``1 / (2 lr weight_decay)`` steps to a unit of slow time, 1e8 for a
    weight decay of 1e-7. Here each step of the time h is one step of Newton's method on the
    implicit Euler rule, with the Hessian of Gauss and Newton, which leaves out what is
    proportional to the residual: with ``r = f(w) - y``, ``J = df/dw [N C, P]``, ``a = 1/h + 2
    weight_decay`` and ``q = 2 weight_decay / a``,

        ``w <- w - q w - J^T (J J^T + a N/2)^-1 (r - q J w)``.

    It is stable whatever h is. For a linear model it is the implicit Euler rule itself, and for
    large h it leads to the minimum. The k-th step has ``h = first (1 + growth)^k``, so that the
    relative error of a time scale is of order `growth`.
    """

    def __init__(
        self,
        model: Model,
        weight_decay: Hyperparameter,
        first: Hyperparameter,
        growth: Hyperparameter,
    ) -> None:
        self.model = model
        self.weight_decay = weight_decay
        self.first = first
        self.growth = growth

    def init(self, params: Params) -> Flow:
        """The parameters, and the length of the first step."""
        some = next(iter(params.values()))
        return {"params": params, "length": torch.zeros_like(some.sum()) + self.first}

    def update(self, state: Flow, batch: Batch) -> Flow:
        """One step on the whole training set."""
        params, length = state["params"], state["length"]
        point = _flat(params)
        residual, jacobian = self._linearised(point, params, batch)
        inverse = 1 / length + 2 * self.weight_decay
        share = 2 * self.weight_decay / inverse
        identity = torch.eye(len(residual), dtype=point.dtype, device=point.device)
        gram = jacobian @ jacobian.T + inverse * len(batch[0]) / 2 * identity
        factor, failed = torch.linalg.cholesky_ex(gram)
        wanted = residual - share * (jacobian @ point)
        solved = torch.cholesky_solve(wanted[:, None], factor)[:, 0]
        solved = torch.where(failed == 0, solved, float("nan"))
        moved = point - share * point - jacobian.T @ solved
        return {"params": _unflat(moved, params), "length": length * (1 + self.growth)}

    def parameters(self, state: Flow, batch: Batch) -> Params:
        """The parameters."""
        return state["params"]

    def _linearised(self, point: Tensor, like: Params, batch: Batch) -> tuple[Tensor, Tensor]:
        """Residuals ``[N C]``, labels as one-hot targets, and their derivative ``[N C, P]``."""
        inputs, targets = batch

        def residual(flat: Tensor) -> tuple[Tensor, Tensor]:
            outputs, wanted = self.model(_unflat(flat, like), inputs), targets
            if not targets.is_floating_point():
                classes = torch.arange(outputs.shape[-1], device=targets.device)
                wanted = (targets[:, None] == classes).to(outputs.dtype)
            value = (outputs - wanted).flatten()
            return value, value

        jacobian, value = torch.func.jacrev(residual, has_aux=True)(point)
        return value, jacobian


def _flat(params: Params) -> Tensor:
    return torch.cat([value.flatten() for value in params.values()])


def _unflat(flat: Tensor, like: Params) -> Params:
    parts = flat.split([value.numel() for value in like.values()])
    return {key: part.view_as(like[key]) for key, part in zip(like, parts, strict=True)}


def build(
    model: Model,
    loss: NetworkLoss,
    *,
    weight_decay: NonNegative,
    first: Positive,
    growth: Positive,
) -> Dynamics[Flow]:
    """Gradient flow of ``|f - y|^2 / N + weight_decay |w|^2``.

    Args:
        model: any whose outputs have the shape of the targets, or of one-hot labels.
        loss: only observed; ``|f - y|^2 / N`` is loss `mse` with the mean over samples.
        weight_decay: lambda.
        first: length of the first step in time.
        growth: each step is longer than the one before by this share.
    """
    return ImplicitFlow(model, weight_decay, first, growth)
