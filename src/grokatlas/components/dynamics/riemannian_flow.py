"""Norm minimisation on the zero-loss set: the slow phase of training with weight decay."""

from typing import Any, TypedDict

import torch
from torch import Tensor

from grokatlas.engine.contracts import Batch, Dynamics, Hyperparameter, Model, NetworkLoss, Params
from grokatlas.engine.keyword_types import NonNegative, Positive, Whole
from grokatlas.engine.linalg import nan_if_not_finite

FULL_BATCH = True  # a step takes the whole training set
WAITS = True  # a step waits for the host: eigenvalues


class Flow(TypedDict):
    """The state: the parameters, and the number of steps ``[]``."""

    params: Params
    step: Tensor


class RiemannianFlow:
    """``w' = -P(w) w`` on ``{w : f(w) = y}``, with ``P = I - J^+ J`` and ``J = df/dw [N C, P]``.

    It is the Riemannian gradient flow of ``|w|^2 / 2`` restricted to the zero-loss set. Gradient
    flow of ``F + lambda/2 |w|^2`` comes to it at the slow time ``tau = lambda t`` as lambda
    vanishes, started at the limit of the gradient flow of ``F`` alone (arXiv 2505.20172;
    with ``F + lambda |w|^2`` the slow time is ``2 lambda t``).

    The first `fast_steps` steps are gradient descent on the loss with step size `fast_rate`, which
    leads to that start. Each later step advances ``tau`` by `rate` with the classical Runge-Kutta
    method of order 4, the projection taken at each of its four points, and then goes back to the
    set by `corrections` steps of Gauss and Newton, ``w <- w - J^+ (f(w) - y)``. So the first slow
    steps also remove what gradient descent left of the loss.

    ``J^+ = J^T (J J^T)^+``: eigenvalues of ``J J^T`` below ``N C`` times the machine's epsilon
    times the largest count as zero. If ``J`` has not full rank, outputs then move to second order
    only in the directions left out, and corrections do not see them.

    Both kinds of step are computed at every step and one is kept, as a mapped program cannot
    branch; gradient descent is the cheap one.
    """

    def __init__(
        self,
        model: Model,
        loss: NetworkLoss,
        rate: Hyperparameter,
        corrections: int,
        fast_steps: int,
        fast_rate: Hyperparameter,
    ) -> None:
        self.model = model
        self.loss = loss
        self.rate = rate
        self.corrections = corrections
        self.fast_steps = fast_steps
        self.fast_rate = fast_rate

    def init(self, params: Params) -> Flow:
        """The parameters, and the number of steps taken."""
        some = next(iter(params.values()))
        return {"params": params, "step": torch.zeros_like(some.sum(), dtype=torch.int64)}

    def update(self, state: Flow, batch: Batch) -> Flow:
        """One step on the whole training set.

        Raises:
            ValueError: targets are labels; a zero-loss set needs real ones.
        """
        if not batch[1].is_floating_point():
            raise ValueError("riemannian_flow needs a task with real targets, not labels")
        params, step = state["params"], state["step"]
        moved = self._slow(params, batch)
        if self.fast_steps:
            fast = self._fast(params, batch)
            early = step < self.fast_steps
            moved = {key: torch.where(early, fast[key], moved[key]) for key in params}
        return {"params": moved, "step": step + 1}

    def parameters(self, state: Flow, batch: Batch) -> Params:
        """The parameters."""
        return state["params"]

    def _fast(self, params: Params, batch: Batch) -> Params:
        grads = torch.func.grad(self.loss)(params, self.model, *batch)
        return {key: value - self.fast_rate * grads[key] for key, value in params.items()}

    def _slow(self, params: Params, batch: Batch) -> Params:
        start, h = _flat(params), self.rate
        k1 = self._velocity(start, params, batch)
        k2 = self._velocity(start + h / 2 * k1, params, batch)
        k3 = self._velocity(start + h / 2 * k2, params, batch)
        k4 = self._velocity(start + h * k3, params, batch)
        point = start + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        for _ in range(self.corrections):
            residual, jacobian = self._linearised(point, params, batch)
            point = point - _least_squares(jacobian, residual)
        return _unflat(point, params)

    def _velocity(self, point: Tensor, like: Params, batch: Batch) -> Tensor:
        """``-P(w) w`` ``[P]``."""
        _, jacobian = self._linearised(point, like, batch)
        return _least_squares(jacobian, jacobian @ point) - point

    def _linearised(self, point: Tensor, like: Params, batch: Batch) -> tuple[Tensor, Tensor]:
        """Residuals ``[N C]`` and their derivative ``[N C, P]``."""
        inputs, targets = batch

        def residual(flat: Tensor) -> tuple[Tensor, Tensor]:
            value = (self.model(_unflat(flat, like), inputs) - targets).flatten()
            return value, value

        jacobian, value = torch.func.jacrev(residual, has_aux=True)(point)
        return value, jacobian


def _least_squares(jacobian: Tensor, value: Tensor) -> Tensor:
    """``J^+ v`` ``[P]`` for ``J [N C, P]`` and ``v [N C]``."""

    def solved(gram: Tensor) -> Tensor:
        eigenvalues, vectors = torch.linalg.eigh(gram)
        cutoff = len(value) * torch.finfo(value.dtype).eps * eigenvalues[-1]
        inverse = torch.where(eigenvalues > cutoff, 1 / eigenvalues, 0)
        return vectors @ (inverse * (vectors.T @ value))

    return jacobian.T @ nan_if_not_finite(solved, jacobian @ jacobian.T)


def _flat(params: Params) -> Tensor:
    return torch.cat([value.flatten() for value in params.values()])


def _unflat(flat: Tensor, like: Params) -> Params:
    parts = flat.split([value.numel() for value in like.values()])
    return {key: part.view_as(like[key]) for key, part in zip(like, parts, strict=True)}


def build(
    model: Model,
    loss: NetworkLoss,
    *,
    rate: Positive,
    corrections: Whole,
    fast_steps: Whole,
    fast_rate: NonNegative,
) -> Dynamics[Flow]:
    """The flow of the norm on the zero-loss set.

    Args:
        model: any with real outputs; all its parameters count in the norm.
        loss: whose zero set is ``f(w) = y``, such as `losses.mse`; gradient descent is on it.
        rate: the slow time (lambda times t) that a step advances.
        corrections: Gauss-Newton steps back to the set in each step; 1 or 2 suffice.
        fast_steps: steps of gradient descent before the flow begins.
        fast_rate: their step size.
    """
    return RiemannianFlow(model, loss, rate, corrections, fast_steps, fast_rate)


def cost(*, corrections: int, **_: Any) -> int:
    """Times the work of a step of gradient descent: each stage and correction has its Jacobian."""
    return 5 + corrections
