"""The results of a run: history, snapshots, and the state from which it can be resumed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol, TypedDict

import numpy as np

from grokatlas.engine.contracts import Params, Tree

if TYPE_CHECKING:  # a record is made before a device is chosen, and torch imported
    from torch import Tensor

OPTIMIZER = "optimizer"  # the entry of a state that another run may go on with


class SavedBatches(TypedDict):
    """The next batch: sample at which it begins ``[]``, and state of each generator."""

    first: Tensor
    generators: Tensor


class SavedGroup(TypedDict):
    """Some members: their indices in the run ``[M]``, and all that their next step depends on.

    `step` is the number of steps taken ``[]``, from which the noise of the next ones follows.
    """

    places: Tensor
    state: Tree
    step: Tensor
    batches: SavedBatches


class SavedRun(TypedDict):
    """All that a later process needs to resume a run.

    Attributes:
        groups: of members that still train, by index of the first.
        left: last parameters of stopped members ``[M, ...]``; empty if none stopped.
        step: number of steps taken ``[]``.
        seen: the last step whose history and snapshots are in the record ``[]``.
    """

    groups: dict[str, SavedGroup]
    left: Params
    step: Tensor
    seen: Tensor


def is_state(name: str) -> bool:
    """True for a name in a snapshot that is of a part of the optimizer's state."""
    return name.startswith(f"{OPTIMIZER}:")


def optimizer_state(state: Tree) -> Params:
    """The optimizer's part of a state as a snapshot has it: a name for each tensor.

    Raises:
        ValueError: the dynamics has none.
    """
    if OPTIMIZER not in state:
        problem = "train.optimizer_states: the state of this dynamics has no optimizer, from which"
        raise ValueError(f"{problem} a run could go on; write optimizer: fresh in its start")
    return dict(_flat(state[OPTIMIZER], OPTIMIZER))


def _flat(tree: Tree | Tensor, path: str) -> Iterator[tuple[str, Tensor]]:
    if isinstance(tree, Mapping):
        for key, value in tree.items():
            yield from _flat(value, f"{path}:{key}")
    else:
        yield path, tree


@dataclass
class Updates:
    """The cost of a process's updates on their device, without observing and saving.

    The first of all is left out, as it also builds the programs, and so is the first after a member
    has stopped. On a CPU the time is that of the processor, all threads together, which other work
    on the machine does not stretch.

    Attributes:
        count: updates, of all members at once.
        seconds: device time.
        how: steps are computed on a GPU: ``captured``, or ``one by one`` and why; empty on a CPU.
    """

    count: int = 0
    seconds: float = 0.0
    how: str = ""
    _built: bool = False

    def add(self, count: int, seconds: float) -> None:
        """So many updates took so long."""
        if self._built:
            self.count += count
            self.seconds += seconds
        self._built = True

    def rebuild(self) -> None:
        """Programs are built anew: the next updates are left out."""
        self._built = False


class RunRecord(Protocol):
    """The destination of history and snapshots: memory or a disk."""

    step: int  # that the run is at, in the end
    updates: Updates  # what they cost in this process

    def restored(self) -> SavedRun | None:
        """The state to resume from, as `after` saved it; None to begin at step 0."""

    def add_rows(self, rows: dict[str, np.ndarray], /) -> None:
        """The next rows of history: ``member``, ``step`` and columns, of one length."""

    def add_snapshot(self, step: int, arrays: dict[str, np.ndarray], /) -> None:
        """Parameters ``[M, ...]`` by name, of all members of the run."""

    def after(self, step: int, saved: Callable[[], SavedRun], /) -> None:
        """Between two steps; it may save what ``saved()`` returns, or end the process."""


@dataclass
class Record:
    """History and snapshots of a run in memory, and a place to go on from: none.

    `savepoint.Savepoint` is the same on disk.

    Attributes:
        rows: blocks of history, each with columns of equal length.
        snapshots: ``"<step>/<parameter>"`` -> array with a leading axis ``M``.
        updates: what updates cost in this process.
        step: the step that the run is at, in the end.
    """

    updates: Updates = field(default_factory=Updates)
    rows: list[dict[str, np.ndarray]] = field(default_factory=list)
    snapshots: dict[str, np.ndarray] = field(default_factory=dict)
    step: int = 0

    def restored(self) -> SavedRun | None:
        """Tensors to go on from, or None to begin."""
        return None

    def add_rows(self, rows: dict[str, np.ndarray]) -> None:
        """The next rows of history, by column."""
        self.rows.append(rows)

    def add_snapshot(self, step: int, arrays: dict[str, np.ndarray]) -> None:
        """Every member's parameters at a step."""
        self.snapshots |= {f"{step:010d}/{key}": array.copy() for key, array in arrays.items()}

    def after(self, step: int, saved: Callable[[], SavedRun]) -> None:
        """Called between steps; a record on disk may save what ``saved()`` returns, or stop."""

    @property
    def history(self) -> dict[str, np.ndarray]:
        """``member``, ``step`` and one column for every observable; members run fastest."""
        return {key: np.concatenate([rows[key] for rows in self.rows]) for key in self.rows[0]}
