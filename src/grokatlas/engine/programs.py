"""The programs of a run: what moves and observes its members, mapped over them and traced."""

from collections.abc import Callable
from typing import Any

from torch import Tensor, nn

from grokatlas import registry
from grokatlas.engine.ensemble import Mapped, Tree
from grokatlas.engine.network import Network
from grokatlas.engine.observed import Observed


class Programs:
    """Mapped programs, built from a spec; they hold no member's numbers.

    Every one takes ``hyper`` (an ensemble axis each), ``constants`` (buffers of the model) and a
    state or parameters, each with a leading axis ``M``, then data.

    Args:
        spec: the run's spec.
        skeleton: a module of the model's structure.
        data_axis: 0 if data have a leading axis ``M``, None if members share them.
        batch_axis: the same of a batch.
        first: the first member's value of every ensemble axis.

    Attributes:
        init: parameters to the state of the dynamics.
        update: a state, a batch and noise to the state after a step; it uses the state up.
        begin_epoch: a state and the training set to a state; None if no block asks for it.
        parameters: a state and the training set to parameters.
        observe: parameters, all data and the step to what the observables see.
        advance: of a dynamics that moves all members by many steps, or None.
        noise_shapes: for each block that asks for noise, the shape for a batch.
    """

    def __init__(
        self,
        spec: dict[str, Any],
        skeleton: nn.Module,
        data_axis: int | None,
        batch_axis: int | None,
        first: Tree,
    ) -> None:
        self.spec = spec
        self._skeleton = skeleton
        train, batch = (data_axis,) * 2, (batch_axis,) * 2
        self.init = self._mapped(lambda d, p, batch: d.init(p), train)
        self.update = self._mapped(lambda d, s, batch: d.update(s, batch), (*batch, 0), given=2)
        self.parameters = self._mapped(lambda d, s, batch: d.parameters(s, batch), train)
        self.begin_epoch: Mapped | None = None
        if spec.get("inputs"):
            self.begin_epoch = self._mapped(lambda d, s, batch: d.begin_epoch(s, batch), train)
        self.observe = Mapped(self._observe_member, (0, 0, 0, data_axis, data_axis, None))
        self.advance = getattr(_module(spec), "advance", None)
        parts = [
            (path, _part(block, path, entry, first))
            for block in ("penalties", "inputs")
            for path, entry in self._entries(block)
        ]
        self.noise_shapes = {path: part.noise_shape for path, part in parts if _noisy(part)}

    def advanced(self, hyper: Tree, state: Tree, train: tuple[Tensor, Tensor], steps: int) -> Tree:
        """The state after many steps of a dynamics that can `advance`."""
        keywords = _keywords("dynamics", self.spec["dynamics"], hyper)
        moved: Tree = self.advance(state, train, steps, **keywords)
        return moved

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
        build = _module(self.spec).build
        used = build.__code__.co_varnames[: build.__code__.co_argcount]
        keywords = _keywords("dynamics", self.spec["dynamics"], hyper)
        return build(*(blocks[name] for name in used), **keywords)

    def _entries(self, block: str) -> list[tuple[str, dict[str, Any]]]:
        entries = self.spec.get(block, [])
        return [(f"{block}.{index}", entry) for index, entry in enumerate(entries)]

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
        view = Observed(params, network, loss, penalties, data, extras, dynamics, step)
        seen: Tree = {}
        for path, entry in self._entries("observables"):
            seen |= _part("observables", path, entry, {})(view)
        return seen


def _module(spec: dict[str, Any]) -> Any:
    return registry.load("dynamics", spec["dynamics"]["name"])


def _part(block: str, path: str, entry: dict[str, Any], hyper: Tree) -> Any:
    return registry.load(block, entry["name"]).build(**_keywords(path, entry, hyper))


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
