"""Steps of a group on a GPU, recorded once as CUDA graphs and replayed.

A step of a small network is about a hundred operations, and starting each of them from Python takes
longer than computing it. A CUDA graph starts all of them at once. It reads and writes the addresses
that it was recorded with, so the state, a batch and its noise have buffers that stay:

    drawn batch and noise  --copy-->  waiting[k]  --copy-->  batch  --step-->  state

Two graphs are recorded for each size of a batch: one of a single step, and one of `CHUNK` steps,
which begins each of them by copying its batch from ``waiting[k]``. So every step, in whichever
graph, reads the same addresses, and a run does not depend on how its steps are cut into graphs.

What cannot be recorded is computed by the same operations on the same buffers, one by one. The
environment variable ``GROKATLAS_CAPTURE=0`` turns recording off.
"""

import os
from collections.abc import Callable
from typing import Protocol, TypedDict

import torch
from torch import Tensor
from torch.utils._pytree import tree_flatten, tree_leaves, tree_unflatten

from grokatlas.engine.contracts import Noise, Tree

SWITCH = "GROKATLAS_CAPTURE"
CHUNK = 10  # steps of a replay: it divides the usual strides of a log
WARM = 3  # steps before a graph is recorded, as libraries get ready in the first of them
WAITING = 1 << 28  # bytes of batches and noise that wait for a replay
# operations after which the host reads a result before it can go on: parts of their names
WAITS = (
    *("_local_scalar_dense", "nonzero", "masked_select", "unique", "bincount", "equal.default"),
    "repeat_interleave",
    *("_linalg_svd", "_linalg_eigh", "linalg_eig", "linalg_lstsq", "_linalg_check_errors"),
)
Call = Callable[[], None]


class Drawn(TypedDict):
    """Batch and noise of a step."""

    inputs: Tensor
    targets: Tensor
    noise: Noise


class Recorder(Protocol):
    """Records what a call does to tensors, without doing it, as `torch.cuda.graph` does."""

    def warm_up(self, call: Call, /) -> None:
        """Do a call as it is done while recording, but not recorded."""

    def record(self, call: Call, /) -> Call:
        """A function that does it again, on the same addresses; the call itself has no effect.

        Raises:
            RuntimeError: the call cannot be recorded.
        """


class CudaRecorder:
    """Recording on a GPU. All graphs have one pool of memory, as nothing stays in it between two.

    Args:
        device: the GPU.
    """

    def __init__(self, device: torch.device) -> None:
        self._device = device
        self._pool = torch.cuda.graph_pool_handle()
        # a pool ends with its last graph, and its name cannot be used again: so one graph stays
        self._anchor = self.record(self._nothing)

    def warm_up(self, call: Call) -> None:
        """Do a call on a stream beside, as PyTorch asks for before a graph is recorded."""
        main = torch.cuda.current_stream(self._device)
        side = torch.cuda.Stream(self._device)
        side.wait_stream(main)
        with torch.cuda.stream(side):
            call()
        main.wait_stream(side)

    def record(self, call: Call) -> Call:
        """A graph of a call.

        Raises:
            RuntimeError: an operation of it waits for the host, or memory is short.
        """
        graph = torch.cuda.CUDAGraph()
        generator = torch.cuda.default_generators[torch.cuda.current_device()]
        before = generator.clone_state()
        try:
            with torch.cuda.graph(graph, pool=self._pool):
                call()
        except RuntimeError:
            # some versions of PyTorch leave the generator's state as one of a graph being recorded
            generator.graphsafe_set_state(before)
            raise
        return graph.replay

    def _nothing(self) -> None:
        torch.zeros((), device=self._device)


class Steps(Protocol):
    """A group of members that is moved.

    Attributes:
        state: that a step changes.
    """

    state: Tree

    @property
    def fixed(self) -> list[Tensor]:
        """Tensors that every draw may hold, and that never change."""

    @property
    def begins_epoch(self) -> bool:
        """True where something is to be done before the next step."""

    def begin_epoch(self) -> Tree:
        """The state in which the epoch begins."""

    def draw(self) -> Drawn:
        """Batch and noise of the next step."""

    def update(self, state: Tree, drawn: Drawn, /) -> Tree:
        """The state after a step; the tensors of `state` may be overwritten."""


def recorder(device: torch.device) -> Recorder | None:
    """The recorder of a device; None on a CPU, and where the switch is off."""
    if device.type != "cuda" or switched_off():
        return None
    return CudaRecorder(device)


def switched_off() -> bool:
    """True for ``GROKATLAS_CAPTURE=0``."""
    return os.environ.get(SWITCH, "1") == "0"


def waits(operations: set[str]) -> list[str]:
    """The operations that wait for the host, in order of their names."""
    return sorted(name for name in operations if any(part in name for part in WAITS))


class Stepper:
    """Moves a group by graphs that it records when they are first needed.

    Args:
        steps: the group; its state's tensors become the buffers of the state.
        recorder: records.

    Attributes:
        problem: why a graph could not be recorded; empty if all could.
    """

    def __init__(self, steps: Steps, recorder: Recorder) -> None:
        self.problem = ""
        self._steps = steps
        self._recorder = recorder
        self._of_size: dict[tuple[torch.Size, ...], _Recorded] = {}

    def move(self, count: int) -> None:
        """Advance by some steps."""
        before: _Recorded | None = None
        for _ in range(count):
            if self._steps.begins_epoch:
                self._finish(before)
                overwrite(self._steps.state, self._steps.begin_epoch())
            drawn = self._steps.draw()
            key = tuple(leaf.shape for leaf in tree_leaves(drawn))
            if key not in self._of_size:
                self._of_size[key] = _Recorded(self._steps, self._recorder, drawn)
            recorded = self._of_size[key]
            if recorded is not before:
                self._finish(before)
            recorded.add(tree_leaves(drawn))
            before = recorded
        self._finish(before)

    def _finish(self, recorded: "_Recorded | None") -> None:
        if recorded is not None:
            recorded.finish()
            self.problem = self.problem or recorded.problem


class _Recorded:
    """The buffers and the graphs of steps whose batches have one size."""

    def __init__(self, steps: Steps, recorder: Recorder, example: Drawn) -> None:
        drawn, self._form = tree_flatten(example)
        self.problem = ""
        self._steps = steps
        self._recorder = recorder
        self._graphs: dict[str, Call] = {}
        self._warm = 0
        self._count = 0  # steps whose batches wait
        fixed = {id(tensor) for tensor in steps.fixed}
        self._copied = [place for place, leaf in enumerate(drawn) if id(leaf) not in fixed]
        each = sum(drawn[place].numel() * drawn[place].itemsize for place in self._copied)
        self._size = max(1, min(CHUNK, WAITING // max(each, 1)))
        self._batch = list(drawn)  # what is not copied is read where it is
        for place in self._copied:
            self._batch[place] = torch.empty_like(
                drawn[place], memory_format=torch.contiguous_format
            )
        self._waiting = [
            torch.empty(self._size, *leaf.shape, dtype=leaf.dtype, device=leaf.device)
            for leaf in self._own(self._batch)
        ]

    def add(self, drawn: list[Tensor]) -> None:
        """Take the batch and the noise of a step; as many as make a chunk are taken at once."""
        for buffer, leaf in zip(self._waiting, self._own(drawn), strict=True):
            buffer[self._count].copy_(leaf)
        self._count += 1
        if self._warm < WARM:
            self._warm += 1
            self._load(0)
            self._recorder.warm_up(self._step)
            self._count = 0
        elif self._count == self._size:
            self._replay("chunk", self._chunk)
            self._count = 0

    def finish(self) -> None:
        """Take the steps that wait, one by one."""
        for place in range(self._count):
            self._load(place)
            self._replay("step", self._step)
        self._count = 0

    def _replay(self, name: str, call: Call) -> None:
        if name not in self._graphs:
            try:
                self._graphs[name] = self._recorder.record(call)
            except RuntimeError as error:  # nothing was computed: the call does it one by one
                self.problem = f"{error}".strip().split("\n")[0]
                self._graphs[name] = call
        self._graphs[name]()

    def _chunk(self) -> None:
        for place in range(self._size):
            self._load(place)
            self._step()

    def _load(self, place: int) -> None:
        """Copy what waits at a place to where a step reads it."""
        for buffer, batch in zip(self._waiting, self._own(self._batch), strict=True):
            batch.copy_(buffer[place])

    def _step(self) -> None:
        state = self._steps.state
        overwrite(state, self._steps.update(state, tree_unflatten(self._batch, self._form)))

    def _own(self, leaves: list[Tensor]) -> list[Tensor]:
        """Of a draw, what differs from step to step."""
        return [leaves[place] for place in self._copied]


def overwrite(state: Tree, following: Tree) -> None:
    """Write a state's tensors over those of another, which may be among them in another order."""
    pairs = _pairs(state, following)
    taken = {old.untyped_storage().data_ptr() for old, _ in pairs}
    moved = [(old, new) for old, new in pairs if new is not old]
    sources = [
        new.clone() if new.untyped_storage().data_ptr() in taken else new for _, new in moved
    ]
    for (old, _), source in zip(moved, sources, strict=True):
        old.copy_(source)


def _pairs(state: Tree, following: Tree) -> list[tuple[Tensor, Tensor]]:
    pairs: list[tuple[Tensor, Tensor]] = []
    for key, old in state.items():
        new = following[key]
        if isinstance(old, Tensor) and isinstance(new, Tensor):
            pairs.append((old, new))
        elif not isinstance(old, Tensor) and not isinstance(new, Tensor):
            pairs += _pairs(old, new)
    return pairs
