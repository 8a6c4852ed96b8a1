"""A training that is watched: what goes wrong is noted at the log where it shows.

    trainer = WatchedTrainer(run, record, watcher, tell)

It is the loop of `training` with a look at each row that is logged. Where a spec has a block
``watch``, a member, or the run, stops as the block says; where it has none, the rows are only read.
So this module is in the digest of runs that declare ``watch``, and of no other (`code_digest`).
"""

import fnmatch
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, NamedTuple, cast

import numpy as np
import torch

from grokatlas.engine import memory
from grokatlas.engine.contracts import Params, Spec, TaskData
from grokatlas.engine.history import History
from grokatlas.engine.record import Record, RunRecord, SavedRun
from grokatlas.engine.run import Run
from grokatlas.engine.signs import SIGNS, Arrays, Places, Sign
from grokatlas.engine.training import Trainer

STOPPED = "stopped"  # column of the history: whether the watch stopped the member at this row
KINDS = tuple(SIGNS)


class Note(NamedTuple):
    """What was found in a member.

    Attributes:
        member: its index in the run.
        kind: one of `KINDS`.
        step: of the log at which it was found first.
        column: that showed it; empty for stagnation, which is of all.
        value: of this column; of stagnation, the step since when nothing moved.
        times: how often it began.
        last: the step at which it began last.
    """

    member: int
    kind: str
    step: int
    column: str
    value: float
    times: int
    last: int


class Watcher:
    """Looks at what a run logs, and remembers what it found.

    Args:
        watch: for each of `KINDS` a block of ``columns`` (patterns), its numbers and, where it
            stops something, ``stop``: ``member`` or ``run``.
        steps: of the run.
        members: of the run, ``M``.

    Attributes:
        stops: whether anything that is found stops a member.
        stopped: the members that have to stop now.
    """

    def __init__(self, watch: Spec, steps: int, members: int) -> None:
        self.watch = watch
        self.steps = steps
        self.members = members
        self.stops = any("stop" in rule for rule in watch.values())
        self.stopped: set[int] = set()
        self._names: dict[str, list[str]] = {}  # the columns of each kind, from the first look on
        self._signs: dict[str, Sign] = {}
        whole: dict[str, Any] = {"step": np.int64, "column": np.int64, "value": np.float64}
        whole |= {"times": np.int64, "last": np.int64, "now": np.bool_}
        self._found: Arrays = {
            key: np.zeros((len(KINDS), members), dtype=dtype) for key, dtype in whole.items()
        }
        self._restored: dict[str, Arrays] = {}

    def look(self, step: int, indices: list[int], columns: dict[str, np.ndarray]) -> list[Note]:
        """Look at one log, and return what was found in a member for the first time.

        Args:
            step: of the log.
            indices: of the members that still train ``[m]``.
            columns: what was logged of them, ``[m]`` each.
        """
        if not self._names:
            self._begin(columns)
        every = len(indices) == self.members
        at: Places = slice(None) if every else np.array(indices)
        self.stopped = set()
        found, lost = list[Note](), None
        with np.errstate(invalid="ignore", over="ignore"):
            for row, kind in enumerate(KINDS):
                if kind not in self._signs:
                    continue
                values = np.array([columns[name] for name in self._names[kind]], dtype=np.float64)
                shown = self._signs[kind].look(step, at, values)
                if shown is None:
                    self._found["now"][row, at] = False
                    continue
                there, column, number = shown
                if kind == "nonfinite":
                    lost = there
                elif lost is not None:  # what is not finite spikes and rests no more
                    there &= ~lost
                places = np.array(indices)
                found += self._tell(row, step, places, there, column, number)
                self._stop(kind, places[there], indices)
        return found

    def notes(self) -> Iterator[Note]:
        """All that was found so far, by member."""
        if not self._names:
            return
        for member, row in zip(*np.nonzero(self._found["times"].T), strict=True):
            yield self._note(int(row), int(member))

    def saved(self) -> dict[str, Arrays]:
        """All that later looks depend on."""
        signs = {kind: sign.state for kind, sign in self._signs.items()} or self._restored
        return {**signs, "found": self._found}

    def restore(self, saved: dict[str, Arrays]) -> None:
        """Go on where `saved` was taken."""
        self._found = saved["found"]
        self._restored = saved

    def _begin(self, columns: dict[str, np.ndarray]) -> None:
        for kind, made in SIGNS.items():
            rule = self.watch[kind]
            patterns = rule["columns"]
            names = [c for c in columns if any(fnmatch.fnmatchcase(c, p) for p in patterns)]
            self._names[kind] = names
            if not names:
                if "stop" in rule:
                    absent, logged = " or ".join(patterns), ", ".join(columns)
                    problem = f"no column {absent} is logged; logged: {logged}"
                    raise ValueError(f"watch.{kind}: {problem}")
                continue
            self._signs[kind] = made(rule, self.steps, len(names), self.members)
            self._signs[kind].state |= self._restored.get(kind, {})

    def _tell(
        self,
        row: int,
        step: int,
        at: np.ndarray,
        there: np.ndarray,
        column: np.ndarray,
        number: np.ndarray,
    ) -> list[Note]:
        """Count what begins at this log; the notes on members in which it never was before."""
        found = self._found
        begins = there & ~found["now"][row, at]
        found["now"][row, at] = there
        if not begins.any():
            return []
        first = begins & (found["times"][row, at] == 0)
        found["times"][row, at[begins]] += 1
        found["last"][row, at[begins]] = step
        found["step"][row, at[first]] = step
        found["column"][row, at[first]] = column[first]
        found["value"][row, at[first]] = number[first]
        return [self._note(row, member) for member in at[first].tolist()]

    def _note(self, row: int, member: int) -> Note:
        kind = KINDS[row]
        step, column, value, times, last = (
            self._found[key][row, member].item()
            for key in ("step", "column", "value", "times", "last")
        )
        name = self._names[kind][column] if column >= 0 else ""
        return Note(member, kind, step, name, value, times, last)

    def _stop(self, kind: str, there: np.ndarray, indices: list[int]) -> None:
        stop = self.watch[kind].get("stop")
        if stop is not None and len(there):
            self.stopped |= set(indices) if stop == "run" else set(there.tolist())


class StoppableRun(Run):
    """A run whose members may be stopped: a GPU has to keep their last parameters."""

    def needs(self) -> memory.Needs:
        """See `Run.needs`."""
        return replace(super().needs(), stops=True)


class WatchedHistory(History):
    """The history of a watched run; it marks the last row of a member that was stopped.

    Args:
        hand_on: as for `History`.
        watcher: looks at each log.
        tell: called with the watcher's findings after each log that has some.
    """

    def __init__(
        self,
        hand_on: Callable[[dict[str, np.ndarray]], None],
        watcher: Watcher,
        tell: Callable[[list[Note]], None],
    ) -> None:
        super().__init__(hand_on)
        self._watcher = watcher
        self._tell = tell

    def add(self, step: int, indices: list[int], seen: dict[str, np.ndarray]) -> None:
        """Log a step, after a look at it."""
        found = self._watcher.look(step, indices, seen)
        if self._watcher.stops:
            seen = {**seen, STOPPED: np.zeros(len(indices), dtype=np.bool_)}
        super().add(step, indices, seen)
        if found:
            self._tell(found)

    def mark(self, stopped: set[int], indices: list[int]) -> None:
        """Mark members as stopped in the rows that were added last.

        Args:
            stopped: the members.
            indices: of the members that these rows are of, as `add` had them.
        """
        rows = slice(self._rows - len(indices), self._rows)
        self._columns[STOPPED][rows] = np.isin(indices, list(stopped))


class WatchedTrainer(Trainer):
    """A `Trainer` that looks at what it logs, and stops what its watcher tells it to stop.

    Args:
        run: the members.
        record: where history and snapshots go.
        watcher: of this run.
        tell: called with what is found, after each log at which a member shows something new.
    """

    def __init__(
        self,
        run: Run,
        record: RunRecord,
        watcher: Watcher,
        tell: Callable[[list[Note]], None],
    ) -> None:
        super().__init__(run, record)
        self.watcher = watcher
        self.history: WatchedHistory = WatchedHistory(record.add_rows, watcher, tell)

    def resume(self, saved: SavedRun | None) -> None:
        """Resume from a saved state, with what the watcher knew."""
        super().resume(saved)
        known = cast(dict[str, Any], saved or {}).get("watch")
        if known is not None:
            self.watcher.restore(
                {
                    kind: {name: tensor.numpy() for name, tensor in arrays.items()}
                    for kind, arrays in known.items()
                }
            )

    def saved(self) -> SavedRun:
        """All that a later process needs, and what the watcher knows."""
        known = {
            kind: {name: torch.from_numpy(array) for name, array in arrays.items()}
            for kind, arrays in self.watcher.saved().items()
        }
        return cast(SavedRun, {**super().saved(), "watch": known})

    def _stop_members(self, params: Params, columns: dict[str, np.ndarray]) -> None:
        """Freeze the members that reached ``train.stop``, then those that the watch stops.

        Only the latter are marked. A member at the run's last step has ended as it declares.
        """
        indices = self.run.indices
        super()._stop_members(params, columns)
        stopped = self.watcher.stopped & set(self.run.indices)
        if not stopped or self.step == self.steps:
            return
        self.history.mark(stopped, indices)
        if not self.stopped_params:
            members = len(self.run.members)
            self.stopped_params = {k: v.new_zeros(members, *v.shape[1:]) for k, v in params.items()}
        for member in stopped:
            for key, value in params.items():
                self.stopped_params[key][member] = value[indices.index(member)]
        self.run.keep(set(self.run.indices) - stopped)
        self.record.updates.rebuild()


def train(
    spec: Spec,
    data: TaskData,
    device: torch.device,
    watcher: Watcher,
    record: RunRecord | None = None,
    progress: Callable[[int, int], None] = lambda step, steps: None,
    tell: Callable[[list[Note]], None] = lambda notes: None,
) -> RunRecord:
    """Train every member of a run as `training.train` does, and watch it.

    Args:
        spec: the run's spec.
        data: its data set.
        device: where to train.
        watcher: of this run; it stops nothing where the spec has no block ``watch``.
        record: where history and snapshots go, and what to go on from; in memory if absent.
        progress: called with the step and the number of steps after each log.
        tell: called with what was found first in some members, after the log that shows it.

    Returns:
        the record.
    """
    record = record if record is not None else Record()
    run = (StoppableRun if "watch" in spec else Run)(spec, data, device)
    trainer = WatchedTrainer(run, record, watcher, tell)
    trainer.resume(record.restored())
    trainer.finish(progress)
    return record
