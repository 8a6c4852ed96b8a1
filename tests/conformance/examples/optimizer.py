"""Keywords of every optimizer, and the same of torch."""

from typing import Any

import torch

EXAMPLES: dict[str, list[dict[str, Any]]] = {
    "adam": [{"lr": 0.02, "beta1": 0.9, "beta2": 0.99, "eps": 1e-8}],
    "gd": [{"lr": 0.05}],
}

# optimizer -> the same of torch
REFERENCES = {
    "gd": lambda params, lr: torch.optim.SGD(params, lr=lr),
    "adam": lambda params, lr, beta1, beta2, eps: torch.optim.Adam(
        params, lr=lr, betas=(beta1, beta2), eps=eps
    ),
}
