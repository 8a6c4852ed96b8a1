"""The training loop: one page, shared by every experiment.

    state = dynamics.init(params)
    for step in range(steps + 1):
        observe and keep, where the schedule says so
        state = dynamics.update(state, batch)

All members advance together. The loop knows no paper, no file and no plan: it takes a spec and
arrays, and returns a history and snapshots.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import torch
from torch import Tensor

from grokatlas import components, members
from grokatlas.ensemble import Mapped, Tree, batch_indices, generators, stack
from grokatlas.schedule import log_steps


@dataclass
class Result:
    """What a run leaves.

    Attributes:
        history: columns ``member``, ``step`` and one for every observable, equal in length.
        snapshots: ``"<step>/<parameter>"`` -> array with a leading axis ``M``.
    """

    history: dict[str, np.ndarray]
    snapshots: dict[str, np.ndarray]


class View:
    """What an observable sees of one member at one step.

    Attributes:
        params: parameters by name.
        model: the member's network, ``model(params, inputs) -> outputs [N, C]``.
        loss: the member's loss, ``loss(outputs, targets) -> scalar``; None without a loss block.
        data: ``train_inputs``, ``train_targets``, ``test_inputs``, ``test_targets``.
    """

    def __init__(self, params: Tree, model: Any, loss: Any, data: dict[str, Tensor]) -> None:
        self.params = params
        self.model = model
        self.loss = loss
        self.data = data

    @cached_property
    def train_outputs(self) -> Tensor:
        """Outputs on the training set, computed once for all observables."""
        return self.model(self.params, self.data["train_inputs"])

    @cached_property
    def test_outputs(self) -> Tensor:
        """Outputs on the test set, computed once for all observables."""
        return self.model(self.params, self.data["test_inputs"])


class Run:
    """One run on one device: the members' state and the mapped programs that move and observe it.

    Args:
        spec: the run's spec.
        data: the run's data set (`grokatlas.datasets.Dataset`).
        device: where to train.
    """

    def __init__(self, spec: dict[str, Any], data: Any, device: torch.device) -> None:
        self.spec = spec
        self.dtype = getattr(torch, spec["train"]["dtype"])
        self.members = members.of(spec)
        self.generators = generators([member["seed"] for member in self.members])
        self.data = {
            key: self._tensor(getattr(data, key), device)
            for key in ("train_inputs", "train_targets", "test_inputs", "test_targets")
        }
        self.shared = 0 if data.per_member else None
        self.samples = data.train_inputs.shape[1 if data.per_member else 0]
        self.hyper = {
            path: torch.tensor([m[path] for m in self.members], dtype=self.dtype, device=device)
            for path in spec["ensemble"]
            if path != "seed"
        }
        self._build_models(data, device)
        dims = (0, 0, 0, self.shared, self.shared)
        params = self._mapped(lambda d, p, batch: d.init(p), dims)
        train = (self.data["train_inputs"], self.data["train_targets"])
        self.state = params(self.hyper, self.constants, self.params, *train)
        batch_dims = (0, 0, 0, *([self.shared] * 2 if not self._minibatch else [0, 0]))
        self._update = self._mapped(lambda d, s, batch: d.update(s, batch), batch_dims)
        self._parameters = self._mapped(lambda d, s, batch: d.parameters(s, batch), dims)
        self._observe = Mapped(self._observe_member, (0, 0, 0, self.shared))
        self._batches = self._epochs(device)

    @property
    def _minibatch(self) -> bool:
        return self.spec["train"].get("batch_size", self.samples) < self.samples

    def update(self) -> None:
        """Advance every member by one step."""
        self.state = self._update(self.hyper, self.constants, self.state, *next(self._batches))

    def parameters(self) -> dict[str, Tensor]:
        """The parameters of every member, ``[M, ...]``."""
        train = (self.data["train_inputs"], self.data["train_targets"])
        return self._parameters(self.hyper, self.constants, self.state, *train)

    def observe(self, params: dict[str, Tensor]) -> dict[str, np.ndarray]:
        """Every observable of every member, as columns of length ``M``."""
        seen = self._observe(self.hyper, self.constants, params, self.data)
        columns = {}
        for name, value in seen.items():
            flat = value.detach().reshape(len(self.members), -1).cpu().numpy()
            names = [name] if value.ndim == 1 else [f"{name}.{k}" for k in range(flat.shape[1])]
            columns |= {key: flat[:, k] for k, key in enumerate(names)}
        return columns

    def _tensor(self, array: np.ndarray, device: torch.device) -> Tensor:
        tensor = torch.from_numpy(np.ascontiguousarray(array))
        kind = self.dtype if tensor.is_floating_point() else torch.int64
        return tensor.to(device=device, dtype=kind)

    def _build_models(self, data: Any, device: torch.device) -> None:
        """Each member's model, drawn by the member's generator; parameters and buffers stacked."""
        block = self.spec["model"]
        models = []
        for member, generator in zip(self.members, self.generators, strict=True):
            keywords = _keywords("model", block, member)
            build = components.load("model", block["name"]).build
            models.append(build(data=data, generator=generator, **keywords).to(self.dtype))
        named = [{k: v.detach() for k, v in model.named_parameters()} for model in models]
        buffers = [dict(model.named_buffers()) for model in models]
        self.params = {key: value.to(device) for key, value in stack(named).items()}
        self.constants = {key: value.to(device) for key, value in stack(buffers).items()}
        self._skeleton = models[0].to(device)

    def _network(self, constants: Tree) -> Callable[[Tree, Tensor], Tensor]:
        skeleton = self._skeleton

        def network(params: Tree, inputs: Tensor) -> Tensor:
            return torch.func.functional_call(skeleton, (params, constants), (inputs,))

        return network

    def _dynamics(self, hyper: Tree, constants: Tree) -> Any:
        """The dynamics of one member, built from the spec with the member's own numbers."""
        blocks: dict[str, Any] = {"model": self._network(constants)}
        for block in ("loss", "optimizer"):
            if block in self.spec:
                blocks[block] = self._part(block, block, self.spec[block], hyper)
        for block in ("penalties", "gradients", "inputs"):
            blocks[block] = [
                self._part(block, f"{block}.{index}", entry, hyper)
                for index, entry in enumerate(self.spec.get(block, []))
            ]
        entry = self.spec["dynamics"]
        build = components.load("dynamics", entry["name"]).build
        used = build.__code__.co_varnames[: build.__code__.co_argcount]
        keywords = _keywords("dynamics", entry, hyper)
        return build(*(blocks[name] for name in used), **keywords)

    def _part(self, block: str, path: str, entry: dict[str, Any], hyper: Tree) -> Any:
        return components.load(block, entry["name"]).build(**_keywords(path, entry, hyper))

    def _mapped(self, method: Callable[..., Tree], dims: tuple[int | None, ...]) -> Mapped:
        def program(hyper: Tree, constants: Tree, state: Tree, x: Tensor, y: Tensor) -> Tree:
            return method(self._dynamics(hyper, constants), state, (x, y))

        return Mapped(program, dims)

    def _observe_member(self, hyper: Tree, constants: Tree, params: Tree, data: Tree) -> Tree:
        loss = self._part("loss", "loss", self.spec["loss"], hyper) if "loss" in self.spec else None
        view = View(params, self._network(constants), loss, data)
        seen: Tree = {}
        for entry in self.spec.get("observables", []):
            seen |= self._part("observables", "observables", entry, {})(view)
        return seen

    def _epochs(self, device: torch.device) -> Iterator[tuple[Tensor, Tensor]]:
        """Batches without end: the full batch, or each member's own shuffled minibatches."""
        inputs, targets = self.data["train_inputs"], self.data["train_targets"]
        if not self._minibatch:
            while True:
                yield inputs, targets
        size = self.spec["train"]["batch_size"]
        while True:
            epochs = [batch_indices(g, self.samples, size) for g in self.generators]
            for indices in zip(*epochs, strict=True):
                index = torch.stack(indices).to(device)
                yield self._select(inputs, index), self._select(targets, index)

    def _select(self, values: Tensor, index: Tensor) -> Tensor:
        if self.shared is None:
            return values[index]
        return values[torch.arange(len(index), device=index.device)[:, None], index]


def train(
    spec: dict[str, Any],
    data: Any,
    device: torch.device,
    progress: Callable[[int, int], None] = lambda step, steps: None,
) -> Result:
    """Train every member of a run.

    Args:
        spec: the run's spec.
        data: its data set.
        device: where to train.
        progress: called with the step and the number of steps after each log.
    """
    run = Run(spec, data, device)
    steps = spec["train"]["steps"]
    logs = log_steps(spec["train"]["log"], steps)
    history = History(logs, len(run.members))
    logged, kept = set(logs), set(spec["train"]["snapshots"])
    snapshots: dict[str, np.ndarray] = {}
    for step in range(steps + 1):
        if step in logged or step in kept:
            params = run.parameters()
            if step in logged:
                history.add(run.observe(params))
                progress(step, steps)
            if step in kept:
                arrays = {key: value.detach().cpu().numpy() for key, value in params.items()}
                snapshots |= {f"{step:010d}/{key}": a.copy() for key, a in arrays.items()}
        if step < steps:
            run.update()
    return Result(history.columns(), snapshots)


class History:
    """What was logged, in arrays of their final size, so that memory does not grow with the run.

    Args:
        steps: every step that will be logged, in order.
        members: number of members ``M``.
    """

    def __init__(self, steps: list[int], members: int) -> None:
        self._steps = steps
        self._members = members
        self._rows = 0
        self._logged: dict[str, np.ndarray] = {}

    def add(self, seen: dict[str, np.ndarray]) -> None:
        """Log the next step: a value of each column for each member."""
        for name, values in seen.items():
            if name not in self._logged:
                shape = (len(self._steps), self._members)
                self._logged[name] = np.empty(shape, dtype=values.dtype)
            self._logged[name][self._rows] = values
        self._rows += 1

    def columns(self) -> dict[str, np.ndarray]:
        """``member``, ``step`` and every logged column; members run fastest."""
        member = np.tile(np.arange(self._members), len(self._steps))
        step = np.repeat(self._steps, self._members)
        flat = {name: values.ravel() for name, values in self._logged.items()}
        return {"member": member, "step": step, **flat}


def _keywords(path: str, entry: dict[str, Any], hyper: Tree) -> dict[str, Any]:
    """A component's keywords, with those that an ensemble axis provides for the member."""
    keywords = {key: value for key, value in entry.items() if key != "name"}
    prefix = f"{path}."
    return keywords | {k.removeprefix(prefix): v for k, v in hyper.items() if k.startswith(prefix)}
