"""Peers of the dynamics that are equations of their own.

The first of each pair is the equation as papers and their code have it; the second is a careful
loop that solves instead of inverting, and writes into arrays it keeps. Both move one member. Small
arrays on a CPU are NumPy's, as in the authors' code, elsewhere tensors.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import Tensor

from benchmarks.start import Start


class Equation:
    """A peer that repeats one update.

    Args:
        state: what it moves.
        update: the next state.
        name: of the parameter by our names.
        ours: makes what it moves the parameter as we have it.
    """

    def __init__(
        self, state: Any, update: Callable[[Any], Any], name: str, ours: Callable[[Tensor], Tensor]
    ) -> None:
        self.state = state
        self.update = update
        self.name = name
        self.ours = ours

    def steps(self, count: int) -> None:
        """Take some updates."""
        state, update = self.state, self.update
        for _ in range(count):
            state = update(state)
        self.state = state

    def parameters(self) -> dict[str, Tensor]:
        """The one parameter that moves."""
        return {self.name: self.ours(torch.as_tensor(self.state))}


def _first_layer(begin: Start) -> tuple[Tensor, Tensor, Tensor, float]:
    """``X``, one-hot ``Y``, ``E`` and the step size."""
    weight = begin.params["layers.0.weight"]
    targets = torch.nn.functional.one_hot(begin.targets, begin.inputs.shape[1]).to(begin.dtype)
    return begin.inputs, targets, weight.T.contiguous(), begin.spec["dynamics"]["rate"]


def isolated_as_printed(begin: Start) -> Equation:
    """Equation 21, with ``A = (H H^T)^-1`` as an inverse."""
    x, y, e, rate = _first_layer(begin)

    def update(e: Tensor) -> Tensor:
        z = x @ e
        h = torch.relu(z)
        a = torch.linalg.inv(h @ h.T)
        return e + rate * (x.T @ ((a @ y @ y.T @ a @ h) * (z > 0)) - e)

    return Equation(e, update, "layers.0.weight", lambda e: e.T)


def isolated_careful(begin: Start) -> Equation:
    """Equation 21 by a Cholesky factor, with products in the cheapest order."""
    x, y, e, rate = _first_layer(begin)
    xt = x.T.contiguous()

    def update(e: Tensor) -> Tensor:
        h = torch.mm(x, e).relu_()
        s = torch.cholesky_solve(y, torch.linalg.cholesky(h @ h.T))
        back = (s @ (s.T @ h)).mul_(h > 0)
        return e.mul_(1 - rate).addmm_(xt, back, alpha=rate)

    return Equation(e, update, "layers.0.weight", lambda e: e.T)


def _arrays(begin: Start, *tensors: Tensor) -> tuple[Any, ...]:
    """NumPy and arrays on a CPU, else torch and tensors; copies."""
    if begin.device.type == "cpu":
        return np, *(tensor.numpy().copy() for tensor in tensors)
    return torch, *(tensor.clone() for tensor in tensors)


def sparse_as_written(begin: Start) -> Equation:
    """The authors' line."""
    ((name, weight),) = begin.params.items()
    np_, x, y, a = _arrays(begin, begin.inputs, begin.targets[:, 0], weight[0])
    block = begin.spec["dynamics"]
    rate, l1, l2 = block["rate"], block["l1"], block["l2"]

    def update(a: Any) -> Any:
        return a - rate * (x.T @ (x @ a - y) + l1 * np_.sign(a) + l2 * a)

    return Equation(a, update, name, lambda a: a[None])


def sparse_careful(begin: Start) -> Equation:
    """The same without temporaries; the l2 term is left out where its weight is 0."""
    ((name, weight),) = begin.params.items()
    np_, x, y, a = _arrays(begin, begin.inputs, begin.targets[:, 0], weight[0])
    block = begin.spec["dynamics"]
    rate, l1, l2 = block["rate"], block["l1"], block["l2"]
    xt = x.T.copy() if np_ is np else x.T.contiguous()
    residual, gradient, sign = np_.empty_like(y), np_.empty_like(a), np_.empty_like(a)

    def update(a: Any) -> Any:
        np_.matmul(x, a, out=residual)
        np_.subtract(residual, y, out=residual)
        np_.matmul(xt, residual, out=gradient)
        np_.sign(a, out=sign)
        np_.multiply(sign, l1, out=sign)
        np_.add(gradient, sign, out=gradient)
        if l2:
            np_.multiply(a, l2, out=sign)
            np_.add(gradient, sign, out=gradient)
        np_.multiply(gradient, rate, out=gradient)
        np_.subtract(a, gradient, out=a)
        return a

    return Equation(a, update, name, lambda a: a[None])


def matrix_as_written(begin: Start) -> Equation:
    """The update with a mask, as one writes it."""
    ((name, matrix),) = begin.params.items()
    target, mask = torch.zeros_like(matrix), torch.zeros_like(matrix)
    rows, columns = begin.inputs.unbind(1)
    target[rows, columns] = begin.targets[:, 0]
    mask[rows, columns] = 1
    np_, target, mask, a = _arrays(begin, target, mask, matrix)
    rate, weight = (begin.spec["dynamics"][key] for key in ("rate", "weight"))

    def update(a: Any) -> Any:
        u, _, vt = np_.linalg.svd(a, full_matrices=False)
        return a - rate * (mask * (a - target) + weight * (u @ vt))

    return Equation(a, update, name, lambda a: a)


def matrix_careful(begin: Start) -> Equation:
    """The update at observed entries alone, in place."""
    ((name, matrix),) = begin.params.items()
    places = begin.inputs[:, 0] * matrix.shape[1] + begin.inputs[:, 1]
    np_, places, y, a = _arrays(begin, places, begin.targets[:, 0], matrix)
    rate, weight = (begin.spec["dynamics"][key] for key in ("rate", "weight"))
    product = np_.empty_like(a)

    def update(a: Any) -> Any:
        u, _, vt = np_.linalg.svd(a, full_matrices=False)
        np_.matmul(u, vt, out=product)
        flat = a.reshape(-1)
        residual = flat[places] - y
        np_.multiply(product, rate * weight, out=product)
        np_.subtract(a, product, out=a)
        flat[places] -= rate * residual
        return a

    return Equation(a, update, name, lambda a: a)
