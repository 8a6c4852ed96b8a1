"""Every optimizer as torch has it."""

import math
from typing import Any
from unittest import mock

import torch


def _adam(params: list, lr: float, beta1: float, beta2: float, eps: float) -> torch.optim.Optimizer:
    return torch.optim.Adam(params, lr=lr, betas=(beta1, beta2), eps=eps)


def _adamw(
    params: list,
    lr: float,
    beta1: float,
    beta2: float,
    eps: float,
    weight_decay: float,
    decay: str,
) -> torch.optim.Optimizer:
    kind = torch.optim.AdamW if decay == "decoupled" else torch.optim.Adam
    return kind(params, lr=lr, betas=(beta1, beta2), eps=eps, weight_decay=weight_decay)


def _langevin(params: list, lr: float, temperature: float) -> torch.optim.Optimizer:
    """Without noise."""
    return torch.optim.SGD(params, lr=lr)


class _Switched(torch.optim.Optimizer):
    """The second moment as the weighted mean of all squared gradients since it was empty."""

    def step(self) -> None:
        group = self.param_groups[0]
        for parameter in group["params"]:
            state = self.state[parameter]
            grads = state.setdefault("grads", [])
            grads.append(parameter.grad.clone())
            begin = group["switch"] if group["empty"] and len(grads) > group["switch"] else 0
            first, weight1 = self._mean(grads, [group["beta1"]] * len(grads))
            rates = [
                group["beta2_after" if k >= group["switch"] else "beta2"] for k in range(len(grads))
            ]
            second, weight2 = self._mean([grad**2 for grad in grads[begin:]], rates[begin:])
            root = (second / weight2).sqrt() + group["eps"]
            parameter.data -= group["lr"] * first / weight1 / root

    @staticmethod
    def _mean(values: list, rates: list[float]) -> tuple[torch.Tensor, float]:
        left = [1 - rate for rate in rates]
        weights = [left[k] * math.prod(rates[k + 1 :]) for k in range(len(rates))]
        total = sum(weight * value for weight, value in zip(weights, values, strict=True))
        return total, sum(weights)


def _switched_adam(params: list, **keywords: Any) -> torch.optim.Optimizer:
    return _Switched(params, keywords)


class _Muon:
    """Torch's Muon of matrices, in their own precision, and AdamW of all others."""

    def __init__(
        self, params: list, parameters: list, momentum: float, eps: float, **adamw: float
    ) -> None:
        matrices, others = ([p for p in params if (p.ndim > 1) == wide] for wide in (True, False))
        lr, decay = adamw["lr"], adamw["weight_decay"]
        how = {"lr": lr, "weight_decay": decay, "adjust_lr_fn": "match_rms_adamw"}
        self.muon = torch.optim.Muon(matrices, momentum=momentum, **how)
        rest = [_adamw(others, eps=eps, decay="decoupled", **adamw)] if others else []
        self.rest: list[torch.optim.Optimizer] = rest

    def step(self) -> None:
        with mock.patch.object(torch.Tensor, "bfloat16", torch.Tensor.clone):
            self.muon.step()
        for optimizer in self.rest:
            optimizer.step()


# optimizer -> the same of torch
REFERENCES = {"adam": _adam, "adamw": _adamw, "gd": torch.optim.SGD, "sgd": torch.optim.SGD}
REFERENCES |= {"langevin": _langevin, "muon": _Muon, "switched_adam": _switched_adam}
