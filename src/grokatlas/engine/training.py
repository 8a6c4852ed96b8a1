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

import numpy as np
import torch

from grokatlas.engine.contracts import Params, Spec, TaskData
from grokatlas.engine.history import History
from grokatlas.engine.record import Record, RunRecord, SavedRun, is_state
from grokatlas.engine.run import Run
from grokatlas.engine.schedule import Schedule, log_schedule
from grokatlas.engine.start import Start

SECOND = 1.0  # seconds between two moments at which a run can be saved


def train(
    spec: Spec,
    data: TaskData,
    device: torch.device,
    record: RunRecord | None = None,
    progress: Callable[[int, int], None] = lambda step, steps: None,
    start: Start | None = None,
) -> RunRecord:
    """Train every member of a run.

    Args:
        spec: the run's spec.
        data: its data set.
        device: where to train.
        record: where history and snapshots go, and what to go on from; in memory if absent.
        progress: called with the step and the number of steps after each log.
        start: of a run that starts from another's snapshot.

    Returns:
        the record.
    """
    record = record if record is not None else Record()
    trainer = Trainer(Run(spec, data, device, start), record)
    trainer.resume(record.restored())
    trainer.finish(progress)
    return record


class Trainer:
    """The state of a run in training: its step, and the parameters of members that stopped.

    Args:
        run: the members.
        record: where history and snapshots go.
    """

    def __init__(self, run: Run, record: RunRecord) -> None:
        if "start" in run.spec and run.start is None:
            raise ValueError("start: the run starts from another's snapshot, and none is given")
        train = run.spec["train"]
        self.run = run
        self.record = record
        self.step = 0
        self.recorded_step = -1  # the last step whose history and snapshots are in the record
        self.steps: int = train["steps"]
        self.chunk = 1  # steps of one move; its size changes no number
        self.logs = log_schedule(train["log"], self.steps)
        self.snapshots = Schedule(self.steps, None, -1, train["snapshots"])
        self.snapshot_steps = set(train["snapshots"])
        self.state_steps = set(train.get("optimizer_states", []))  # some of these steps
        self.stop: dict[str, float | dict[str, float]] = train.get("stop", {})
        self.history = History(record.add_rows)
        self.stopped_params: Params = {}  # last ones [M, ...] of stopped members

    def resume(self, saved: SavedRun | None) -> None:
        """Resume from a saved state; begin at step 0 if there is none."""
        if saved is None:
            return
        self.run.restore(saved["groups"])
        self.step, self.recorded_step = int(saved["step"]), int(saved["seen"])
        self.stopped_params = {key: value.to(self._device) for key, value in saved["left"].items()}

    def saved(self) -> SavedRun:
        """All that a later process needs, as tensors; the history so far is in the record."""
        self.history.flush()
        return {
            "groups": self.run.saved(),
            "left": self.stopped_params,
            "step": torch.tensor(self.step),
            "seen": torch.tensor(self.recorded_step),
        }

    def finish(self, progress: Callable[[int, int], None]) -> None:
        """Train to the end, or until every member has stopped."""
        while True:
            if self.recorded_step < self.step:
                self._observe(progress)
                self.recorded_step = self.step
            if self.step == self.steps or not self.run.indices:
                break
            self._move()
            self.record.after(self.step, self.saved)
        for step in sorted(each for each in self.snapshot_steps if each > self.step):
            self._take_snapshot(step, {})
        self.history.flush()
        self.record.step = self.step

    def _move(self) -> None:
        """Move to the next log or snapshot, or for a second or so: then the run can be saved."""
        event = min(self.logs.next(self.step + 1), self.snapshots.next(self.step + 1))
        steps = min(event - self.step, self.chunk)
        start, spent = time.monotonic(), time.process_time()
        self.run.move(steps)
        self.record.updates.how = self.run.how
        on_cpu = self._device.type == "cpu"
        if not on_cpu:
            torch.cuda.synchronize(self._device)
        self.step += steps
        seconds = time.monotonic() - start
        self.record.updates.add(steps, time.process_time() - spent if on_cpu else seconds)
        if steps == self.chunk and seconds < SECOND / 2:
            self.chunk *= 2
        elif seconds > SECOND:
            self.chunk = max(1, self.chunk // 2)

    @property
    def _device(self) -> torch.device:
        return self.run.data["train_inputs"].device

    def _observe(self, progress: Callable[[int, int], None]) -> None:
        """Log, take a snapshot and stop members, where this step asks for it."""
        logged = self.logs.next(self.step) == self.step
        if not logged and self.step not in self.snapshot_steps:
            return
        params = self.run.parameters()
        whole = {**params, **self.run.optimizer_state()} if self.state_steps else params
        if self.step in self.snapshot_steps:
            self._take_snapshot(self.step, whole)
        if logged:
            columns = self.run.observe(params, self.step)
            self.history.add(self.step, self.run.indices, columns)
            self._stop_members(whole, columns)
            progress(self.step, self.steps)

    def _take_snapshot(self, step: int, params: Params) -> None:
        """Record every member's parameters; those of a stopped member are its last ones.

        So is the state of its optimizer, at the steps at which that is recorded too.
        """
        arrays = {}
        for key in params or self.stopped_params:
            if is_state(key) and step not in self.state_steps:
                continue
            whole = self.stopped_params[key].clone() if key in self.stopped_params else params[key]
            if key in self.stopped_params and params:
                whole[self.run.indices] = params[key]
            arrays[key] = whole.detach().cpu().numpy()
        self.record.add_snapshot(step, arrays)

    def _stop_members(self, params: Params, columns: dict[str, np.ndarray]) -> None:
        """Freeze the members that reached the level of every column of ``train.stop``."""
        if not self.stop:
            return
        missing = sorted(self.stop.keys() - columns.keys())
        if missing:
            raise ValueError(f"train.stop: no column {missing[0]!r}; logged: {', '.join(columns)}")
        reached = [_reached(columns[column], level) for column, level in self.stop.items()]
        done = np.all(reached, axis=0)
        if not done.any():
            return
        if self.step == 0 and done.all():
            first = ", ".join(f"{column} {columns[column][0]:.6g}" for column in self.stop)
            problem = f"every member reaches it at step 0, before an update ({first})"
            raise ValueError(f"train.stop: {problem}; give other levels, or remove it")
        if not self.stopped_params:
            members = len(self.run.members)
            self.stopped_params = {k: v.new_zeros(members, *v.shape[1:]) for k, v in params.items()}
        for index in np.flatnonzero(done):
            for key, value in params.items():
                self.stopped_params[key][self.run.indices[index]] = value[index]
        self.run.keep({self.run.indices[index] for index in np.flatnonzero(~done)})
        self.record.updates.rebuild()


def _reached(values: np.ndarray, level: float | dict[str, float]) -> np.ndarray:
    """True where a column has reached its level; a NaN never has."""
    if not isinstance(level, dict):
        return values >= level
    ((side, bound),) = level.items()
    return values >= bound if side == "above" else values <= bound
