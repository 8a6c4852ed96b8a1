"""Keywords of every optimizer, and the same of torch."""

from typing import Any

import torch

_ADAM = {"lr": 0.02, "beta1": 0.9, "beta2": 0.99, "eps": 1e-8}
_SGD = {"lr": 0.05, "momentum": 0.9, "weight_decay": 0.1, "nesterov": False}

EXAMPLES: dict[str, list[dict[str, Any]]] = {
    "adam": [_ADAM, _ADAM | {"beta1": 0.0, "beta2": 0.999}],
    "adamw": [
        _ADAM | {"weight_decay": 0.1, "decay": "decoupled"},
        _ADAM | {"weight_decay": 0.1, "decay": "coupled"},
    ],
    "gd": [{"lr": 0.05}],
    "langevin": [{"lr": 0.05, "temperature": 0.01}],
    "sgd": [
        _SGD,
        _SGD | {"nesterov": True},
        _SGD | {"momentum": 0.0, "weight_decay": 0.0},
    ],
}


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


# optimizer -> the same of torch
REFERENCES = {"adam": _adam, "adamw": _adamw, "gd": torch.optim.SGD, "sgd": torch.optim.SGD}
REFERENCES |= {"langevin": _langevin}
