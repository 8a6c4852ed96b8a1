"""Adam."""

from typing import Any

import torch

from grokatlas.kinds import Positive, Unit


class Adam:
    """Adam with bias correction (Kingma & Ba 2015, algorithm 1), as ``torch.optim.Adam``."""

    def __init__(self, lr: Any, beta1: Any, beta2: Any, eps: Any) -> None:
        self.lr = lr
        self.beta1 = beta1
        self.beta2 = beta2
        self.eps = eps

    def init(self, params: dict) -> dict:
        """First and second moments, and the number of steps."""
        first = {key: torch.zeros_like(value) for key, value in params.items()}
        second = {key: torch.zeros_like(value) for key, value in params.items()}
        some = next(iter(params.values()))
        return {"first": first, "second": second, "step": torch.zeros_like(some.sum())}

    def update(self, params: dict, grads: dict, state: dict) -> tuple[dict, dict]:
        """The parameters after one step, and the moments."""
        step = state["step"] + 1
        correction1 = 1 - self.beta1**step
        correction2 = (1 - self.beta2**step).sqrt()
        first, second, moved = {}, {}, {}
        for key, value in params.items():
            first[key] = state["first"][key] + (1 - self.beta1) * (grads[key] - state["first"][key])
            square = grads[key].square()
            second[key] = self.beta2 * state["second"][key] + (1 - self.beta2) * square
            spread = second[key].sqrt() / correction2 + self.eps
            moved[key] = value - (self.lr / correction1) * (first[key] / spread)
        return moved, {"first": first, "second": second, "step": step}


def build(*, lr: Positive, beta1: Unit, beta2: Unit, eps: Positive) -> Adam:
    """Adam with step size `lr`, decay rates `beta1` and `beta2`, and `eps` outside the root."""
    return Adam(lr, beta1, beta2, eps)
