"""The members' state, and the mapped programs that move and observe it."""

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.utils._pytree import tree_map

from grokatlas import components, members
from grokatlas.batches import Batches
from grokatlas.ensemble import Mapped, Tree, generators, noise_generators, select, stack
from grokatlas.network import Network
from grokatlas.view import View

STRIDE = 20_000  # steps of one call of a dynamics that advances by many
DATA = ("train_inputs", "train_targets", "test_inputs", "test_targets")


class Run:
    """The active members of one run on one device.

    Args:
        spec: the run's spec.
        data: the run's data set (`grokatlas.datasets.Dataset`).
        device: where to train.

    Attributes:
        places: the place in the run's list of members of each that still trains.
        state: of the dynamics; every tensor has a leading axis ``M`` of active members.
    """

    def __init__(self, spec: dict[str, Any], data: Any, device: torch.device) -> None:
        self.spec = spec
        self.dtype = getattr(torch, spec["train"]["dtype"])
        self.members = members.of(spec)
        self.places = list(range(len(self.members)))
        seeds = [member["seed"] for member in self.members]
        drawn = generators(seeds)
        self.shared = 0 if data.per_member else None
        self.data = {key: self._tensor(getattr(data, key), device) for key in DATA}
        self.extras = {key: self._tensor(value, device) for key, value in data.extras.items()}
        self.hyper = {  # in float64 as a plain number would be, whatever the run's dtype
            path: torch.tensor([m[path] for m in self.members], dtype=torch.float64, device=device)
            for path in spec["ensemble"]
            if path != "seed"
        }
        self._build_models(data, drawn, device)
        samples = data.train_inputs.shape[1 if data.per_member else 0]
        self.batches = Batches(spec["train"], self.data, samples, data.per_member, drawn)
        self._outputs = data.outputs
        self._noisy = {path: part.noise_shape for path, part in self._parts() if _noisy(part)}
        self.noise = {path: noise_generators(seeds, path, device) for path in self._noisy}
        self._map()
        dynamics = components.load("dynamics", spec["dynamics"]["name"])
        self._advance = getattr(dynamics, "advance", None)
        state = self._init(self.hyper, self.constants, self.params, *self._train())
        self.state = tree_map(torch.clone, state)  # a step overwrites it

    @property
    def stride(self) -> int:
        """The most steps that one `move` should take, so that a run can be saved in between."""
        return 1 if self._advance is None else STRIDE

    def move(self, steps: int) -> None:
        """Advance every active member by some steps."""
        if self._advance is None:
            for _ in range(steps):
                self._step()
            return
        keywords = _keywords("dynamics", self.spec["dynamics"], self.hyper)
        self.state = self._advance(self.state, self._train(), steps, **keywords)

    def _step(self) -> None:
        if self._begin_epoch is not None and self.batches.begins_epoch:
            self.state = self._begin_epoch(self.hyper, self.constants, self.state, *self._train())
        batch = self.batches.next()
        noise = self._draw(batch[0])
        self.state = self._update(self.hyper, self.constants, self.state, *batch, noise)

    def parameters(self) -> dict[str, Tensor]:
        """The parameters of every active member, ``[M, ...]``."""
        return self._parameters(self.hyper, self.constants, self.state, *self._train())

    def observe(self, params: dict[str, Tensor], step: int) -> dict[str, np.ndarray]:
        """Every observable of every active member at a step, as columns of length ``M``."""
        taken = torch.tensor(step, dtype=torch.float64, device=self.data["train_inputs"].device)
        given = (self.hyper, self.constants, params, self.data, self.extras, taken)
        seen = self._observe(*given)
        columns = {}
        for name, value in seen.items():
            flat = value.detach().reshape(len(self.places), -1).cpu().numpy()
            names = [name] if value.ndim == 1 else [f"{name}.{k}" for k in range(flat.shape[1])]
            columns |= {key: flat[:, k] for k, key in enumerate(names)}
        return columns

    def keep(self, places: list[int]) -> None:
        """Go on with the active members at these places of the active ones; the others are done."""
        self.places = [self.places[place] for place in places]
        self.state = select(self.state, places)
        self.hyper = select(self.hyper, places)
        self.constants = select(self.constants, places)
        if self.shared == 0:
            self.data = select(self.data, places)
            self.extras = select(self.extras, places)
        self.noise = {path: [g[place] for place in places] for path, g in self.noise.items()}
        self.batches.keep(self.data, places)

    def saved(self) -> Tree:
        """All that a later process needs to go on: tensors in nested dicts."""
        noise = {
            path: torch.stack([generator.get_state() for generator in streams])
            for path, streams in self.noise.items()
        }
        places = torch.tensor(self.places)
        batches = self.batches.state()
        return {"state": self.state, "noise": noise, "batches": batches, "places": places}

    def restore(self, saved: Tree) -> None:
        """Go on where `saved` was taken."""
        self.keep([int(place) for place in saved["places"]])
        device = self.data["train_inputs"].device
        self.state = _filled(self.state, saved["state"], device)
        self.batches.restore(saved["batches"])
        for path, streams in self.noise.items():
            for generator, state in zip(streams, saved["noise"][path], strict=True):
                generator.set_state(state.clone())

    def _train(self) -> tuple[Tensor, Tensor]:
        return self.data["train_inputs"], self.data["train_targets"]

    def _tensor(self, array: np.ndarray, device: torch.device) -> Tensor:
        tensor = torch.from_numpy(np.ascontiguousarray(array))
        kind = self.dtype if tensor.is_floating_point() else torch.int64
        return tensor.to(device=device, dtype=kind)

    def _build_models(self, data: Any, drawn: list[torch.Generator], device: torch.device) -> None:
        """Each member's model, drawn by the member's generator; parameters and buffers stacked."""
        block = self.spec["model"]
        models = []
        for member, generator in zip(self.members, drawn, strict=True):
            keywords = _keywords("model", block, member)
            build = components.load("model", block["name"]).build
            models.append(build(data=data, generator=generator, **keywords).to(self.dtype))
        named = [{k: v.detach() for k, v in model.named_parameters()} for model in models]
        buffers = [dict(model.named_buffers()) for model in models]
        self.params = {key: value.to(device) for key, value in stack(named).items()}
        self.constants = {key: value.to(device) for key, value in stack(buffers).items()}
        self._skeleton = models[0].to(device)

    def _map(self) -> None:
        """Map the dynamics and the observables over members."""
        train = (self.shared, self.shared)
        batch = (self.batches.member_axis,) * 2
        self._init = self._mapped(lambda d, p, batch: d.init(p), train)
        self._update = self._mapped(lambda d, s, batch: d.update(s, batch), (*batch, 0), given=2)
        self._parameters = self._mapped(lambda d, s, batch: d.parameters(s, batch), train)
        self._begin_epoch = None
        if self.spec.get("inputs"):
            self._begin_epoch = self._mapped(lambda d, s, batch: d.begin_epoch(s, batch), train)
        self._observe = Mapped(self._observe_member, (0, 0, 0, self.shared, self.shared, None))

    def _mapped(
        self, method: Callable[..., Tree], dims: tuple[int | None, ...], given: int | None = None
    ) -> Mapped:
        def program(
            hyper: Tree, constants: Tree, state: Tree, x: Tensor, y: Tensor, noise: Tree
        ) -> Tree:
            return method(self._dynamics(hyper, constants, noise), state, (x, y))

        def silent(hyper: Tree, constants: Tree, state: Tree, x: Tensor, y: Tensor) -> Tree:
            return program(hyper, constants, state, x, y, {})

        return Mapped(program if len(dims) == 3 else silent, (0, 0, 0, *dims), given)

    def _dynamics(self, hyper: Tree, constants: Tree, noise: Tree) -> Any:
        """The dynamics of one member, built from the spec with the member's own numbers."""
        blocks: dict[str, Any] = {"model": Network(self._skeleton, constants)}
        for block in ("loss", "optimizer"):
            if block in self.spec:
                blocks[block] = _part(block, block, self.spec[block], hyper)
        if "loss" in blocks:
            blocks["loss"] = _on_network(blocks["loss"])
        for block in ("penalties", "gradients", "inputs"):
            blocks[block] = [
                _with_noise(_part(block, path, entry, hyper), path, noise)
                for path, entry in self._entries(block)
            ]
        entry = self.spec["dynamics"]
        build = components.load("dynamics", entry["name"]).build
        used = build.__code__.co_varnames[: build.__code__.co_argcount]
        keywords = _keywords("dynamics", entry, hyper)
        return build(*(blocks[name] for name in used), **keywords)

    def _entries(self, block: str) -> list[tuple[str, dict[str, Any]]]:
        entries = self.spec.get(block, [])
        return [(f"{block}.{index}", entry) for index, entry in enumerate(entries)]

    def _parts(self) -> list[tuple[str, Any]]:
        """The parts that may ask for noise, with the first member's numbers."""
        first = {path: values[0] for path, values in self.hyper.items()}
        blocks = ("penalties", "inputs")
        entries = [(block, *entry) for block in blocks for entry in self._entries(block)]
        return [(path, _part(block, path, entry, first)) for block, path, entry in entries]

    def _draw(self, inputs: Tensor) -> Tree:
        """Standard normal noise for every part that asks for it, ``[M, ...]``."""
        shape = inputs.shape[1:] if self.batches.member_axis == 0 else inputs.shape
        noise = {}
        for path, noise_shape in self._noisy.items():
            size = noise_shape(tuple(shape), (shape[0], self._outputs))
            draws = [
                torch.randn(size, generator=g, dtype=self.dtype, device=inputs.device)
                for g in self.noise[path]
            ]
            noise[path] = torch.stack(draws)
        return noise

    def _observe_member(
        self, hyper: Tree, constants: Tree, params: Tree, data: Tree, extras: Tree, step: Tensor
    ) -> Tree:
        spec = self.spec
        loss = _on_network(_part("loss", "loss", spec["loss"], hyper)) if "loss" in spec else None
        penalties = [_part("penalties", *entry, hyper) for entry in self._entries("penalties")]
        dynamics = self._dynamics(hyper, constants, {})
        if hasattr(dynamics, "penalty"):
            penalties.append(dynamics.penalty)
        network = Network(self._skeleton, constants)
        view = View(params, network, loss, penalties, data, extras, dynamics, step)
        seen: Tree = {}
        for path, entry in self._entries("observables"):
            seen |= _part("observables", path, entry, {})(view)
        return seen


def _part(block: str, path: str, entry: dict[str, Any], hyper: Tree) -> Any:
    return components.load(block, entry["name"]).build(**_keywords(path, entry, hyper))


def _filled(tree: Any, saved: Any, device: torch.device) -> Any:
    """`tree` with the tensors of `saved`, which has no entries for empty branches."""
    if not isinstance(tree, dict):
        return saved.to(device)
    return {key: _filled(value, saved.get(key, {}), device) for key, value in tree.items()}


def _noisy(part: Any) -> bool:
    return hasattr(part, "noise_shape")


def _with_noise(part: Any, path: str, noise: Tree) -> Any:
    """A part that asks for noise, given this step's; any other as it is."""
    return part.given(noise[path]) if _noisy(part) and path in noise else part


def _on_network(loss: Any) -> Callable[[Tree, Any, Tensor, Tensor], Tensor]:
    """A loss as a function of parameters, model and batch.

    A loss of outputs and targets is applied to the model's outputs; one that needs more of the
    model, such as its derivatives, says so by a method ``on_network``.
    """
    if hasattr(loss, "on_network"):
        return loss.on_network

    def applied(params: Tree, model: Any, inputs: Tensor, targets: Tensor) -> Tensor:
        return loss(model(params, inputs), targets)

    return applied


def _keywords(path: str, entry: dict[str, Any], hyper: Tree) -> dict[str, Any]:
    """A component's keywords, with those that an ensemble axis provides for the member."""
    keywords = {key: value for key, value in entry.items() if key != "name"}
    prefix = f"{path}."
    return keywords | {k.removeprefix(prefix): v for k, v in hyper.items() if k.startswith(prefix)}
