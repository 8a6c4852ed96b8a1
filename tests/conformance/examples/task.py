"""Keywords of every task."""

from typing import Any

TOKENS = {
    "name": "modular_addition",
    "modulus": 5,
    "pairs": "ordered",
    "encoding": "tokens",
    "train_fraction": 0.6,
    "split_seed": 0,
}
SUMMED = TOKENS | {"pairs": "unordered", "encoding": "summed", "split_seed": 3}
ONE_HOT = TOKENS | {"encoding": "one_hot"}
ONE_SAMPLE = {
    "name": "one_sample",
    "point": [1.0, 2.0, -1.0],
    "target": 2.0,
    "test_points": 7,
    "test_seed": 0,
}

EXAMPLES: dict[str, list[dict[str, Any]]] = {
    "modular_addition": [
        {key: value for key, value in task.items() if key != "name"}
        for task in (TOKENS, SUMMED, ONE_HOT)
    ],
    "one_sample": [{key: value for key, value in ONE_SAMPLE.items() if key != "name"}],
}
