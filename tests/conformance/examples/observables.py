"""Keywords of every observable, and the task on which each is seen."""

from typing import Any

from .task import ONE_SAMPLE

EXAMPLES: dict[str, list[dict[str, Any]]] = {
    "accuracies": [{}],
    "adam_denominator": [{}],
    "centroid": [{"samples": 4}],
    "effective_rank": [{}],
    "effective_step": [{}],
    "fourier_gini": [
        {"label": "first", "parameters": ["layers.0.weight"], "tokens": 5},
        {"label": "product", "parameters": ["layers.1.weight", "layers.1.weight"], "tokens": 6},
    ],
    "gradient_ratio": [{"threshold": 0.0}, {"threshold": 0.1}],
    "jacobian": [{"samples": 3}],
    "losses": [{}],
    "noisy_accuracy": [{"amplitudes": [0.0, 2.0], "spared": 1, "noise_seed": 0}],
    "nonzeros": [{"threshold": 0.1}],
    "norms": [{"orders": ["l1", "l2"]}, {"orders": ["nuclear"]}],
    "ntk": [{"probe": 0}],
    "parameters": [{}],
    "relative_errors": [{}],
    "squared_errors": [{}],
    "slow_time": [{"weight": "l2"}],
    "singular_values": [
        {"parameters": ["layers.1.weight"]},
        {"parameters": ["layers.1.weight", "layers.1.weight"]},
    ],
    "softmax_collapse": [{}],
}

# observable -> a task with one real output, where it needs that
TASKS = {"ntk": ONE_SAMPLE, "relative_errors": ONE_SAMPLE, "squared_errors": ONE_SAMPLE}

# observable -> columns that tell of the spec and the step, not of what was trained
GIVEN = {"slow_time": ["fast_time", "slow_time"]}
