"""The members of a run on one device, in groups."""

import logging
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from grokatlas import registry
from grokatlas.engine import capture, members, memory, model_trial, span
from grokatlas.engine.batches import Batches
from grokatlas.engine.contracts import AxisValues, Params, Spec, TaskData
from grokatlas.engine.ensemble import generators, select, stack
from grokatlas.engine.group import Group, Members
from grokatlas.engine.network import member_model
from grokatlas.engine.programs import Programs
from grokatlas.engine.record import SavedGroup, optimizer_state
from grokatlas.engine.start import Start

DATA = ("train_inputs", "train_targets", "test_inputs", "test_targets")
LOG = logging.getLogger(__name__)  # a warning is a line on stderr, and so in the run's log
CACHE = 1 << 22  # bytes written by the forward passes of a group; beyond that, company costs time
FEW = 8  # samples by which a forward pass is measured


class Run:
    """All members of a run that still train.

    On a GPU they are one group, or several where its memory is short. On a CPU they are one group
    where a step is small, so that all pay for its calls together; where it is large, a group is as
    small as keeps its numbers in the processor's cache, down to a single member. Which group a
    member is in follows from the spec and, on a GPU, from its memory.

    Args:
        spec: the run's spec.
        data: the run's data set (`grokatlas.engine.dataset.Dataset`).
        device: where to train.
        start: of a run that starts from another's snapshot.

    Attributes:
        members: the value of every ensemble axis for each member.
        params: initial parameters ``[M, ...]``.
        constants: buffers of the members' models ``[M, ...]``.
        groups: of members that still train.
    """

    def __init__(
        self, spec: Spec, data: TaskData, device: torch.device, start: Start | None = None
    ) -> None:
        self.spec = spec
        self.start = start
        self.members = members.of(spec)
        arrays, coordinates = self._arrays(data)
        self.data = {key: self._tensor(array, device) for key, array in arrays.items()}
        self.extras = {key: self._tensor(value, device) for key, value in data.extras.items()}
        if "loss" in spec:  # some dynamics have none
            loss = registry.load("loss", spec["loss"]["name"])
            for part in ("train_targets", "test_targets") if hasattr(loss, "check") else ():
                loss.check(self.data[part])
        axes = [path for path in self.members[0] if path != "seed"]
        self.hyper = {  # in float64 as a plain number would be, whatever the run's dtype
            path: torch.tensor([m[path] for m in self.members], dtype=torch.float64, device=device)
            for path in axes
        }
        self.hyper |= self._own_rates(device)
        self._drawn = generators([member["seed"] for member in self.members])
        self._build_models(data, device, coordinates)
        self.groups = self._divide(data)
        if start is not None and start.goes_on:
            for group in self.groups:
                group.go_on(start)
        self._skeleton.to("meta")  # gives back the memory of parameters that are never used

    @property
    def indices(self) -> list[int]:
        """The indices of the members that still train."""
        return [index for group in self.groups for index in group.indices]

    @property
    def how(self) -> str:
        """The way in which groups that still train compute steps on a GPU; empty on a CPU."""
        if self.data["train_inputs"].device.type == "cpu":
            return ""
        return "; ".join(dict.fromkeys(group.how for group in self.groups))

    def move(self, steps: int) -> None:
        """Advance every member by some steps."""
        for group in self.groups:
            group.move(steps)

    def parameters(self) -> Params:
        """The parameters of every member that still trains, ``[M, ...]``."""
        parts = [group.parameters() for group in self.groups]
        if len(parts) == 1:
            return parts[0]
        return {key: torch.cat([part[key] for part in parts]) for key in parts[0]}

    def optimizer_state(self) -> Params:
        """The state of the optimizer of every member that still trains, as snapshots have it."""
        parts = [optimizer_state(group.state) for group in self.groups]
        return {key: torch.cat([part[key] for part in parts]) for key in parts[0]} if parts else {}

    def observe(self, params: Params, step: int) -> dict[str, np.ndarray]:
        """Every observable of every member that still trains at a step, as columns."""
        seen, first = [], 0
        for group in self.groups:
            own = slice(first, first + len(group.indices))
            seen.append(group.observe({key: value[own] for key, value in params.items()}, step))
            first = own.stop
        return {key: np.concatenate([columns[key] for columns in seen]) for key in seen[0]}

    def keep(self, indices: set[int]) -> None:
        """Go on with the members at these indices; the others are done."""
        for group in self.groups:
            own = [index for index in group.indices if index in indices]
            if own and own != group.indices:
                group.keep(own)
        self.groups = [group for group in self.groups if indices & set(group.indices)]

    def saved(self) -> dict[str, SavedGroup]:
        """All that a later process needs to go on: tensors in nested dicts."""
        return {str(group.indices[0]): group.saved() for group in self.groups}

    def restore(self, saved: dict[str, SavedGroup]) -> None:
        """Go on where `saved` was taken.

        Raises:
            RuntimeError: its members moved in other groups.
        """
        parts = {tuple(part["places"].tolist()): part for part in saved.values()}
        self.keep({index for indices in parts for index in indices})
        if {tuple(group.indices) for group in self.groups} != set(parts):
            problem = "its saved state has other groups of members than are made here"
            raise RuntimeError(f"{problem}; remove its folder .state to train from step 0")
        for group in self.groups:
            group.restore(parts[tuple(group.indices)])

    def _own_rates(self, device: torch.device) -> AxisValues:
        """The optimizer's rates as numbers of each member, where members have counted other steps.

        A kernel that moves all members at once has one number of steps for all. It is not used
        where a rate is a member's own: then each member counts by itself.
        """
        if self.start is None or not self.start.differs_in_age:
            return {}
        rates, count = registry.keywords(self.spec["optimizer"]), len(self.members)
        return {
            f"optimizer.{key}": torch.tensor([rate] * count, dtype=torch.float64, device=device)
            for key, rate in rates.items()
            if isinstance(rate, float)
        }

    def _tensor(self, array: np.ndarray, device: torch.device) -> Tensor:
        tensor = torch.from_numpy(np.ascontiguousarray(array))
        dtype = getattr(torch, self.spec["train"]["dtype"])
        return tensor.to(device=device, dtype=dtype if tensor.is_floating_point() else torch.int64)

    def _arrays(self, data: TaskData) -> tuple[dict[str, np.ndarray], span.Span | None]:
        """The data, and the span in whose coordinates they are, if the run trains in one."""
        arrays = {key: getattr(data, key) for key in DATA}
        if "coordinates" not in self.spec["train"]:
            return arrays, None
        inputs = {key: np.ascontiguousarray(arrays[key]) for key in DATA if key.endswith("inputs")}
        flat = {key: torch.from_numpy(part).double().flatten(1) for key, part in inputs.items()}
        coordinates = span.of(self.spec, torch.cat([*flat.values()]))
        if coordinates is not None:
            arrays |= {key: coordinates.inputs(part).numpy() for key, part in flat.items()}
        return arrays, coordinates

    def _build_models(
        self, data: TaskData, device: torch.device, coordinates: span.Span | None
    ) -> None:
        """Each member's model, drawn by the member's generator; parameters and buffers stacked."""
        models = []
        for member, generator in zip(self.members, self._drawn, strict=True):
            model = member_model(self.spec, data, member, generator)
            if coordinates is not None:  # before the next is drawn: it may be hundreds of megabytes
                weight = model.get_parameter("layers.0.weight")
                moved = coordinates.weights(weight.detach().double())
                model.get_submodule("layers.0").weight = nn.Parameter(moved.to(weight.dtype))
            models.append(model)
        named = [{k: v.detach() for k, v in model.named_parameters()} for model in models]
        buffers = [dict(model.named_buffers()) for model in models]
        self.params = {key: value.to(device) for key, value in stack(named).items()}
        if self.start is not None:
            self.params = self.start.parameters(self.params)
        self.constants = {key: value.to(device) for key, value in stack(buffers).items()}
        self._skeleton = models[0].to(device)

    def _divide(self, data: TaskData) -> list[Group]:
        """The groups, in order of indices."""
        batches = self._batches(data, list(range(len(self.members))))
        axis = 0 if data.per_member else None
        first = {path: values[0] for path, values in self.hyper.items()}
        programs = Programs(self.spec, self._skeleton, axis, batches.member_axis, first)
        self._programs, self._per_member = programs, data.per_member
        inputs = self.data["train_inputs"][0 if data.per_member else slice(None)]
        self._batch = batches.size
        name = self.spec["model"]["name"]
        model_trial.check(name, self._skeleton, inputs[:FEW], data.outputs)
        self._written = _written(self._skeleton, inputs[:FEW]).fresh // min(FEW, len(inputs))
        size = self._group_size(programs, inputs[: batches.size])
        everyone: Members = {
            "hyper": self.hyper,
            "constants": self.constants,
            "params": self.params,
        }
        groups, recorder = [], capture.recorder(self.data["train_inputs"].device)
        for start in range(0, len(self.members), size):
            indices = list(range(len(self.members)))[start : start + size]
            own = self._batches(data, indices)
            seeds = [self.members[index]["seed"] for index in indices]
            extras = select(self.extras, indices) if data.per_member else self.extras
            shared = (own.data, extras, own, data.outputs)
            own_members = select(everyone, indices)
            groups.append(Group(programs, indices, seeds, own_members, *shared, recorder))
        return groups

    def _group_size(self, programs: Programs, inputs: Tensor) -> int:
        """The number of members that move together: on a CPU by its cache, on a GPU by its memory.

        Raises:
            ValueError: not even one member fits the GPU.
        """
        total, everyone = _memory_of(self.data["train_inputs"].device), len(self.members)
        if total is None:
            if programs.advance is not None:
                return everyone
            return max(1, CACHE // max(_bytes_written(self._skeleton, inputs), 1))
        needs = self.needs()
        size = memory.group_size(needs, total)
        if size == 0:
            need = f"about {needs.bytes(1) / 1e9:.1f} GB, the GPU has {total / 1e9:.1f} GB"
            todo = "give it fewer members (`sweep` instead of `ensemble`), or train on the CPU"
            raise ValueError(f"its {everyone} members do not fit even one by one: {need}; {todo}")
        if size < everyone:
            need = f"all together need about {needs.bytes(everyone) / 1e9:.1f} GB"
            text = "%d of %d members move together on the GPU, which has %.1f GB: %s"
            LOG.warning(text, size, everyone, total / 1e9, need)
        return size

    def needs(self) -> memory.Needs:
        """The run's need of a GPU's memory; nothing of its size is computed for that."""
        parameters, train = self._bytes_of_member(), self.data["train_inputs"]
        first = (select(part, [0]) for part in (self.hyper, self.constants, self.params))
        state = tree_leaves(self._programs.init(*first))
        tests = self.data["test_inputs"]
        axis = 1 if self._per_member else 0
        samples = train.shape[axis] + tests.shape[axis]
        noise = self._programs.noise_numbers((self._batch, *train.shape[axis + 1 :]))
        return memory.Needs(
            members=len(self.members),
            parameters=parameters,
            kept=_bytes(state) / max(parameters, 1) - 1,
            batch=self._written * self._batch,
            looks=self._written * samples,
            data=_bytes([*self.data.values(), *self.extras.values()]),
            noise=noise * getattr(torch, self.spec["train"]["dtype"]).itemsize,
            stops="stop" in self.spec["train"],
        )

    def _bytes_of_member(self) -> int:
        return _bytes(list(self.params.values())) // len(self.members)

    def _batches(self, data: TaskData, indices: list[int]) -> Batches:
        own = select(self.data, indices) if data.per_member else self.data
        samples = data.train_inputs.shape[1 if data.per_member else 0]
        drawn = [self._drawn[index] for index in indices]
        return Batches(self.spec["train"], own, samples, data.per_member, drawn)


class _Written(TorchDispatchMode):
    """Counts the bytes of all results, and of those that are not views."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]  # torch's, which has no types
        self.total = 0
        self.fresh = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        leaves = [leaf for leaf in tree_leaves(result) if isinstance(leaf, Tensor)]
        self.total += _bytes(leaves)
        self.fresh += 0 if func.is_view else _bytes(leaves)
        return result


def _bytes_written(model: nn.Module, inputs: Tensor) -> int:
    """Bytes that a member's forward pass writes, and those of its parameters."""
    return _written(model, inputs).total + _bytes(list(model.parameters()))


def _written(model: nn.Module, inputs: Tensor) -> _Written:
    with torch.no_grad(), _Written() as written:
        model(inputs)
    return written


def _bytes(tensors: list[Tensor]) -> int:
    return sum(tensor.numel() * tensor.itemsize for tensor in tensors)


def _memory_of(device: torch.device) -> int | None:
    """Bytes of a GPU; None of a CPU."""
    if device.type == "cpu":
        return None
    return torch.cuda.get_device_properties(device).total_memory
