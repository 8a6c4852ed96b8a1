"""The golden traces: `python tests/golden/regenerate.py [CASE ...]` writes them anew.

Only after a change that is meant to change numbers; the diff of the csv files shows what it did.
"""

import json
import platform
import sys
from pathlib import Path
from typing import Any

import pandas as pd
import torch

from grokatlas.engine import dataset, members, training

HERE = Path(__file__).parent
MACHINE = HERE / "machine.json"
ONE_SAMPLE = {
    "name": "one_sample",
    "point": [1.0, 2.0],
    "target": 2.0,
    "test_points": 20,
    "test_seed": 0,
}
ADDITION = {
    "name": "modular_addition",
    "modulus": 11,
    "pairs": "ordered",
    "encoding": "tokens",
    "train_fraction": 0.5,
    "split_seed": "member",
}
TOY: dict[str, Any] = {
    "task": ONE_SAMPLE,
    "loss": {"name": "mse", "reduction": "sample_mean", "half": False},
    "optimizer": {"name": "gd", "lr": 0.02},
    "penalties": [{"name": "l2", "weight": 0.05, "squared": True}],
}
ENCODER: dict[str, Any] = {
    "task": ADDITION,
    "model": {
        "name": "bilinear_encoder",
        "embedding": "shared",
        "composition": "matrix_product",
        "side": 3,
        "width": 16,
        "bias": True,
    },
    "loss": {"name": "cross_entropy"},
    "optimizer": {"name": "adam", "lr": 0.01, "beta1": 0.9, "beta2": 0.999, "eps": 1e-8},
    "penalties": [{"name": "l2", "weight": 1e-4, "squared": False}],
}
ISOLATED: dict[str, Any] = {
    "task": ADDITION | {"pairs": "unordered", "encoding": "summed"},
    "model": {
        "name": "mlp",
        "width": 64,
        "hidden_layers": 1,
        "bias": False,
        "init_law": "normal_fan_in",
        "init_scale": 1.0,
        "output_scale": 1.0,
    },
    "loss": {"name": "mse", "reduction": "sample_mean", "half": False},
    "dynamics": {"name": "isolated_first_layer", "rate": 0.01},
}
CLASSES = {"classes": "all", "per_class": False, "pixels": "standardised", "targets": "labels"}
IMAGES = CLASSES | {"train_points": 32, "test_points": 32}
DIGITS = {"name": "digits", "split_seed": "member"} | IMAGES
CIFAR10 = {"name": "cifar10", "train_points": 16, "test_points": 16, "pixels": "unit"}
XOR_CLUSTERS = {
    "name": "xor_clusters",
    "features": 20,
    "train_points": 16,
    "test_points": 16,
    "amplitude": 0.05,
    "data_seed": "member",
}
SPARSE_RECOVERY = {
    "name": "sparse_recovery",
    "features": 20,
    "nonzeros": 3,
    "train_points": 10,
    "signal_to_noise": 1e8,
    "instance_seed": 1,
}
TEACHER_STUDENT = {
    "name": "teacher_student",
    "features": 6,
    "width": 10,
    "outputs": 2,
    "train_points": 12,
    "test_points": 12,
    "jacobian": False,
    "instance_seed": "member",
}
TEACHER_STUDENT_1D = {
    "name": "teacher_student_1d",
    "slopes": [-1.0, 1.0, 1.0],
    "offsets": [1.0, 0.25, -1.0],
    "weights": [2.0, 4.0, -8.0],
    "points": [0.0884, -1.18101, 0.23742, 0.38184, 1.68048],
    "low": -2.0,
    "high": 2.0,
    "test_points": 20,
}
FOURIER_REGRESSION = {
    "name": "fourier_regression",
    "frequencies": 6,
    "cosine_frequencies": [2, 5],
    "cosine_coefficients": [1.0, -0.7],
    "sine_frequencies": [3],
    "sine_coefficients": [0.5],
    "train_points": 8,
    "test_points": 20,
    "data_seed": "member",
}
MATRIX_COMPLETION = {
    "name": "matrix_completion",
    "rows": 6,
    "columns": 5,
    "rank": 2,
    "truth": "gaussian_factors",
    "train_points": 15,
    "leverage_share": 0.0,
    "test_entries": "unobserved",
    "instance_seed": "member",
}
EQUALS = ADDITION | {"encoding": "tokens_equals"}
LINEAR_REGRESSION = {
    "name": "linear_regression",
    "features": 8,
    "train_points": 5,
    "test_points": 12,
    "noise": 0.1,
    "data_seed": "member",
}
MLP: dict[str, Any] = {
    "model": {
        "name": "mlp",
        "width": 16,
        "hidden_layers": 1,
        "bias": True,
        "init_law": "uniform_fan_in",
        "init_scale": 1.0,
        "output_scale": 1.0,
    }
}

MINIBATCH = {"batch_size": 24, "shuffle": True}
TRANSFORMER: dict[str, Any] = {
    "model": {
        "name": "transformer",
        "dimension": 16,
        "heads": 2,
        "head_dimension": 8,
        "width": 32,
        "embedding": "learned",
        "unembedding": "learned",
    }
}
FIXED = {"model": TRANSFORMER["model"] | {"embedding": "fixed"}}
CONV_NET: dict[str, Any] = {
    "model": {
        "name": "conv_net",
        "channels": [4, 8],
        "strides": [1, 2],
        "pools": 2,
        "width": 8,
        "pixel_mean": [0.3053],
        "pixel_std": [0.3760],
    }
}
STUDENT = {"model": MLP["model"] | {"bias": "hidden", "init_law": "normal", "init_scale": 2.0}}
MATRIX = {"model": {"name": "matrix", "init_scale": 0.1}}
FACTORS = {"model": {"name": "matrix_factorisation", "factors": 4, "init_scale": 1.0}}
DIAGONAL = {"model": {"name": "diagonal_linear", "init_variance": 0.1}}


def _case(blocks: dict[str, Any], dtype: str, **train: Any) -> dict[str, Any]:
    schedule = {"steps": 20, "log": {"every": 1, "first": 0}, "snapshots": []}
    return {
        "dynamics": {"name": "gradient_training"},
        "observables": [{"name": "losses"}, {"name": "norms", "orders": ["l1", "l2"]}],
        "ensemble": {"seed": [0, 1]},
        "train": {"dtype": dtype, **schedule, **train},
        **blocks,
    }


LINEAR = TOY | {"model": {"name": "linear", "init": "normal", "negative_slope": 0.1}}
PRODUCT = TOY | {"model": {"name": "hadamard_product", "depth": 2, "init": "normal"}}
FLAT = TOY | {"model": {"name": "linear", "init": "normal", "negative_slope": 1.0}}
OWN = {"loss": TOY["loss"]}  # of dynamics that take neither optimizer nor penalties
SUBGRADIENTS: dict[str, Any] = OWN | {
    "task": SPARSE_RECOVERY,
    "model": FLAT["model"],
    "dynamics": {"name": "subgradient_descent", "rate": 0.1, "l1": 0.01, "l2": 0.001},
}
PRODUCT_DESCENT: dict[str, Any] = OWN | {
    "task": SPARSE_RECOVERY,
    "model": PRODUCT["model"],
    "dynamics": {"name": "hadamard_descent", "rate": 0.1},
}
CLOSED_FORM: dict[str, Any] = OWN | {
    "task": LINEAR_REGRESSION,
    "model": FLAT["model"],
    "dynamics": {"name": "linear_descent", "rate": 0.01, "l2": 0.01, "data_scale": "sum"},
}
NUCLEAR: dict[str, Any] = (
    OWN
    | MATRIX
    | {
        "task": MATRIX_COMPLETION | {"columns": MATRIX_COMPLETION["rows"]},
        "dynamics": {"name": "nuclear_subgradient_descent", "rate": 0.2, "weight": 0.05},
    }
)
FLOW: dict[str, Any] = OWN | {
    "task": LINEAR_REGRESSION,
    "model": PRODUCT["model"],
    "dynamics": {
        "name": "riemannian_flow",
        "rate": 0.05,
        "corrections": 2,
        "fast_steps": 10,
        "fast_rate": 0.01,
    },
}
RIDGE: dict[str, Any] = ISOLATED | {
    "dynamics": {"name": "ridge_first_layer", "rate": 0.01, "weight_decay": 1e-3},
}
IMPLICIT: dict[str, Any] = OWN | {
    "task": LINEAR_REGRESSION,
    "model": PRODUCT["model"],
    "dynamics": {
        "name": "implicit_flow",
        "weight_decay": 0.01,
        "first": 0.05,
        "growth": 0.1,
        "iterations": 2,
    },
}
CASES = {
    "one_sample-linear-float64": _case(LINEAR, "float64"),
    "one_sample-hadamard_product-float64": _case(PRODUCT, "float64"),
    "modular_addition-bilinear_encoder-float64": _case(ENCODER, "float64"),
    "modular_addition-bilinear_encoder-float32": _case(ENCODER, "float32"),
    "modular_addition-bilinear_encoder-minibatch-float64": _case(
        ENCODER, "float64", batch_size=24, shuffle=True
    ),
    "modular_addition-bilinear_encoder-minibatch-float32": _case(
        ENCODER, "float32", batch_size=24, shuffle=True
    ),
    "modular_addition-mlp-isolated_first_layer-float64": _case(ISOLATED, "float64"),
    "modular_addition-mlp-ridge_first_layer-float64": _case(RIDGE, "float64"),
    "mnist-mlp-float64": _case(ENCODER | MLP | {"task": {"name": "mnist"} | IMAGES}, "float64"),
    "digits-mlp-float64": _case(ENCODER | MLP | {"task": DIGITS}, "float64"),
    "digits-mlp-float64_loss-float32": _case(
        ENCODER | MLP | {"task": DIGITS}, "float32", loss_dtype="float64"
    ),
    "digits-mlp-fixed_norm_training-float64": _case(
        ENCODER
        | MLP
        | {"task": DIGITS, "dynamics": {"name": "fixed_norm_training", "relative_norm": 0.5}},
        "float64",
    ),
    "cifar10-mlp-float64": _case(ENCODER | MLP | {"task": CIFAR10}, "float64"),
    "xor_clusters-mlp-float64": _case(TOY | MLP | {"task": XOR_CLUSTERS}, "float64"),
    "sparse_recovery-linear-float64": _case(FLAT | {"task": SPARSE_RECOVERY}, "float64"),
    "teacher_student-mlp-float64": _case(TOY | MLP | {"task": TEACHER_STUDENT}, "float64"),
    "teacher_student_1d-mlp-float64": _case(TOY | MLP | {"task": TEACHER_STUDENT_1D}, "float64"),
    "fourier_regression-hadamard_product-float64": _case(
        PRODUCT | {"task": FOURIER_REGRESSION}, "float64"
    ),
    "fourier_regression-diagonal_linear-float64": _case(
        TOY | DIAGONAL | {"task": FOURIER_REGRESSION}, "float64"
    ),
    "teacher_student_1d-mlp-normal-float64": _case(
        TOY | STUDENT | {"task": TEACHER_STUDENT_1D, "optimizer": {"name": "gd", "lr": 1e-4}},
        "float64",
    ),
    "matrix_completion-matrix-float64": _case(
        TOY | MATRIX | {"task": MATRIX_COMPLETION}, "float64"
    ),
    "matrix_completion-matrix_factorisation-float64": _case(
        TOY | FACTORS | {"task": MATRIX_COMPLETION}, "float64"
    ),
    "modular_addition-transformer-float64": _case(
        ENCODER | TRANSFORMER | {"task": EQUALS}, "float64"
    ),
    "modular_addition-transformer-float32": _case(
        ENCODER | TRANSFORMER | {"task": EQUALS}, "float32"
    ),
    "modular_addition-transformer-fixed-float64": _case(
        ENCODER | FIXED | {"task": EQUALS}, "float64"
    ),
    "digits-conv_net-float64": _case(
        ENCODER | CONV_NET | {"task": DIGITS | {"pixels": "unit"}}, "float64"
    ),
    "linear_regression-linear-float64": _case(FLAT | {"task": LINEAR_REGRESSION}, "float64"),
    "sparse_recovery-linear-subgradient_descent-float64": _case(SUBGRADIENTS, "float64"),
    "sparse_recovery-hadamard_product-hadamard_descent-float64": _case(PRODUCT_DESCENT, "float64"),
    "linear_regression-linear-linear_descent-float64": _case(CLOSED_FORM, "float64"),
    "matrix_completion-matrix-nuclear_subgradient_descent-float64": _case(NUCLEAR, "float64"),
    "linear_regression-hadamard_product-riemannian_flow-float64": _case(FLOW, "float64"),
    "linear_regression-hadamard_product-implicit_flow-float64": _case(IMPLICIT, "float64"),
}


REAL_DATA = ("mnist", "cifar10")  # traces of files that are no part of this repository


def trace(case: str) -> pd.DataFrame:
    """The history of a case: losses and norms of two members, at each of 20 steps."""
    spec = CASES[case]
    result = training.train(spec, dataset.make(members.tasks(spec)), torch.device("cpu"))
    return pd.DataFrame(result.history).astype({"member": "int64", "step": "int64"})


def machine() -> dict[str, str]:
    """What the last digits depend on: torch's release and the CPU, by which kernels are chosen."""
    capability = torch.backends.cpu.get_cpu_capability()
    return {"torch": torch.__version__, "capability": capability, "cpu": _cpu()}


def _cpu() -> str:
    """Name, family and model of the CPU, as far as the system tells."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text(encoding="utf-8").splitlines() if info.exists() else []
    facts = dict(line.split(":", 1) for line in lines if ":" in line)
    wanted = ("model name", "cpu family", "model", "stepping")
    known = {key.strip(): value.strip() for key, value in facts.items()}
    return ", ".join(known.get(key, platform.machine()) for key in wanted)


def main(cases: list[str]) -> None:
    """Write the traces of some cases, or of all."""
    torch.set_num_threads(1)
    if not cases:
        MACHINE.write_text(json.dumps(machine(), indent=1) + "\n", encoding="utf-8")
    elif json.loads(MACHINE.read_text(encoding="utf-8")) != machine():
        sys.exit("the other traces were written on another machine: write all of them anew")
    for case in cases or CASES:
        trace(case).to_csv(HERE / f"{case}.csv", index=False, lineterminator="\n")
        print(HERE / f"{case}.csv")


if __name__ == "__main__":
    main(sys.argv[1:])
