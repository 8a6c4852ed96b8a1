"""Blocks of a spec as many tests have them, job files, and runs of a spec on the CPU."""

from collections.abc import Iterable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pandas as pd
import torch

from grokatlas.code import code_digest
from grokatlas.engine import dataset, members, training
from grokatlas.engine.record import Record
from grokatlas.engine.run import Run
from grokatlas.results import files, hashing
from grokatlas.rules import train

Block = dict[str, Any]


def addition(modulus: int = 5, encoding: str = "one_hot", **changes: Any) -> Block:
    """The task of addition: 60 % of the ordered pairs, one split for all members."""
    task = {"name": "modular_addition", "modulus": modulus, "encoding": encoding}
    return task | {"pairs": "ordered", "train_fraction": 0.6, "split_seed": 0} | changes


def mlp(width: int, hidden_layers: int = 1, **changes: Any) -> Block:
    """A network with biases, as PyTorch draws it."""
    model = {"name": "mlp", "width": width, "hidden_layers": hidden_layers, "bias": True}
    scales = {"init_law": "uniform_fan_in", "init_scale": 1.0, "output_scale": 1.0}
    return model | scales | changes


def schedule(
    steps: int, every: int = 1, snapshots: list[int] | None = None, first: int = 0, **rest: Any
) -> Block:
    """The block `train`, in float64: a log at every so many steps, and no snapshots."""
    log = {"every": every, "first": first}
    return {"steps": steps, "dtype": "float64", "log": log, "snapshots": snapshots or []} | rest


def xor_spec(
    count: int = 3,
    features: int = 2000,
    points: int = 400,
    width: int = 1024,
    layers: int = 1,
    dtype: str = "float64",
    **blocks: Any,
) -> Block:
    """A run of members on XOR clusters, with other blocks in place of its own."""
    points_of_both = {"train_points": points, "test_points": points}
    optimizer = {"name": "sgd", "lr": 0.1, "momentum": 0.0, "weight_decay": 0.1, "nesterov": False}
    return {
        "task": {"name": "xor_clusters", "amplitude": 0.05, "data_seed": 0, "features": features}
        | points_of_both,
        "model": mlp(width, layers, bias=False),
        "loss": {"name": "mse", "reduction": "mean", "half": False},
        "optimizer": optimizer,
        "dynamics": {"name": "gradient_training"},
        "observables": [{"name": "losses"}],
        "train": schedule(4, 2) | {"dtype": dtype},
        "ensemble": {"seed": list(range(count))},
    } | blocks


def job_file(
    path: Path, kind: str, spec: Block, modules: Iterable[str] = (), inputs: Iterable[str] = ()
) -> Path:
    """Write a job file of code that these modules reach, as a plan writes it, and return it."""
    code = code_digest.code([*modules])
    if kind == "run" and "task" in spec:
        digests = train.run_digests(spec, code)
    else:
        digests = hashing.of_job(kind, spec, code, [])
    job = {"kind": kind, "spec": spec, "code": code, "digest": digests.today}
    files.write_json(path, files.sealed(job | {"inputs": [*inputs]}))
    return path


def data_of(spec: Block) -> dataset.Dataset:
    """The data of a run's members."""
    return dataset.make(members.tasks(spec))


def begun(spec: Block) -> Run:
    """A run before its first step."""
    return Run(spec, data_of(spec), torch.device("cpu"))


def trained(spec: Block, **arguments: Any) -> Record:
    """What a run logs and keeps; arguments as of `training.train`."""
    return training.train(spec, data_of(spec), torch.device("cpu"), **arguments)


def finished(spec: Block, **more: Any) -> SimpleNamespace:
    """A finished run, as a measure sees it."""
    record = trained(spec)
    snapshots: dict[int, dict[str, Any]] = {}
    for key, array in record.snapshots.items():
        step, _, parameter = key.partition("/")
        snapshots.setdefault(int(step), {})[parameter] = array
    manifest = {
        "device": {"type": "cpu", "threads": 1},
        "host": {"cpu": "some"},
        "members": len(members.of(spec)),
        "train_seconds": 36.0,
        "updates": {"count": 4, "seconds": 2.0},
        "peak_memory_mb": 300.0,
    }
    history = pd.DataFrame(record.history)
    return SimpleNamespace(
        spec=spec, history=history, snapshots=snapshots, data=data_of(spec), manifest=manifest
    )
