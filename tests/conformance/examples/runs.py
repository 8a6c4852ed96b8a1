"""Runs in which every component takes part: member independence is tested on these."""

import ast
import copy
from collections.abc import Iterator
from typing import Any

from grokatlas import registry
from grokatlas.declare import signatures
from grokatlas.declare.checked_types import MEMBER_KINDS
from grokatlas.engine import dataset

from . import EXAMPLES
from .model import TASKS
from .task import (
    BINARY,
    CIFAR10,
    COMPOSITION,
    DIGITS,
    FOURIER_REGRESSION,
    LINEAR_RECOVERY,
    LINEAR_REGRESSION,
    MATRIX_COMPLETION,
    MNIST,
    ONE_HOT,
    ONE_SAMPLE,
    OPERATION,
    SPARSE_RECOVERY,
    SUMMED,
    TEACHER_STUDENT,
    TEACHER_STUDENT_1D,
    TOKENS,
    TOKENS_EQUALS,
    XOR_CLUSTERS,
)


def _example(block: str, name: str, index: int = 0) -> dict[str, Any]:
    return {"name": name} | EXAMPLES[block][name][index]


_TRAIN = {
    "steps": 200,
    "dtype": "float64",
    "log": {"every": 50, "first": 2},
    "snapshots": [0, 200],
}


def _run(**blocks: Any) -> dict[str, Any]:
    frame = {
        "dynamics": {"name": "gradient_training"},
        "ensemble": {"seed": [3, 0, 7]},
        "train": copy.deepcopy(_TRAIN),
    }
    return frame | blocks


_SEEN = [{"name": "losses"}, _example("observables", "norms")]
_WEIGHTS = {
    "loss": _example("loss", "mse"),
    "optimizer": _example("optimizer", "gd"),
    "penalties": [_example("penalties", "l2")],
    "observables": [*_SEEN, {"name": "parameters"}],
}
_CLASSES = {
    "loss": {"name": "cross_entropy"},
    "optimizer": _example("optimizer", "adam"),
    "penalties": [_example("penalties", "l2")],
    "observables": [*_SEEN, {"name": "accuracies"}],
}
_NOTEBOOK = _CLASSES | {"penalties": [_example("penalties", "l2", 1)]}
_STEPS = [{"name": "effective_step"}, {"name": "adam_denominator"}]
_NOTEBOOK |= {"observables": [*_CLASSES["observables"], *_STEPS]}
_SEEN_CLASSES = [
    _example("observables", name)
    for name in ("accuracies", "centroid", "effective_rank", "fourier_gini", "jacobian", "nonzeros")
]
_SEEN_WEIGHTS = [
    {"name": "losses"},
    _example("observables", "norms", 1),
    *(
        _example("observables", name)
        for name in ("gradient_ratio", "ntk", "relative_errors", "singular_values")
    ),
]

_LINEAR = {"model": _example("model", "linear") | {"negative_slope": 1.0}}
_MLP = {"model": _example("model", "mlp", 1)}
_MATRIX = {"model": _example("model", "matrix")}
_FACTORS = {"model": _example("model", "matrix_factorisation")}
_SINGULAR_VALUES = {"name": "singular_values", "parameters": ["u", "v"]}
_DIAGONAL = {"model": _example("model", "diagonal_linear")}
_STUDENT = {"model": _example("model", "mlp", 3)}
_REAL = {
    "loss": _example("loss", "mse"),
    "optimizer": _example("optimizer", "gd") | {"lr": 0.01},
    "penalties": [_example("penalties", "l2")],
    "observables": _SEEN,
}
_NORMAL = {"model": _example("model", "linear") | {"negative_slope": 1.0, "init": "normal"}}
_MOVED = {"loss": _example("loss", "mse"), "observables": _SEEN}  # by dynamics of their own

# every task, model and dynamics that go together
RUNS: dict[str, dict[str, Any]] = {
    "linear": _run(task=ONE_SAMPLE, model=_example("model", "linear"), **_WEIGHTS),
    "hadamard": _run(task=ONE_SAMPLE, model=_example("model", "hadamard_product"), **_WEIGHTS),
    "blog": _run(task=TOKENS, model=_example("model", "bilinear_encoder"), **_CLASSES),
    "notebook": _run(task=TOKENS, model=_example("model", "bilinear_encoder", 1), **_NOTEBOOK),
    "mlp": _run(
        task=SUMMED | {"split_seed": "member"}, model=_example("model", "mlp", 1), **_CLASSES
    ),
    "one_hot": _run(
        task=ONE_HOT,
        model=_example("model", "mlp"),
        **(_CLASSES | {"loss": _example("loss", "mse")}),
    ),
    "permutations": _run(
        task=COMPOSITION | {"split_seed": "member"},
        **_MLP,
        **_CLASSES,
    ),
    "fixed_norm": _run(
        task=SUMMED | {"split_seed": "member"},
        dynamics=_example("dynamics", "fixed_norm_training"),
        **_MLP,
        **_CLASSES,
    ),
    "isolated": _run(
        task=SUMMED | {"split_seed": "member"},
        model=_example("model", "mlp") | {"output_scale": 1.0},
        loss=_example("loss", "mse", 1),
        dynamics=_example("dynamics", "isolated_first_layer"),
        observables=_CLASSES["observables"],
    ),
    "ridge": _run(
        task=SUMMED | {"split_seed": "member"},
        model=_example("model", "mlp") | {"output_scale": 1.0},
        loss=_example("loss", "mse", 1),
        dynamics=_example("dynamics", "ridge_first_layer"),
        observables=_CLASSES["observables"],
    ),
    "joint": _run(
        task=SUMMED,
        model=_example("model", "fitted_mlp"),
        loss=_example("loss", "mse", 1),
        dynamics=_example("dynamics", "joint_layers"),
        observables=_CLASSES["observables"],
    ),
    "implicit": _run(
        task=LINEAR_REGRESSION,
        model=_example("model", "hadamard_product"),
        dynamics=_example("dynamics", "implicit_flow"),
        **_MOVED,
    ),
    "fitted": _run(
        task=SUMMED,
        model=_example("model", "fitted_mlp"),
        **_WEIGHTS | {"optimizer": {"name": "gd", "lr": 0.02}, "observables": _SEEN},
        gradients=[_example("gradients", "scale")],
    ),
    "seen": _run(
        task=ONE_HOT,
        model=_example("model", "mlp", 1),
        **(_CLASSES | {"observables": _SEEN_CLASSES}),
    ),
    "curve": _run(
        task=ONE_SAMPLE | {"point": [1.0]},
        model=_example("model", "mlp", 1),
        **(_WEIGHTS | {"observables": _SEEN_WEIGHTS}),
    ),
    "mnist": _run(task=MNIST, **_MLP, **_CLASSES),
    "float64_loss": _run(
        task=DIGITS | {"split_seed": "member"},
        **_MLP,
        **_CLASSES
        | {
            "penalties": [_example("penalties", "jacobian")],
            "observables": [*_CLASSES["observables"], {"name": "softmax_collapse"}],
        },
        train=_TRAIN | {"dtype": "float32", "loss_dtype": "float64"},
    ),
    "digits": _run(task=DIGITS | {"split_seed": "member"}, **_MLP, **_CLASSES),
    "cifar10": _run(task=CIFAR10, **_MLP, **_CLASSES),
    "xor_clusters": _run(
        task=XOR_CLUSTERS | {"data_seed": "member"},
        **_MLP,
        **_REAL | {"observables": [*_SEEN, _example("observables", "noisy_accuracy")]},
    ),
    "sparse": _run(task=SPARSE_RECOVERY, **_LINEAR, **_REAL),
    "completion": _run(task=MATRIX_COMPLETION, **_MATRIX, **_REAL),
    "factors": _run(
        task=MATRIX_COMPLETION | {"instance_seed": "member"},
        **_FACTORS,
        **_REAL | {"observables": [*_SEEN, _SINGULAR_VALUES]},
    ),
    "teacher": _run(
        task=TEACHER_STUDENT | {"instance_seed": "member"},
        **_MLP,
        **_REAL,
        gradients=[_example("gradients", "orthogonal")],
    ),
    "teacher_1d": _run(task=TEACHER_STUDENT_1D, **_STUDENT, **_REAL),
    "fourier": _run(task=FOURIER_REGRESSION, **_DIAGONAL, **_REAL),
    "regression": _run(task=LINEAR_REGRESSION, **_LINEAR, **_REAL),
    "subgradients": _run(
        task=SPARSE_RECOVERY | {"instance_seed": "member"},
        dynamics=_example("dynamics", "subgradient_descent"),
        **_NORMAL,
        **_MOVED
        | {
            "observables": [
                *_SEEN,
                _example("observables", "slow_time"),
                _example("observables", "gradient_ratio"),
            ]
        },
    ),
    "factors_of_a_vector": _run(
        task=SPARSE_RECOVERY | {"instance_seed": "member"},
        model=_example("model", "hadamard_product"),
        dynamics=_example("dynamics", "hadamard_descent"),
        **_MOVED,
    ),
    "closed_form": _run(
        task=LINEAR_REGRESSION,
        dynamics=_example("dynamics", "linear_descent"),
        **_NORMAL,
        **_MOVED,
    ),
    "ridge_descent": _run(
        task=SPARSE_RECOVERY | {"instance_seed": "member"},
        model=_example("model", "linear") | {"negative_slope": 1.0, "init": 0.5},
        dynamics=_example("dynamics", "linear_descent"),
        **_MOVED,
    ),
    "nuclear": _run(
        task=MATRIX_COMPLETION | {"rows": 4, "columns": 4},
        dynamics=_example("dynamics", "nuclear_subgradient_descent"),
        **_MATRIX,
        **_MOVED,
    ),
    "sensing": _run(
        task=LINEAR_RECOVERY | {"instance_seed": "member"},
        dynamics=_example("dynamics", "matrix_sensing_descent"),
        **_NORMAL,
        **_MOVED,
    ),
    "flow": _run(
        task=LINEAR_REGRESSION,
        model=_example("model", "hadamard_product"),
        dynamics=_example("dynamics", "riemannian_flow"),
        **_MOVED,
    ),
    "transformer": _run(task=TOKENS_EQUALS, model=_example("model", "transformer"), **_CLASSES),
    "fixed_embedding": _run(
        task=TOKENS_EQUALS, model=_example("model", "transformer", 1), **_CLASSES
    ),
    "decoder": _run(
        task=OPERATION,
        model=_example("model", "decoder"),
        **_CLASSES | {"optimizer": _example("optimizer", "gd")},  # with 0.1 of Adam it is chaos
    ),
    "decoder_on_stream": _run(
        task=OPERATION | {"split_seed": "member"},
        model=_example("model", "decoder", 1),
        **_CLASSES,
    ),
    "conv_net": _run(task=DIGITS, model=_example("model", "conv_net"), **_CLASSES),
    "amplified": _run(
        task=SUMMED | {"split_seed": "member"},
        model=_example("model", "mlp"),
        **_CLASSES
        | {
            "optimizer": _example("optimizer", "adamw"),
            "penalties": [_example("penalties", "l1"), _example("penalties", "nuclear")],
            "gradients": [_example("gradients", "grokfast_ema")],
        },
    ),
    "scheduled": _run(
        task=SUMMED | {"split_seed": "member"},
        **_MLP,
        **_CLASSES
        | {
            "optimizer": _example("optimizer", "adamw"),
            "updates": [
                _example("updates", name)
                for name in ("weight_decay", "schedule", "inverse_sqrt", "norm_cap")
            ],
            "observables": [*_CLASSES["observables"], {"name": "effective_step"}],
        },
    ),
    "noisy": _run(
        task=ONE_HOT,
        model=_example("model", "mlp"),
        **_CLASSES
        | {
            # fast enough for accuracies at which the noise is its least
            "optimizer": _example("optimizer", "sgd") | {"lr": 0.2},
            "penalties": [_example("penalties", "jacobian")],
            "gradients": [_example("gradients", "clip_norm"), _example("gradients", "clip_value")],
            "inputs": [_example("inputs", "accuracy_scaled_noise")],
        },
    ),
    "dropout": _run(
        task=SUMMED | {"split_seed": "member"},
        model=_example("model", "mlp", 4),
        **_CLASSES
        | {
            "optimizer": _example("optimizer", "langevin"),
            "penalties": [_example("penalties", "jacobian")],
            "gradients": [_example("gradients", "gaussian_noise")],
        },
    ),
    "switched_memory": _run(
        task=TOKENS_EQUALS,
        model=_example("model", "transformer"),
        **_CLASSES | {"optimizer": _example("optimizer", "switched_adam")},
    ),
    "noisy_weights": _run(
        task=TOKENS_EQUALS, model=_example("model", "transformer", 3), **_CLASSES
    ),
    "binary": _run(
        task=DIGITS | BINARY,
        model=_example("model", "linear", 2) | {"init": 0.2},  # a norm between the levels tried
        **_WEIGHTS
        | {
            "loss": _example("loss", "binary_cross_entropy"),
            "optimizer": _example("optimizer", "sgd", 1),
            "penalties": [_example("penalties", "jacobian_level")],
            "gradients": [_example("gradients", "grokfast_ma")],
        },
    ),
    "sobolev": _run(
        task=TEACHER_STUDENT | {"jacobian": True},
        **_MLP,
        **_REAL
        | {"loss": _example("loss", "sobolev"), "observables": [{"name": "squared_errors"}]},
    ),
    "frozen": _run(
        task=SUMMED | {"split_seed": "member"},
        model=_example("model", "mlp", 1),
        **_CLASSES
        | {
            "optimizer": _example("optimizer", "adamw"),
            "gradients": [_example("gradients", n) for n in ("grokfast_ema", "clip_norm")],
        },
        train=_TRAIN | {"only": ["layers.1.*"]},
    ),
}
# those whose gradient is of a batch of more than one sample
MINIBATCHES = {"blog": 4, "notebook": 7, "mlp": 4, "transformer": 4, "conv_net": 4}
MINIBATCHES |= {"float64_loss": 4, "fixed_norm": 4, "amplified": 4, "noisy": 6, "sobolev": 4}
MINIBATCHES |= {"decoder": 4, "scheduled": 4, "frozen": 4, "dropout": 4, "noisy_weights": 4}


def member_keywords(spec: dict[str, Any]) -> Iterator[tuple[str, str, Any]]:
    """What members of a run may differ in: component and keyword, its path and its value."""
    for block in ("model", "loss", "optimizer", "dynamics", *registry.LISTS):
        if block not in spec or block in ("observables", "measures"):
            continue
        entries = spec[block] if block in registry.LISTS else [spec[block]]
        for index, entry in enumerate(entries):
            path = f"{block}.{index}" if block in registry.LISTS else block
            kinds = signatures.signature(block, entry["name"]).keywords
            for keyword, kind in kinds.items():
                names = {node.id for node in ast.walk(kind) if isinstance(node, ast.Name)}
                if names & MEMBER_KINDS and entry[keyword] is not None:
                    name = f"{block}-{entry['name']}-{keyword}"
                    yield name, f"{path}.{keyword}", entry[keyword]


def run_with(block: str, name: str, keywords: dict[str, Any]) -> dict[str, Any]:
    """A run of one member that uses a component with these keywords."""

    def has(entries: Any) -> bool:
        listed = entries if isinstance(entries, list) else [entries]
        return name in [entry["name"] for entry in listed]

    spec = next(run for run in RUNS.values() if block in run and has(run[block]))
    entry: Any = {"name": name} | keywords
    changed = {block: [entry] if isinstance(spec[block], list) else entry}
    changed |= {"task": TASKS[name]} if block == "model" else {}
    return spec | changed | {"ensemble": {"seed": [0]}}


def data_of(model: str) -> dataset.Dataset:
    """The data set of a task that the model can learn."""
    if model not in TASKS:
        raise LookupError(f"TASKS of tests/conformance/examples/model.py has no task for {model}")
    return dataset.make([TASKS[model]])
