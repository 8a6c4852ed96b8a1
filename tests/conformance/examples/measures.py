"""Keywords of every measure, and the run that each measures."""

from typing import Any

EXAMPLES: dict[str, list[dict[str, Any]]] = {
    "centroid_images": [{"points": [0, 2]}],
    "convex_minimiser": [{"tolerance": 1e-6, "iterations": 20000}],
    "convex_recovery": [
        {"norm": norm, "tolerance": 1e-6, "iterations": 20000} for norm in ("l1", "l2", "nuclear")
    ],
    "cost": [{}],
    "descent_bounds": [{}],
    "first_layer_drift": [{"span": 3}],
    "fourier_features": [{"parameter": "layers.0.weight"}],
    "grokking_times": [{"train_accuracy": 0.9, "test_accuracy": 0.5}],
    "hypentropy_path": [{"fitted": 10.0}],
    "jacobian_rows": [{"samples": 3}],
    "kkt_residual": [{}],
    "l2_radius": [
        {"levels": [0.5, 2.0], "iterations": 4, "restarts": 1, "points": 3, "attack_seed": 0}
    ],
    "linear_regions": [
        {
            "points": [0, 2, 1],
            "reach": 1.5,
            "train_accuracy": 0.0,
            "test_accuracy": 0.0,
            "followed": 1,
            "pixels": pixels,
        }
        for pixels in (None, 3)
    ],
    "operations": [{}],
    "orthogonality": [{"corrections": 20}],
    "predictor_curve": [{}],
    "reached_steps": [{"column": "test_accuracy", "levels": [0.0, 2.0]}],
    "recovered_singular_values": [{}],
    "recovery_times": [
        {"train_error": 0.5, "test_error": 0.5, "band": 0.05, "last": 3, "run_length": 2}
    ],
    "robust_accuracy": [
        {
            "epsilon": 0.1,
            "iterations": 4,
            "restarts": 2,
            "points": 3,
            "attack_seed": 0,
            "inputs": "pixels",
            "attacked": "pixels",
            "pixel_mean": None,
            "pixel_std": None,
        }
    ],
    "truth": [{}],
    "zero_loss_distance": [{"corrections": 20}],
}

# measure -> its run in `runs.RUNS`, where it is not `isolated`
MEASURED = {
    "convex_minimiser": "factors",
    "convex_recovery": "sensing",
    "descent_bounds": "ridge_descent",
    "first_layer_drift": "fitted",
    "hypentropy_path": "hadamard",
    "jacobian_rows": "one_hot",
    "l2_radius": "one_hot",
    "kkt_residual": "factors",
    "operations": "factors",
    "orthogonality": "fitted",
    "predictor_curve": "curve",
    "recovered_singular_values": "factors",
    "recovery_times": "curve",
    "robust_accuracy": "one_hot",
    "truth": "subgradients",
    "zero_loss_distance": "fitted",
}

# measure -> columns that tell of the task, the spec or the machine, not of what was trained
GIVEN = {
    "centroid_images": ["point", "label", "shape", "input"],
    "convex_minimiser": [
        *("minimiser_norm", "minimiser_error", "gap"),
        *(f"minimiser.{k}" for k in range(8)),
    ],
    "convex_recovery": ["samples", "instance", "minimiser_error"],
    "cost": ["processor", "threads", "members", "hours", "update_seconds", "memory_mb"],
    "descent_bounds": ["test_error_above", "test_error_below"],
    "first_layer_drift": ["prediction", "slow_time"],
    "fourier_features": ["feature", "other"],
    "hypentropy_path": ["between"],
    "l2_radius": ["level"],
    "operations": ["operations"],
    "predictor_curve": ["part", "input", "target"],
    "reached_steps": ["level"],
    "recovered_singular_values": ["place", "true_value"],
    "truth": [
        *(f"truth.{k}" for k in range(8)),
        *("truth_l1_norm", "least_squares_distance"),
    ],
}
