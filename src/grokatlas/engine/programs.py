"""The programs of a run: what moves and observes its members, mapped over them and traced."""

import inspect
import math
from collections.abc import Callable
from types import ModuleType
from typing import Any, Literal, TypeGuard, TypeVar, overload

from torch import Tensor, nn

from grokatlas import registry
from grokatlas.engine import moving
from grokatlas.engine.contracts import (
    Advance,
    AxisValues,
    Buffers,
    Columns,
    Data,
    Dynamics,
    EpochDynamics,
    Extras,
    Loss,
    NetworkLoss,
    Noise,
    Observable,
    Params,
    PenalisedDynamics,
    Penalty,
    Shape,
    Spec,
    Tree,
)
from grokatlas.engine.ensemble import Mapped
from grokatlas.engine.network import Network, is_noisy
from grokatlas.engine.network_loss import network_loss
from grokatlas.engine.noise_contracts import TakesNoise, TakesParameterNoise
from grokatlas.engine.observed import Observed

Part = TypeVar("Part")  # a component, built for one member
NoiseShape = Callable[[Shape, Shape], Shape]  # by the shapes of a batch's inputs and outputs
MODEL = "model"  # the path of the model's noise


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
        update: a state, a batch and noise to the state after a step; the state is donated.
        begin_epoch: a state and the training set to a state; None if no block asks for it.
        parameters: a state and the training set to parameters.
        observe: parameters, all data and the step to what the observables see.
        advance: of a dynamics that moves all members by many steps, or None.
        noise_shapes: for each block that takes noise, the shape for a batch.

    Raises:
        ValueError: ``train.only`` names a parameter that the model lacks.
    """

    def __init__(
        self,
        spec: Spec,
        skeleton: nn.Module,
        data_axis: int | None,
        batch_axis: int | None,
        first: AxisValues,
    ) -> None:
        self.spec = spec
        self._skeleton = skeleton
        self._only = None
        if "only" in spec["train"]:
            parameters = [name for name, _ in skeleton.named_parameters()]
            self._only = moving.names(spec["train"]["only"], parameters, "train.only")
        train, batch = (data_axis, data_axis), (batch_axis, batch_axis)
        self.init = Mapped(self._init_member, (0, 0, 0))
        self.update = Mapped(self._update_member, (0, 0, 0, *batch, 0), given=2)
        self.parameters = Mapped(self._parameters_of_member, (0, 0, 0, *train))
        self.begin_epoch: Mapped[Tree] | None = None
        if spec.get("inputs"):
            self.begin_epoch = Mapped(self._begin_epoch_of_member, (0, 0, 0, *train))
        self.observe = Mapped(self._observe_member, (0, 0, 0, data_axis, data_axis, None, 0))
        self.sees_state = any(
            getattr(registry.load("observables", entry["name"]), "SEES_STATE", False)
            for _, entry in self._entries("observables")
        )
        self.advance: Advance | None = getattr(_module(spec), "advance", None)
        self.noise_shapes = self._noise_shapes(first)

    def _noise_shapes(self, first: AxisValues) -> dict[str, NoiseShape]:
        """The shape of noise of each block that takes some.

        Raises:
            ValueError: the model takes noise, and the dynamics computes its own forward passes.
        """
        shapes: dict[str, NoiseShape] = {}
        for block in ("penalties", "inputs"):
            for path, entry in self._entries(block):
                part = _part(block, path, entry, first)
                if _takes_noise(part):
                    shapes[path] = part.noise_shape
        named = {key: value.detach() for key, value in self._skeleton.named_parameters()}
        params = named if self._only is None else {key: named[key] for key in self._only}
        for block in ("optimizer", "gradients", "updates"):
            for path, entry in self._entries(block):
                part = _part(block, path, entry, first)
                if _takes_parameter_noise(part):
                    shapes[path] = _constant(part.noise_shape(params))
        if is_noisy(self._skeleton):
            if not getattr(_module(self.spec), "LEARNS_BY_LOSS", False):
                name = self.spec["dynamics"]["name"]
                problem = f"dynamics {name} has an equation of its own, in which it has no place"
                raise ValueError(f"model: it takes noise, and {problem}; give it none")
            shapes[MODEL] = self._skeleton.noise_shape
        return shapes

    def noise_numbers(self, inputs_shape: Shape) -> int:
        """Numbers of a member's noise in a step, without that of penalties and inputs."""
        own = [p for p in self.noise_shapes if not p.startswith(("penalties", "inputs"))]
        outputs_shape = (inputs_shape[0], 1)
        return sum(math.prod(self.noise_shapes[p](inputs_shape, outputs_shape)) for p in own)

    def dynamics_keywords(self, hyper: AxisValues) -> dict[str, Any]:
        """The keywords of the dynamics, of all members at once, as `advance` takes them."""
        return _keywords("dynamics", self.spec["dynamics"], hyper)

    def _init_member(self, hyper: AxisValues, constants: Buffers, params: Params) -> Tree:
        return self._dynamics(hyper, constants, {}).init(params)

    def _update_member(
        self,
        hyper: AxisValues,
        constants: Buffers,
        state: Tree,
        inputs: Tensor,
        targets: Tensor,
        noise: Noise,
    ) -> Tree:
        dynamics = self._dynamics(hyper, constants, noise, len(inputs))
        return dynamics.update(state, (inputs, targets))

    def _parameters_of_member(
        self, hyper: AxisValues, constants: Buffers, state: Tree, inputs: Tensor, targets: Tensor
    ) -> Params:
        return self._dynamics(hyper, constants, {}).parameters(state, (inputs, targets))

    def _begin_epoch_of_member(
        self, hyper: AxisValues, constants: Buffers, state: Tree, inputs: Tensor, targets: Tensor
    ) -> Tree:
        dynamics = self._dynamics(hyper, constants, {})
        if not _has_epochs(dynamics):
            raise ValueError("a dynamics that takes `inputs` needs a method `begin_epoch`")
        return dynamics.begin_epoch(state, (inputs, targets))

    def _dynamics(
        self, hyper: AxisValues, constants: Buffers, noise: Noise, samples: int = 0
    ) -> Dynamics[Tree]:
        """The dynamics of one member, built from the spec with the member's own numbers.

        Noise, where there is some, is of a batch of so many samples.
        """
        network = Network(self._skeleton, constants, noise.get(MODEL), samples)
        blocks: dict[str, object] = {"model": network, "only": self._only}
        if "loss" in self.spec:
            blocks["loss"] = self._loss(hyper)
        for path, entry in self._entries("optimizer"):
            part = _part("optimizer", path, entry, hyper)
            blocks["optimizer"] = _with_noise(part, path, noise)
        for block in ("penalties", "gradients", "inputs", "updates"):
            blocks[block] = [
                _with_noise(_part(block, path, entry, hyper), path, noise)
                for path, entry in self._entries(block)
            ]
        build = _module(self.spec).build
        used = [
            parameter.name
            for parameter in inspect.signature(build).parameters.values()
            if parameter.kind is parameter.POSITIONAL_OR_KEYWORD
        ]
        keywords = _keywords("dynamics", self.spec["dynamics"], hyper)
        return build(*(blocks[name] for name in used), **keywords)

    def _loss(self, hyper: AxisValues) -> NetworkLoss:
        return network_loss(_part("loss", "loss", self.spec["loss"], hyper), self.spec)

    def _entries(self, block: str) -> list[tuple[str, Spec]]:
        entries = self.spec.get(block, [])
        if isinstance(entries, dict):
            return [(block, entries)]
        return [(f"{block}.{index}", entry) for index, entry in enumerate(entries)]

    def _observe_member(
        self,
        hyper: AxisValues,
        constants: Buffers,
        params: Params,
        data: Data,
        extras: Extras,
        step: Tensor,
        state: Tree,
    ) -> Columns:
        loss = self._loss(hyper) if "loss" in self.spec else None
        penalties = [_part("penalties", *entry, hyper) for entry in self._entries("penalties")]
        dynamics = self._dynamics(hyper, constants, {})
        if _has_penalty(dynamics):
            penalties.append(dynamics.penalty)
        network = Network(self._skeleton, constants)
        view = Observed(params, network, loss, penalties, data, extras, dynamics, step, state)
        seen: Columns = {}
        for path, entry in self._entries("observables"):
            seen |= _part("observables", path, entry, {})(view)
        return seen


def _has_epochs(dynamics: Dynamics[Tree]) -> TypeGuard[EpochDynamics[Tree]]:
    return hasattr(dynamics, "begin_epoch")


def _has_penalty(dynamics: Dynamics[Tree]) -> TypeGuard[PenalisedDynamics[Tree]]:
    return hasattr(dynamics, "penalty")


def _module(spec: Spec) -> ModuleType:
    return registry.load("dynamics", spec["dynamics"]["name"])


@overload
def _part(block: Literal["loss"], path: str, entry: Spec, hyper: AxisValues) -> Loss: ...
@overload
def _part(block: Literal["penalties"], path: str, entry: Spec, hyper: AxisValues) -> Penalty: ...
@overload
def _part(
    block: Literal["observables"], path: str, entry: Spec, hyper: AxisValues
) -> Observable: ...
@overload
def _part(block: str, path: str, entry: Spec, hyper: AxisValues) -> object: ...
def _part(block: str, path: str, entry: Spec, hyper: AxisValues) -> object:
    """The result of a component's `build` with the member's own hyperparameters."""
    return registry.load(block, entry["name"]).build(**_keywords(path, entry, hyper))


def _takes_noise(part: Part | TakesNoise[Part]) -> TypeGuard[TakesNoise[Part]]:
    return hasattr(part, "noise_shape")


def _takes_parameter_noise(part: object) -> TypeGuard[TakesParameterNoise[object]]:
    return hasattr(part, "noise_shape")


def _constant(shape: Shape) -> NoiseShape:
    return lambda inputs_shape, outputs_shape: shape


def _with_noise(part: Part, path: str, noise: Noise) -> Part:
    """A part that takes noise, given this step's; any other as it is."""
    return part.given(noise[path]) if path in noise and _takes_noise(part) else part


def _keywords(path: str, entry: Spec, hyper: AxisValues) -> dict[str, Any]:
    """A component's keywords, with those that an ensemble axis provides for the member."""
    keywords = registry.keywords(entry)
    prefix = f"{path}."
    return keywords | {k.removeprefix(prefix): v for k, v in hyper.items() if k.startswith(prefix)}
