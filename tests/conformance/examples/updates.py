"""Keywords of every link of the update chain."""

from typing import Any

EXAMPLES: dict[str, list[dict[str, Any]]] = {
    "inverse_sqrt": [{"start": 2}],
    "norm_cap": [{"max_norm": 1.5, "parameters": ["*.weight"]}],
    "schedule": [
        {"steps": [0, 4], "factors": [0.25, 1.0], "between": "linear"},
        {"steps": [1, 9], "factors": [1.0, 0.1], "between": "cosine"},
        {"steps": [1, 2], "factors": [1.0, 0.5], "between": "constant"},
    ],
    "weight_decay": [
        {"rate": 0.01, "parameters": ["*"], "towards": "initial"},
        {"rate": 0.02, "parameters": ["*.bias"], "towards": "zero"},
    ],
}

# links that change nothing if this keyword is 0
NEUTRAL = {"weight_decay": ["rate"]}
