"""Keywords with which the conformance tests build every component, and runs that use every one.

A new component needs an entry in `EXAMPLES` and a place in `RUNS`; a new optimizer also one in
`REFERENCES`, a new penalty one in `GRADIENTS`. A test names what is missing.
"""

from typing import Any

import torch

from grokatlas import datasets

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

MLP = {
    "width": 24,
    "hidden_layers": 1,
    "bias": False,
    "init_law": "normal_fan_in",
    "init_scale": 1.1,
    "output_scale": 0.7,
}
DEEP_MLP = MLP | {"width": 6, "hidden_layers": 2, "bias": True, "init_law": "uniform_fan_in"}
BLOG = {
    "embedding": "shared",
    "composition": "matrix_product",
    "side": 2,
    "width": 8,
    "bias": True,
}
NOTEBOOK = BLOG | {"embedding": "separate", "composition": "hadamard_product", "bias": False}

# block -> component -> keyword sets of its `build`
EXAMPLES: dict[str, dict[str, list[dict[str, Any]]]] = {
    "task": {
        "modular_addition": [
            {key: value for key, value in task.items() if key != "name"}
            for task in (TOKENS, SUMMED, ONE_HOT)
        ],
        "one_sample": [{key: value for key, value in ONE_SAMPLE.items() if key != "name"}],
    },
    "model": {
        "bilinear_encoder": [BLOG, NOTEBOOK, BLOG | {"composition": "sum"}],
        "hadamard_product": [
            {"depth": 2, "init": "normal"},
            {"depth": 1, "init": [0.5, -1.0, 2.0]},
        ],
        "linear": [
            {"init": "normal", "negative_slope": 0.1},
            {"init": [1.0, -1.0, 0.5], "negative_slope": 1.0},
        ],
        "mlp": [MLP, DEEP_MLP, MLP | {"init_law": "normal_fan_out"}],
    },
    "loss": {
        "cross_entropy": [{}],
        "mse": [
            {"reduction": "mean", "half": False},
            {"reduction": "sample_mean", "half": True},
            {"reduction": "sum", "half": False},
        ],
    },
    "optimizer": {
        "adam": [{"lr": 0.02, "beta1": 0.9, "beta2": 0.99, "eps": 1e-8}],
        "gd": [{"lr": 0.05}],
    },
    "dynamics": {
        "gradient_training": [{}],
        "isolated_first_layer": [{"rate": 0.01}],
    },
    "penalties": {"l2": [{"weight": 0.01, "squared": True}, {"weight": 0.01, "squared": False}]},
    "gradients": {},
    "inputs": {},
    "observables": {
        "accuracies": [{}],
        "losses": [{}],
        "norms": [{"orders": ["l1", "l2"]}],
        "parameters": [{}],
    },
    "measures": {
        "fourier_features": [{"parameter": "layers.0.weight"}],
        "grokking_times": [{"train_accuracy": 0.9, "test_accuracy": 0.5}],
    },
}

# model -> a task that it can learn
TASKS = {
    "bilinear_encoder": TOKENS,
    "hadamard_product": ONE_SAMPLE,
    "linear": ONE_SAMPLE,
    "mlp": ONE_HOT,
}

# optimizer -> the same of torch
REFERENCES = {
    "gd": lambda params, lr: torch.optim.SGD(params, lr=lr),
    "adam": lambda params, lr, beta1, beta2, eps: torch.optim.Adam(
        params, lr=lr, betas=(beta1, beta2), eps=eps
    ),
}


def _l2(param: torch.Tensor, weight: float, squared: bool) -> torch.Tensor:
    return weight * (2 * param if squared else param / param.square().sum().sqrt())


# penalty -> gradient for one parameter, in closed form
GRADIENTS = {"l2": _l2}


def _example(block: str, name: str, index: int = 0) -> dict[str, Any]:
    return {"name": name} | EXAMPLES[block][name][index]


def _run(**blocks: Any) -> dict[str, Any]:
    frame = {
        "dynamics": {"name": "gradient_training"},
        "ensemble": {"seed": [3, 0, 7]},
        "train": {
            "steps": 200,
            "dtype": "float64",
            "log": {"every": 50, "first": 2},
            "snapshots": [0, 200],
        },
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
    "isolated": _run(
        task=SUMMED | {"split_seed": "member"},
        model=_example("model", "mlp") | {"output_scale": 1.0},
        loss=_example("loss", "mse", 1),
        dynamics=_example("dynamics", "isolated_first_layer"),
        observables=_CLASSES["observables"],
    ),
}
# those whose gradient is of a batch of more than one sample
MINIBATCHES = {"blog": 4, "notebook": 7, "mlp": 4}


def data_of(model: str) -> datasets.Dataset:
    """The data set of a task that the model can learn."""
    if model not in TASKS:
        raise LookupError(f"tests/conformance/examples.py: TASKS has no task for model {model}")
    return datasets.make([TASKS[model]])
