"""The networks of a finished run, rebuilt from its spec and snapshots."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from grokatlas.engine import members
from grokatlas.engine.contracts import Data, FinishedRun, Member, Params, Spec, TaskData
from grokatlas.engine.ensemble import generators
from grokatlas.engine.network import Network, member_model

PARTS = ("train_inputs", "train_targets", "test_inputs", "test_targets")


@dataclass(frozen=True)
class RebuiltMember:
    """One member at one snapshot, on the CPU, in the run's precision.

    Attributes:
        member: its index in the run.
        seed: its seed.
        step: of the snapshot.
        network: ``network(params, inputs) -> outputs [N, C]``.
        params: parameters by name.
        data: ``train_inputs``, ``train_targets``, ``test_inputs``, ``test_targets``.
    """

    member: int
    seed: int
    step: int
    network: Network
    params: Params
    data: Data

    def outputs(self, inputs: Tensor) -> Tensor:
        """Outputs ``[N, C]`` of inputs ``[N, ...]``."""
        return self.network(self.params, inputs)


def restored(run: FinishedRun) -> Iterator[RebuiltMember]:
    """Every member of a finished run at every snapshot, in order of steps, then of members.

    A member's model is built again, by a generator of the member's seed: what is drawn and never
    trained (buffers, such as a fixed embedding) is the same as in training.

    Args:
        run: with ``spec``, ``snapshots`` and ``data``, as a measure gets it.
    """
    spec, data = run.spec, run.data
    dtype = getattr(torch, spec["train"]["dtype"])
    every = members.of(spec)
    seeds = [member["seed"] for member in every]
    networks = [
        network(spec, data, member, generator)
        for member, generator in zip(every, generators(seeds), strict=True)
    ]
    views = [_data(data, index, dtype) for index in range(len(every) if data.per_member else 1)]
    for step, arrays in sorted(run.snapshots.items()):
        for index, seed in enumerate(seeds):
            params = {key: torch.tensor(array[index]) for key, array in arrays.items()}
            view = views[index if data.per_member else 0]
            yield RebuiltMember(index, seed, step, networks[index], params, view)


def network(spec: Spec, data: TaskData, member: Member, generator: torch.Generator) -> Network:
    """A member's model with its own numbers and buffers, on the CPU, in the run's precision.

    Args:
        spec: the run's.
        data: the run's data set.
        member: the value of every ensemble axis (`members.of`).
        generator: fresh, of the member's seed.
    """
    model = member_model(spec, data, member, generator)
    return Network(model, dict(model.named_buffers()))


def _data(data: TaskData, index: int, dtype: torch.dtype) -> Data:
    tensors = {}
    for part in PARTS:
        array = getattr(data, part)
        tensor = torch.tensor(np.ascontiguousarray(array[index] if data.per_member else array))
        tensors[part] = tensor.to(dtype if tensor.is_floating_point() else torch.int64)
    return tensors
