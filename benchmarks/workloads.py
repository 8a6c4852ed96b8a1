"""The workloads: the published settings of eight experiments, as specs of runs.

Nothing is logged or kept while timing, so a spec has neither observables nor snapshots.
"""

import itertools
import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks import equations, networks
from grokatlas.engine import dataset, members

SEEDS = (1, 4, 16, 64)  # numbers of members
ADAMW = {"name": "adamw", "lr": 1e-3, "beta1": 0.9, "eps": 1e-8, "decay": "decoupled"}
TRAINING = {"name": "gradient_training"}
GROKALIGN = {"name": "jacobian", "form": "norm", "projections": 1}
MNIST = {
    "name": "mnist",
    "classes": "all",
    "train_points": 1024,
    "test_points": 1024,
    "per_class": False,
    "pixels": "standardised",
    "targets": "labels",
}
MLP = {
    "name": "mlp",
    "bias": False,
    "init_law": "uniform_fan_in",
    "init_scale": 1.0,
    "output_scale": 1.0,
}
ADDITION = {
    "name": "modular_addition",
    "modulus": 97,
    "pairs": "ordered",
    "encoding": "tokens",
    "train_fraction": 0.4,
    "split_seed": 0,
}
RATES = (0.005, 0.01, 0.0275, 0.055, 0.0825, 0.1)
MATRIX_RATES = (0.0825, 0.1, 0.75, 0.825, 1.0, 1.5)
WEIGHTS = (1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1)


@dataclass(frozen=True)
class Workload:
    """One experiment to time.

    Attributes:
        title: what the report calls it.
        source: the paper's id and artefact.
        spec: of a run, without its ``ensemble``.
        axes: the ensemble of so many members.
        members: how many members to time.
        script: the peer "usual script", from the start of one member.
        careful: the peer "careful loop".
        quick: overrides of the task where the published size takes longer than a short look may.
        kind: ``table1`` and ``mlp`` have targets of their own.
    """

    title: str
    source: str
    spec: dict[str, Any]
    script: Callable[[Any], Any]
    careful: Callable[[Any], Any]
    axes: Callable[[int], dict[str, list]] = lambda count: {"seed": list(range(count))}
    members: tuple[int, ...] = SEEDS
    quick: dict[str, Any] | None = None
    kind: frozenset[str] = frozenset()

    def of(self, count: int, quick: bool = False, **train: Any) -> dict[str, Any]:
        """The spec of a run of so many members."""
        spec = self.spec | {"ensemble": self.axes(count)}
        if quick and self.quick:
            spec["task"] = spec["task"] | self.quick
        return spec | {"train": spec["train"] | train}


def _train(dtype: str, **more: Any) -> dict[str, Any]:
    return {"steps": 10**9, "dtype": dtype, "log": {"every": 10**9, "first": 0}} | more


def _sweep(rates: tuple, rate: str, weight: str) -> Callable[[int], dict[str, list]]:
    """The grid of rates and weights, or its first point for one member."""

    def axes(count: int) -> dict[str, list]:
        points = rates[:1] if count == 1 else rates
        return {rate: list(points), weight: list(WEIGHTS[: count // len(points)]), "seed": [1]}

    return axes


_TABLE1 = {
    "task": MNIST,
    "model": MLP | {"width": 196, "hidden_layers": 3, "init_scale": 8.0},
    "loss": {"name": "cross_entropy"},
    "optimizer": ADAMW | {"beta2": 0.999, "weight_decay": 0.01},
    "dynamics": TRAINING,
    "train": _train("float64", batch_size=256, shuffle=False),
}

WORKLOADS = {
    "mnist": Workload(
        "MNIST MLP, baseline",
        "grokalign table1",
        _TABLE1,
        networks.script,
        networks.careful,
        kind=frozenset({"table1", "mlp"}),
    ),
    "mnist_grokalign": Workload(
        "MNIST MLP, GrokAlign",
        "grokalign table1",
        _TABLE1 | {"penalties": [GROKALIGN | {"weight": 1e-3}]},
        networks.script,
        networks.careful,
        kind=frozenset({"table1", "mlp"}),
    ),
    "addition_nuclear": Workload(
        "modular addition MLP, nuclear penalty",
        "beyond_l2 fig3",
        {
            "task": ADDITION,
            "model": {
                "name": "bilinear_encoder",
                "embedding": "shared",
                "composition": "matrix_product",
                "side": 8,
                "width": 64,
                "bias": True,
            },
            "loss": {"name": "cross_entropy"},
            "optimizer": {"name": "adam", "lr": 1e-2, "beta1": 0.9, "beta2": 0.999, "eps": 1e-8},
            "penalties": [{"name": "nuclear", "weight": 1e-4}],
            "dynamics": TRAINING,
            "train": _train("float32"),
        },
        networks.script,
        networks.careful,
        kind=frozenset({"mlp"}),
    ),
    "transformer": Workload(
        "transformer, addition modulo 113",
        "grokalign fig8",
        {
            "task": ADDITION | {"modulus": 113, "encoding": "tokens_equals", "train_fraction": 0.3},
            "model": {
                "name": "transformer",
                "dimension": 128,
                "heads": 4,
                "head_dimension": 32,
                "width": 512,
                "embedding": "learned",
                "unembedding": "learned",
            },
            "loss": {"name": "cross_entropy"},
            "optimizer": ADAMW | {"beta2": 0.98, "weight_decay": 1.0},
            "dynamics": TRAINING,
            "train": _train("float32"),
        },
        networks.script,
        networks.careful,
    ),
    "xor": Workload(
        "XOR clusters, p = 40,000, GrokAlign",
        "grokalign fig4",
        {
            "task": {
                "name": "xor_clusters",
                "features": 40_000,
                "train_points": 400,
                "test_points": 400,
                "amplitude": 0.05,
                "data_seed": 0,
            },
            "model": MLP | {"width": 2048, "hidden_layers": 1},
            "loss": {"name": "mse", "reduction": "mean", "half": False},
            "optimizer": {
                "name": "sgd",
                "lr": 0.1,
                "momentum": 0.0,
                "weight_decay": 0.1,
                "nesterov": False,
            },
            "penalties": [GROKALIGN | {"weight": 1.0}],
            "dynamics": TRAINING,
            "train": _train("float64"),
        },
        networks.script,
        networks.careful,
        quick={"features": 1_000},
    ),
    "isolated": Workload(
        "isolated first-layer dynamics, p = 37",
        "geometry fig4",
        {
            "task": ADDITION
            | {
                "modulus": 37,
                "pairs": "unordered",
                "encoding": "summed",
                "train_fraction": 0.7,
                "split_seed": "member",
            },
            "model": MLP | {"width": 512, "hidden_layers": 1, "init_law": "normal_fan_in"},
            "loss": {"name": "mse", "reduction": "sample_mean", "half": False},
            "dynamics": {"name": "isolated_first_layer", "rate": 1e-3},
            "train": _train("float64"),
        },
        equations.isolated_as_printed,
        equations.isolated_careful,
    ),
    "sparse_recovery": Workload(
        "sparse recovery, 6 rates x 6 weights",
        "beyond_l2 fig6",
        {
            "task": {
                "name": "sparse_recovery",
                "features": 100,
                "nonzeros": 5,
                "train_points": 30,
                "signal_to_noise": None,
                "instance_seed": 1,
            },
            "model": {"name": "linear", "init": 1e-6, "negative_slope": 1.0},
            "loss": {"name": "mse", "reduction": "sum", "half": True},
            "dynamics": {"name": "subgradient_descent", "l2": 0.0},
            "train": _train("float64"),
        },
        equations.sparse_as_written,
        equations.sparse_careful,
        axes=_sweep(RATES, "dynamics.rate", "dynamics.l1"),
        members=(1, 36),
    ),
    "matrix_completion": Workload(
        "matrix completion, 6 rates x 6 weights",
        "beyond_l2 fig6_low_rank",
        {
            "task": {
                "name": "matrix_completion",
                "rows": 10,
                "columns": 10,
                "rank": 2,
                "truth": "normalised",
                "train_points": 80,
                "leverage_share": 0.0,
                "test_entries": "unobserved",
                "instance_seed": 0,
            },
            "model": {"name": "matrix", "init_scale": 1e-6},
            "loss": {"name": "mse", "reduction": "sum", "half": True},
            "dynamics": {"name": "nuclear_subgradient_descent"},
            "train": _train("float64"),
        },
        equations.matrix_as_written,
        equations.matrix_careful,
        axes=_sweep(MATRIX_RATES, "dynamics.rate", "dynamics.weight"),
        members=(1, 36),
    ),
}


def data_of(spec: dict[str, Any]) -> tuple[dataset.Dataset, bool]:
    """The data of a run, and True if they are the experiment's own.

    Images are read only from the folder of ``GROKATLAS_DATA``; without it random pixels of the same
    shape stand for them, as a step's time does not depend on their values.
    """
    if spec["task"]["name"] == "mnist" and not os.environ.get("GROKATLAS_DATA"):
        return _pixels(spec["task"]), False
    return dataset.make(members.tasks(spec)), True


def _pixels(task: dict[str, Any]) -> dataset.Dataset:
    random = np.random.RandomState(0)
    made = {}
    for part in ("train", "test"):
        points = task[f"{part}_points"]
        pixels = random.randint(0, 256, (points, 784)) / 255
        made[f"{part}_inputs"] = (pixels - 0.1307) / 0.3081
        made[f"{part}_targets"] = random.randint(0, 10, points)
    return dataset.Dataset(**made, outputs=10)


def bytes_needed(spec: dict[str, Any], parameters: int) -> int:
    """An estimate of what a run holds at its peak.

    Args:
        spec: of the run.
        parameters: numbers that one member's parameters have.

    Parameters, their gradient, both moments, and a new copy of each while a step is taken: eight
    copies for each member; data are counted in these.
    """
    itemsize = 8 if spec["train"]["dtype"] == "float64" else 4
    count = len(list(itertools.product(*spec["ensemble"].values())))
    return 8 * count * parameters * itemsize
