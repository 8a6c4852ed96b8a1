"""The state of an unfinished run on disk: saved periodically, resumed after a kill, locked.

The folder ``.state`` beside a run's results holds blocks of history, snapshots, the tensors of the
last save, and ``state.json``, which names each of these files with its sha256 and is replaced last:
whatever moment a process dies at, it names a whole state or none. Everything is keyed by the
digest of the run's job.
"""

import contextlib
import shutil
import signal
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np

from grokatlas.engine.record import Updates
from grokatlas.errors import UserError
from grokatlas.results import files, hashing, layout, locks

STATE = "state.json"
ROW_GROUP = 1 << 17  # rows of history that a reader has to hold at least
SIGNALS = ("SIGHUP", "SIGINT", "SIGTERM", "SIGUSR1")
CAN_BE_IGNORED = ("SIGHUP", "SIGINT")


class InterruptedRunError(UserError):
    """A run was asked to stop by a signal, and saved its state first."""

    def __init__(self, place: str, step: int, number: int) -> None:
        name = signal.Signals(number).name
        super().__init__(place, f"stopped by {name} at step {step}; run it again to go on")
        self.code = 128 + number


@contextlib.contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold the lock of a run's folder, so that one process at a time trains it."""

    def tell(holder: str) -> None:
        who = f"another process trains it{holder and f' ({holder})'}"
        print(f"run {folder.name}: {who}; waiting", file=sys.stderr)

    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(str(folder), f"cannot be written: {error.strerror or error}") from None
    with locks.held(folder / layout.LOCK, waiting=tell):
        yield


class Savepoint:
    """The record of a run (see `record.Record`), on disk.

    Args:
        folder: the run's folder.
        key: digest of the run's job; a state of another one is set aside.
        period: seconds between two saves.
        segment: facts of this process's part of the run, for the manifest.

    Attributes:
        device: kind of device that trains; a state saved on another kind is left for that kind.
        step: the step that the run is at, in the end.
        moved: called with every step at which the run could be saved.
    """

    device = "cpu"
    step = 0

    def __init__(self, folder: Path, key: str, period: float, segment: dict[str, Any]) -> None:
        self.folder = folder / layout.STATE
        self.key = key
        self.period = period
        self.segments: list[dict[str, Any]] = []
        self.seconds = 0.0  # spent by the processes before this one
        self.updates = Updates()  # of this process
        self._segment = {**segment, "start_step": 0}
        self._files: dict[str, list[list[str]]] = {"history": [], "snapshots": []}
        self._started = self._last = time.monotonic()
        self._asked = 0
        self.moved: Callable[[int], None] = lambda step: None

    @contextlib.contextmanager
    def listening(self) -> Iterator[None]:
        """While this holds, a signal that ends a process makes the run save and stop first.

        Those that a user or a shell makes a process ignore from its start stay ignored: SIGHUP
        under ``nohup``, SIGINT of a job in the background. The process ends with the run: once that
        is done, no signal but SIGKILL ends it sooner, as Snakemake takes the outputs of a job that
        one ended for damaged.
        """

        def ask(number: int, _frame: FrameType | None) -> None:
            self._asked = number

        before = {}
        for name in SIGNALS:
            number = getattr(signal, name, None)  # not every system has all of them
            if number is None:
                continue
            if name in CAN_BE_IGNORED and signal.getsignal(number) == signal.SIG_IGN:
                continue
            before[number] = signal.signal(number, ask)
        try:
            yield
            before = dict.fromkeys(before, signal.SIG_IGN)
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def restored(self) -> dict[str, Any] | None:
        """The tensors of the last save, as nested dicts; None to begin.

        A state of other code, another spec or with damage is set aside, never used.

        Raises:
            UserError: the state was saved on another kind of device, or cannot be read now.
        """
        if not (self.folder / STATE).exists():
            return None
        try:
            (self.folder / STATE).read_bytes()  # what cannot be read is no damage
            content = files.read_sealed(self.folder / STATE)
            if content["key"] != self.key:
                raise UserError(str(self.folder), "is of another version of this run")
            for name, recorded in [content["tensors"], *content["history"], *content["snapshots"]]:
                if hashing.file_sha256(self.folder / name) != recorded:
                    raise UserError(str(self.folder / name), "is damaged")
            tensors = _read_tensors(self.folder / content["tensors"][0])
        except FileNotFoundError as error:
            self._set_aside(f"{error.filename} is missing")
            return None
        except OSError as error:  # of the disk or the network: the state may be whole
            problem = f"cannot be read: {error.strerror}; run again when it can"
            raise UserError(str(error.filename or self.folder), problem) from None
        except UserError as error:
            self._set_aside(str(error))
            return None
        if content["device"] != self.device:
            problem = f"was saved on {content['device']}, this is {self.device}"
            rest = f"go on there, or remove {self.folder} to train from step 0"
            raise UserError(f"run {self.folder.parent.name}", f"its state {problem}; {rest}")
        self._files = {kind: list(content[kind]) for kind in self._files}
        self.segments = content["segments"]
        self.seconds = content["seconds"]
        self._segment["start_step"] = content["step"]
        print(
            f"run {self.folder.parent.name}: goes on from step {content['step']}", file=sys.stderr
        )
        return tensors

    def add_rows(self, rows: dict[str, np.ndarray]) -> None:
        """The next rows of history, by column."""
        import pyarrow as pa
        from pyarrow import parquet

        path = self.folder / f"history-{len(self._files['history']):06d}.parquet"
        with files.atomic(path) as temporary:
            table = pa.table({name: _column(values) for name, values in rows.items()})
            parquet.write_table(table, temporary, compression="zstd")
        self._files["history"].append([path.name, hashing.file_sha256(path)])

    def add_snapshot(self, step: int, arrays: dict[str, np.ndarray]) -> None:
        """Every member's parameters at a step."""
        path = self.folder / f"snapshot-{step:010d}.safetensors"
        files.write_arrays(path, {f"{step:010d}/{key}": a for key, a in arrays.items()}, {})
        self._files["snapshots"].append([path.name, hashing.file_sha256(path)])

    def after(self, step: int, saved: Callable[[], dict[str, Any]]) -> None:
        """Save, if it is time to or if a signal asked for it."""
        if self._asked:  # first: who asked may not read any more what is said of the progress
            self.save(step, saved())
            raise InterruptedRunError(f"run {self.folder.parent.name}", step, self._asked)
        self.moved(step)
        if time.monotonic() - self._last >= self.period:
            self.save(step, saved())

    def save(self, step: int, tensors: dict[str, Any]) -> None:
        """Replace the saved state; the one before stays whole until this one is."""
        path = self.folder / f"tensors-{step:010d}.safetensors"
        _write_tensors(path, tensors)
        content = {
            "key": self.key,
            "device": self.device,
            "step": step,
            "tensors": [path.name, hashing.file_sha256(path)],
            "segments": self.all_segments(step),
            "seconds": self.spent(),
            **self._files,
        }
        files.write_json(self.folder / STATE, files.sealed(content))
        for old in self.folder.glob("tensors-*"):
            if old != path:
                old.unlink()
        self._last = time.monotonic()

    def all_segments(self, step: int) -> list[dict[str, Any]]:
        """The parts of the run, one for each process, this one's up to `step`."""
        return [*self.segments, {**self._segment, "end_step": step}]

    def spent(self) -> float:
        """Seconds that the run took so far, all processes together."""
        return round(self.seconds + time.monotonic() - self._started, 3)

    def finish(self, history: Path, snapshots: Path) -> None:
        """Write the run's history and snapshots from what was gathered."""
        _join_history([self.folder / name for name, _ in self._files["history"]], history)
        arrays: dict[str, Any] = {}
        for name, _ in self._files["snapshots"]:
            arrays |= _read_arrays(self.folder / name)
        files.write_arrays(snapshots, arrays, {})

    def remove(self) -> None:
        """Remove the saved state and the lock of a finished run."""
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.with_name(layout.LOCK).unlink(missing_ok=True)

    def _set_aside(self, problem: str) -> None:
        number = 1
        while (aside := self.folder.with_name(f"{layout.STATE}.refused-{number}")).exists():
            number += 1
        try:
            self.folder.replace(aside)
        except OSError as error:
            rest = f"and cannot be set aside: {error.strerror}; move {self.folder} away"
            raise UserError(problem, rest) from None
        print(f"{problem}; set aside as {aside.name}, training from step 0", file=sys.stderr)


def _column(values: np.ndarray) -> Any:
    """Numbers as a column of a table, by their memory: `pyarrow.array` imports pandas first."""
    import pyarrow as pa

    if values.dtype == bool:  # a bit each
        return pa.array(values)
    buffers = [None, pa.py_buffer(values)]
    return pa.Array.from_buffers(pa.from_numpy_dtype(values.dtype), len(values), buffers)


def _join_history(blocks: list[Path], path: Path) -> None:
    """Write blocks of history as one file, in row groups that do not depend on the blocks."""
    import pyarrow as pa
    from pyarrow import parquet

    with files.atomic(path) as temporary:
        schema = parquet.read_schema(blocks[0])
        with parquet.ParquetWriter(temporary, schema, compression="zstd") as writer:
            waiting = pa.Table.from_batches([], schema)
            for block in blocks:
                waiting = pa.concat_tables([waiting, parquet.ParquetFile(block).read()])
                while len(waiting) >= ROW_GROUP:
                    writer.write_table(waiting.slice(0, ROW_GROUP).combine_chunks())
                    waiting = waiting.slice(ROW_GROUP)
            if len(waiting):
                writer.write_table(waiting.combine_chunks())


def _flat(tree: dict[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in tree.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{prefix}{key}/")
        else:
            yield prefix + key, value


def _write_tensors(path: Path, tree: dict[str, Any]) -> None:
    """Write nested tensors; a name of many parts is their path, joined by slashes."""
    arrays = {key: value.detach().cpu().numpy() for key, value in _flat(tree)}
    files.write_arrays(path, {key: np.ascontiguousarray(a) for key, a in arrays.items()}, {})


def _read_tensors(path: Path) -> dict[str, Any]:
    import torch

    tree: dict[str, Any] = {"left": {}}
    for key, array in _read_arrays(path).items():
        *parents, name = key.split("/")
        branch = tree
        for parent in parents:
            branch = branch.setdefault(parent, {})
        branch[name] = torch.from_numpy(array.copy())
    return tree


def _read_arrays(path: Path) -> dict[str, Any]:
    from safetensors import SafetensorError
    from safetensors.numpy import load_file

    try:
        arrays: dict[str, Any] = load_file(path)
    except SafetensorError as error:
        raise UserError(str(path), f"is no safetensors file ({error})") from None
    return arrays
