"""The training loop: one page, shared by every experiment.

    state = dynamics.init(params)
    for step in range(steps + 1):
        observe and keep, where the schedule says so
        state = dynamics.update(state, batch)

All members advance together. The loop knows no paper, no file and no plan: it takes a spec and
arrays, and gives history and snapshots to a record, which also says where to go on.
"""

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import Tensor

from grokatlas.engine.history import History
from grokatlas.engine.record import Record
from grokatlas.engine.run import Run
from grokatlas.engine.schedule import Schedule, log_schedule

SECOND = 1.0  # seconds between two moments at which a run can be saved


def train(
    spec: dict[str, Any],
    data: Any,
    device: torch.device,
    record: Record | None = None,
    progress: Callable[[int, int], None] = lambda step, steps: None,
) -> Record:
    """Train every member of a run.

    Args:
        spec: the run's spec.
        data: its data set.
        device: where to train.
        record: where history and snapshots go, and what to go on from; in memory if absent.
        progress: called with the step and the number of steps after each log.

    Returns:
        the record.
    """
    record = record if record is not None else Record()
    trainer = Trainer(Run(spec, data, device), record)
    trainer.go_on(record.restored())
    trainer.finish(progress)
    return record


class Trainer:
    """A run on its way: the step it is at, and what stopped members left.

    Args:
        run: the members.
        record: where history and snapshots go.
    """

    def __init__(self, run: Run, record: Any) -> None:
        train = run.spec["train"]
        self.run = run
        self.record = record
        self.step = 0
        self.seen = -1  # the last step whose history and snapshots are in the record
        self.steps: int = train["steps"]
        self.stride = 1  # steps of one move; how a stretch is cut changes no number
        self.logs = log_schedule(train["log"], self.steps)
        self.snapshots = Schedule(self.steps, None, -1, train["snapshots"])
        self.kept = set(train["snapshots"])
        self.stop: dict[str, float | dict[str, float]] = train.get("stop", {})
        self.history = History(record.add_rows)
        self.left: dict[str, Tensor] = {}  # parameters [M, ...] of stopped members

    def go_on(self, saved: dict[str, Any] | None) -> None:
        """Go on from what `saved` holds; from the beginning if None."""
        if saved is None:
            return
        self.run.restore(saved["groups"])
        self.step, self.seen = int(saved["step"]), int(saved["seen"])
        self.left = {key: value.to(self._device) for key, value in saved["left"].items()}

    def saved(self) -> dict[str, Any]:
        """All that a later process needs, as tensors; the history so far is in the record."""
        self.history.flush()
        places = {"step": torch.tensor(self.step), "seen": torch.tensor(self.seen)}
        return {"groups": self.run.saved(), "left": self.left, **places}

    def finish(self, progress: Callable[[int, int], None]) -> None:
        """Train to the end, or until every member has stopped."""
        while True:
            if self.seen < self.step:
                self._look(progress)
                self.seen = self.step
            if self.step == self.steps or not self.run.places:
                break
            self._move()
            self.record.after(self.step, self.saved)
        for step in sorted(kept for kept in self.kept if kept > self.step):
            self._keep(step, {})
        self.history.flush()
        self.record.step = self.step

    def _move(self) -> None:
        """Move to the next log or snapshot, or for a second or so: then the run can be saved."""
        event = min(self.logs.next(self.step + 1), self.snapshots.next(self.step + 1))
        steps = min(event - self.step, self.stride)
        start, spent = time.monotonic(), time.process_time()
        self.run.move(steps)
        on_cpu = self._device.type == "cpu"
        if not on_cpu:
            torch.cuda.synchronize(self._device)
        self.step += steps
        seconds = time.monotonic() - start
        self.record.updates.add(steps, time.process_time() - spent if on_cpu else seconds)
        if steps == self.stride and seconds < SECOND / 2:
            self.stride *= 2
        elif seconds > SECOND:
            self.stride = max(1, self.stride // 2)

    @property
    def _device(self) -> torch.device:
        return self.run.data["train_inputs"].device

    def _look(self, progress: Callable[[int, int], None]) -> None:
        """Log, keep and stop, where this step asks for it."""
        logged = self.logs.next(self.step) == self.step
        if not logged and self.step not in self.kept:
            return
        params = self.run.parameters()
        if self.step in self.kept:
            self._keep(self.step, params)
        if logged:
            seen = self.run.observe(params, self.step)
            self.history.add(self.step, self.run.places, seen)
            self._stop_members(params, seen)
            progress(self.step, self.steps)

    def _keep(self, step: int, params: dict[str, Tensor]) -> None:
        """A snapshot of every member; a stopped one's parameters are those it stopped with."""
        arrays = {}
        for key in params or self.left:
            whole = self.left[key].clone() if key in self.left else params[key]
            if key in self.left and params:
                whole[self.run.places] = params[key]
            arrays[key] = whole.detach().cpu().numpy()
        self.record.add_snapshot(step, arrays)

    def _stop_members(self, params: dict[str, Tensor], seen: dict[str, np.ndarray]) -> None:
        """Freeze the members that reached the level of every column of ``train.stop``."""
        if not self.stop:
            return
        missing = sorted(self.stop.keys() - seen.keys())
        if missing:
            raise ValueError(f"train.stop: no column {missing[0]!r}; logged: {', '.join(seen)}")
        reached = [_reached(seen[column], level) for column, level in self.stop.items()]
        done = np.all(reached, axis=0)
        if not done.any():
            return
        if self.step == 0 and done.all():
            first = ", ".join(f"{column} {seen[column][0]:.6g}" for column in self.stop)
            problem = f"every member reaches it at step 0, before an update ({first})"
            raise ValueError(f"train.stop: {problem}; give other levels, or remove it")
        if not self.left:
            members = len(self.run.members)
            self.left = {k: v.new_zeros(members, *v.shape[1:]) for k, v in params.items()}
        for place in np.flatnonzero(done):
            for key, value in params.items():
                self.left[key][self.run.places[place]] = value[place]
        self.run.keep({self.run.places[place] for place in np.flatnonzero(~done)})
        self.record.updates.rebuild()


def _reached(values: np.ndarray, level: float | dict[str, float]) -> np.ndarray:
    """Where a column has reached its level; what is not a number never has."""
    if not isinstance(level, dict):
        return values >= level
    ((side, bound),) = level.items()
    return values >= bound if side == "above" else values <= bound
