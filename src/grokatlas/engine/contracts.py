"""The interface between components and engine: types alone, no behaviour.

A protocol is fulfilled by every class that has its methods. `engine.observed.Observed` and
`engine.rebuilt.RebuiltMember` are classes themselves; `engine.record.RunRecord` is the contract of
where training leaves history and snapshots, `engine.update_link.UpdateLink` that of `updates`.

A component is written for one member; shapes below are of one member. The engine adds the axis
``M`` in front of every tensor by `torch.func.vmap`, and replays a trace of the program. So every
method here, but those of tasks, models and measures, must be pure: it changes no argument, draws no
random number, and branches on no value (`torch` raises a ``RuntimeError``, which
`engine.unmapped` explains). It may raise a ``ValueError`` where it is first called with what does
not fit it (shapes, dtypes, names of parameters): the run then ends with that line. What is not
finite is no error: it gives NaN.

Axes are named by one letter each:

==== ==============================================================================================
M    members of a run, or of a group of them; in front of all others
N    samples: of a whole set, or of a batch
D    entries of an input, or of the features that an input is turned into
T    tokens of a sample (as a superscript: the transpose)
V    distinct tokens, the vocabulary
H    units of a hidden layer
C    outputs of the model, which are classes where targets are labels
P    entries of all parameters together
L    factors, or layers, one after the other
R, S rows and columns of a matrix
K    columns of a factor, or coordinates of a span
==== ==============================================================================================

``[]`` is a scalar, ``...`` are axes of any number. Real tensors have the run's dtype
(``train.dtype``: float32 or float64); labels and tokens are int64. Hyperparameters that an ensemble
axis provides are float64. ``train.loss_dtype`` is that of outputs and targets of a loss alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, Union

if TYPE_CHECKING:  # a measure of a run's manifest alone needs no torch
    import numpy as np
    import pandas as pd
    from torch import Tensor

    from grokatlas.engine.observed import Observed

Spec = dict[str, Any]  # JSON: a run's spec, or a block of it, as `declare` checked it
Member = dict[str, Any]  # JSON: a member's value of every ensemble axis, by its path
Shape = tuple[int, ...]
Params = dict[str, "Tensor"]  # parameters, or their gradients, by name
Buffers = dict[str, "Tensor"]  # what a model keeps but does not train, by name
Columns = dict[str, "Tensor"]  # what is logged at a step, by name of the column
Data = dict[str, "Tensor"]  # train_inputs, train_targets, test_inputs and test_targets
Extras = dict[str, "Tensor"]  # what else the task knows, by name
Batch = tuple["Tensor", "Tensor"]  # inputs [N, ...] and targets, of a batch or of the training set
Tree = Mapping[str, Union["Tensor", "Tree"]]  # nested dicts of tensors: any state, any `Params`
AxisValues = dict[str, "Tensor"]  # of a member, or [M, ...] of all: by path of the ensemble axis
Noise = dict[str, "Tensor"]  # standard normal, of a step, by path of the block that asks for it
# a keyword of `build` where an ensemble axis may provide it: a number, or a tensor []
Hyperparameter = Union[float, "Tensor"]
# the same for `advance`, of all members at once: one number, or a tensor [M]
PerMember = Union[float, "Tensor"]

State = TypeVar("State")  # a component's own: a dict of tensors, or of dicts of them
Run = TypeVar("Run", contravariant=True)


class TaskData(Protocol):
    """The result of a task's `build` (as `engine.dataset.Dataset`), which a model's `build` takes.

    Arrays are NumPy's: real ones in float64 or float32, labels and tokens of an integer type. Where
    `per_member`, every array has an axis ``M`` in front.
    """

    @property
    def train_inputs(self) -> np.ndarray:
        """Real ``[N, ...]``, or tokens ``[N, T]``."""

    @property
    def train_targets(self) -> np.ndarray:
        """Labels ``[N]``, real ``[N, C]``, or ``[N, C, 1 + D]`` with derivatives by the input."""

    @property
    def test_inputs(self) -> np.ndarray:
        """As `train_inputs`, other samples."""

    @property
    def test_targets(self) -> np.ndarray:
        """As `train_targets`."""

    @property
    def outputs(self) -> int:
        """``C``."""

    @property
    def vocabulary(self) -> int | None:
        """``V`` where inputs are tokens, else None."""

    @property
    def extras(self) -> dict[str, np.ndarray]:
        """Other arrays of the task, such as the truth to recover."""

    @property
    def per_member(self) -> bool:
        """True where each member has data of its own."""

    @property
    def input_shape(self) -> Shape:
        """Of one input, without members and samples."""


class TokenModel(Protocol):
    """A model of tokens, which `build` of a model returns: more than an `nn.Module`.

    ``forward(inputs [N, ...]) -> outputs [N, C]`` of such a module takes tokens or features.
    """

    def embed(self, tokens: Tensor, /) -> Tensor:
        """Features ``[N, T, D]`` of tokens ``[N, T]``."""


class Model(Protocol):
    """A member's network as all other components are given it: a function of its parameters."""

    @property
    def constants(self) -> Buffers:
        """The member's buffers."""

    def __call__(self, params: Params, inputs: Tensor, /) -> Tensor:
        """Outputs ``[N, C]`` of inputs ``[N, ...]``, or of their features."""

    def features(self, params: Params, inputs: Tensor, /) -> Tensor:
        """The variable of derivatives: real inputs, or embeddings ``[N, T, D]`` of tokens.

        Raises:
            ValueError: inputs are integers, and the model embeds none.
        """


class Loss(Protocol):
    """The result of a loss's `build`."""

    def __call__(self, outputs: Tensor, targets: Tensor, /) -> Tensor:
        """The loss ``[]`` of outputs ``[N, C]``; targets are those of `TaskData`.

        Raises:
            ValueError: targets, or their number of outputs, are not of this loss.
        """


class NetworkLoss(Protocol):
    """A loss as dynamics and observables are given it: any loss, applied to a network."""

    def __call__(self, params: Params, model: Model, inputs: Tensor, targets: Tensor, /) -> Tensor:
        """The loss ``[]`` of a batch or a set."""


class LossOnNetwork(Loss, Protocol):
    """A loss that needs more of the model than its outputs, such as derivatives."""

    def on_network(
        self, params: Params, model: Model, inputs: Tensor, targets: Tensor, /
    ) -> Tensor:
        """The loss ``[]``; the engine calls it instead of the loss of outputs.

        Raises:
            ValueError: as the loss of outputs.
        """


class Penalty(Protocol):
    """The result of a penalty's `build`: a function that is added to the loss."""

    def __call__(self, params: Params, model: Model, inputs: Tensor, /) -> Tensor:
        """The penalty ``[]`` on a batch's inputs, its weight included.

        Raises:
            ValueError: the model lacks the parameters that it penalises.
        """


class GradientLink(Protocol[State]):
    """The result of `build` of a change of gradients: a link of the chain before the optimizer."""

    def init(self, params: Params, /) -> State:
        """The state before the first step.

        Raises:
            ValueError: the model lacks a parameter that the link names.
        """

    def update(self, params: Params, grads: Params, state: State, /) -> tuple[Params, State]:
        """Changed gradients, of the same names, shapes and dtypes, and the state in its order."""


class Optimizer(Protocol[State]):
    """The result of an optimizer's `build`."""

    def init(self, params: Params, /) -> State:
        """The state before the first step."""

    def update(self, params: Params, grads: Params, state: State, /) -> tuple[Params, State]:
        """Parameters after one step, of the same names, shapes and dtypes, and the state.

        All are in the order in which they came: the engine takes tensors by their place.
        """


class AdaptiveOptimizer(Optimizer[State], Protocol[State]):
    """An optimizer that chooses a step for each entry."""

    def direction(self, state: State, /) -> Params:
        """The last step over minus the step size, by parameter; 0 before the first step."""


class InputChange(Protocol[State]):
    """The result of `build` of a change of inputs."""

    def init(self, params: Params, /) -> State:
        """The state before the first epoch."""

    def begin_epoch(
        self, state: State, params: Params, model: Model, inputs: Tensor, targets: Tensor, /
    ) -> State:
        """The state of an epoch, by the whole training set before it.

        Raises:
            ValueError: the change has no meaning for such inputs or targets.
        """

    def __call__(self, inputs: Tensor, state: State, /) -> Tensor:
        """Changed inputs of a batch, of the same shape and dtype."""


class Dynamics(Protocol[State]):
    """The result of a dynamics' `build`; it takes the blocks that it names, by position.

    ``model``: `Model`, ``loss``: `NetworkLoss`, ``optimizer``: `Optimizer`; ``penalties``,
    ``gradients``, ``inputs``, ``updates``: lists of `Penalty`, `GradientLink`, `InputChange` and
    `UpdateLink`, all with the member's numbers and noise. ``only``: names of what may move.
    """

    def init(self, params: Params, /) -> State:
        """The state before the first step.

        Raises:
            ValueError: the model is not one of this dynamics.
        """

    def update(self, state: State, batch: Batch, /) -> State:
        """The state after one step on a batch, of the same names, shapes and dtypes, in its order.

        Raises:
            ValueError: the dynamics is not one of such inputs or targets.
        """

    def parameters(self, state: State, batch: Batch, /) -> Params:
        """The parameters of the model in this state; `batch` is the whole training set."""


class EpochDynamics(Dynamics[State], Protocol[State]):
    """A dynamics that takes changes of inputs."""

    def begin_epoch(self, state: State, batch: Batch, /) -> State:
        """The state in which an epoch begins; `batch` is the whole training set."""


class PenalisedDynamics(Dynamics[State], Protocol[State]):
    """A dynamics whose equation has a penalty of its own, which observables see with the others."""

    def penalty(self, params: Params, model: Model, inputs: Tensor, /) -> Tensor:
        """The penalty ``[]``, as a `Penalty`."""


class Advance(Protocol):
    """The function ``advance`` of a dynamics whose step is smaller than the call of it."""

    def __call__(self, state: Tree, train: Batch, steps: int, /, **keywords: PerMember) -> Tree:
        """The state of all members after many steps; every tensor of it has an axis ``M``.

        The training set has one where members have data of their own. It is not mapped: it may
        branch on values. Keywords are those of `build`.
        """


class Observable(Protocol):
    """The result of an observable's `build`."""

    def __call__(self, view: Observed, /) -> Columns:
        """Columns: ``[]`` for one, or a vector or matrix for one column each entry.

        Raises:
            ValueError: the run lacks what is observed.
        """


class LightRun(Protocol):
    """A finished run as a measure with ``LIGHT = True`` is given it; it must not be changed."""

    @property
    def spec(self) -> Spec:
        """The run's spec."""

    @property
    def manifest(self) -> dict[str, Any]:
        """JSON: what the run's job recorded about itself."""

    @property
    def history(self) -> pd.DataFrame:
        """``member``, ``step`` and what was logged: a row for each member and logged step."""


class FinishedRun(LightRun, Protocol):
    """A finished run as any other measure is given it; `engine.rebuilt` makes networks of it."""

    @property
    def snapshots(self) -> dict[int, dict[str, np.ndarray]]:
        """Parameters ``[M, ...]`` by step and name."""

    @property
    def data(self) -> TaskData:
        """The run's data."""


class Measure(Protocol[Run]):
    """The result of a measure's `build`: of a `LightRun` where its file says ``LIGHT = True``."""

    def __call__(self, run: Run, /) -> pd.DataFrame:
        """Rows with a column ``member``, the member's index in the run; NaN where it diverged.

        Raises:
            ValueError: the run lacks what is measured.
        """
