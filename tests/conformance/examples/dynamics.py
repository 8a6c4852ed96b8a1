"""Keywords of every dynamics."""

from typing import Any

EXAMPLES: dict[str, list[dict[str, Any]]] = {
    "fixed_norm_training": [{"relative_norm": 0.5}],
    "gradient_training": [{}],
    "hadamard_descent": [{"rate": 0.05}],
    "implicit_flow": [{"weight_decay": 0.01, "first": 0.05, "growth": 0.1, "iterations": 2}],
    "isolated_first_layer": [{"rate": 0.01}],
    "joint_layers": [{"rate": 0.01, "ratio": 2.0}],
    "linear_descent": [
        {"rate": 0.05, "l2": 0.01, "data_scale": "sum"},
        {"rate": 0.1, "l2": 0.0, "data_scale": "mean"},
    ],
    "matrix_sensing_descent": [{"rate": 0.05, "weight": 0.01, "rows": 3}],
    "nuclear_subgradient_descent": [{"rate": 0.1, "weight": 0.01}],
    "ridge_first_layer": [{"rate": 0.01, "weight_decay": 1e-3}],
    "riemannian_flow": [
        {"rate": 0.02, "corrections": 1, "fast_steps": 10, "fast_rate": 0.05},
        {"rate": 0.02, "corrections": 2, "fast_steps": 0, "fast_rate": 0.0},
    ],
    "subgradient_descent": [{"rate": 0.05, "l1": 0.01, "l2": 0.001}],
}
