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
TOKENS_EQUALS = TOKENS | {"encoding": "tokens_equals"}
OPERATION = {
    "name": "modular_operation",
    "operation": "quotient",
    "modulus": 5,
    "encoding": "tokens_op_equals",
    "train_fraction": 0.6,
    "corrupted": 0.2,
    "split_seed": 0,
}
COMPOSITION = OPERATION | {"operation": "composition", "modulus": 3, "encoding": "one_hot"}
ONE_SAMPLE = {
    "name": "one_sample",
    "point": [1.0, 2.0, -1.0],
    "target": 2.0,
    "test_points": 7,
    "test_seed": 0,
}
# of the small files that tests/image_files.py writes
MNIST = {
    "name": "mnist",
    "classes": "all",
    "train_points": 20,
    "test_points": 10,
    "per_class": False,
    "pixels": "standardised",
    "targets": "labels",
}
BINARY = {"classes": [0, 1], "train_points": 3, "test_points": 2, "per_class": True}
BINARY |= {"pixels": "unit", "targets": "binary"}
DIGITS = MNIST | {"name": "digits", "split_seed": 0}
CIFAR10 = {"name": "cifar10", "train_points": 8, "test_points": 5, "pixels": "standardised"}
XOR_CLUSTERS = {
    "name": "xor_clusters",
    "features": 6,
    "train_points": 8,
    "test_points": 5,
    "amplitude": 0.05,
    "data_seed": 0,
}
SPARSE_RECOVERY = {
    "name": "sparse_recovery",
    "features": 8,
    "nonzeros": 2,
    "train_points": 5,
    "signal_to_noise": 1e8,
    "instance_seed": 1,
}
LINEAR_RECOVERY = {
    "name": "linear_recovery",
    "rows": 3,
    "columns": 3,
    "truth": "sparse",
    "nonzeros": 2,
    "rank": 1,
    "blocks": 2,
    "train_points": [4, 6],
    "instance_seed": 0,
}
MATRIX_COMPLETION = {
    "name": "matrix_completion",
    "rows": 4,
    "columns": 3,
    "rank": 2,
    "truth": "gaussian_factors",
    "train_points": 8,
    "leverage_share": 0.0,
    "test_entries": "unobserved",
    "instance_seed": 0,
}
LEVERAGE = {"truth": "normalised", "leverage_share": 0.5, "test_entries": "all"}
TEACHER_STUDENT = {
    "name": "teacher_student",
    "features": 4,
    "width": 5,
    "outputs": 2,
    "train_points": 6,
    "test_points": 4,
    "jacobian": False,
    "instance_seed": 0,
}
TEACHER_STUDENT_1D = {
    "name": "teacher_student_1d",
    "slopes": [-1.0, 1.0, 1.0],
    "offsets": [1.0, 0.25, -1.0],
    "weights": [2.0, 4.0, -8.0],
    "points": [0.1, -1.2, 1.7],
    "low": -2.0,
    "high": 2.0,
    "test_points": 9,
}
FOURIER_REGRESSION = {
    "name": "fourier_regression",
    "frequencies": 3,
    "cosine_frequencies": [2],
    "cosine_coefficients": [1.0],
    "sine_frequencies": [1, 3],
    "sine_coefficients": [0.5, -0.5],
    "train_points": 5,
    "test_points": 8,
    "data_seed": 0,
}
LINEAR_REGRESSION = {
    "name": "linear_regression",
    "features": 5,
    "train_points": 3,
    "test_points": 4,
    "noise": 0.1,
    "data_seed": 0,
}

_TASKS: list[dict[str, Any]] = [
    *(TOKENS, SUMMED, ONE_HOT, TOKENS_EQUALS),
    *(OPERATION, COMPOSITION),
    ONE_SAMPLE,
    *(MNIST, MNIST | BINARY),
    *(DIGITS, DIGITS | BINARY | {"split_seed": None}),
    *(CIFAR10, CIFAR10 | {"train_points": 30, "pixels": "unit"}),
    XOR_CLUSTERS,
    *(SPARSE_RECOVERY, SPARSE_RECOVERY | {"signal_to_noise": None}),
    *(
        LINEAR_RECOVERY | {"truth": truth}
        for truth in ("sparse", "low_rank", "gaussian", "block_constant")
    ),
    *(MATRIX_COMPLETION, MATRIX_COMPLETION | LEVERAGE),
    *(TEACHER_STUDENT, TEACHER_STUDENT | {"jacobian": True}),
    TEACHER_STUDENT_1D,
    FOURIER_REGRESSION,
    LINEAR_REGRESSION,
]
EXAMPLES: dict[str, list[dict[str, Any]]] = {}
for _task in _TASKS:
    _keywords = {key: value for key, value in _task.items() if key != "name"}
    EXAMPLES.setdefault(_task["name"], []).append(_keywords)
