"""A run that is killed anywhere and run again leaves the bytes of a run that was not."""

import copy
import os
from pathlib import Path

import numpy as np
import pytest
from examples.runs import MINIBATCHES, RUNS

from grokatlas import registry
from grokatlas.engine import training
from grokatlas.results import layout
from grokatlas.rules.jobs import savepoint
from tests.runs import trained
from tests.tiers import every


class KilledError(BaseException):
    """Stands for `kill -9`: nothing may catch it."""


@pytest.fixture(autouse=True)
def _saves_come_after_every_step(monkeypatch):
    monkeypatch.setattr(training, "SECOND", 0.0)


def _spec(run: str, **train) -> dict:
    spec = copy.deepcopy(RUNS[run])
    # a dynamics of many steps in a call is saved from log to log, the others after every step
    leaps = hasattr(registry.load("dynamics", spec["dynamics"]["name"]), "advance")
    log = {"every": 1 if leaps else 3, "first": 1}
    spec["train"] |= {"steps": 12, "log": log, "snapshots": [0, 5, 12]} | train
    if run in MINIBATCHES:
        spec["train"] |= {"batch_size": MINIBATCHES[run], "shuffle": True}
    return spec


def _train(spec: dict, folder: Path, period: float = 0.0, key: str = "key") -> None:
    """Train in this process as a job does, saving after every step."""
    record = savepoint.Savepoint(folder, key, period, {})
    trained(spec, record=record)
    record.finish(*layout.outputs("run", folder))


def _bytes(folder: Path) -> list[bytes]:
    return [file.read_bytes() for file in layout.outputs("run", folder)]


def _goes_on(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The last training went on from a saved step, and refused no state."""
    assert "goes on from step" in capsys.readouterr().err.splitlines()[-1]
    assert not list(folder.glob(f"{layout.STATE}.refused-*"))


def die(monkeypatch, writes: int) -> None:
    """The process dies before, during or after the rename of a file, `writes` writes from now."""
    left = [writes]
    real = Path.replace

    def replace(self, target):
        left[0] -= 1
        if left[0] == 0:
            if writes % 2:
                real(self, target)
            raise KilledError
        return real(self, target)

    monkeypatch.setattr(Path, "replace", replace)


@pytest.mark.parametrize("run", every(9, RUNS, first=2))
def test_killed_at_a_random_write_and_finished_equals_undisturbed(
    run, tmp_path, monkeypatch, capsys
):
    spec = _spec(run)
    _train(spec, tmp_path / "whole", period=1e9)
    random = np.random.default_rng(len(run))
    with monkeypatch.context() as patch:
        die(patch, int(random.integers(10, 25)))  # after the first save
        with pytest.raises(KilledError):
            _train(spec, tmp_path / "killed")
    assert (tmp_path / "killed" / ".state").exists()
    _train(spec, tmp_path / "killed")
    _goes_on(tmp_path / "killed", capsys)
    assert _bytes(tmp_path / "killed") == _bytes(tmp_path / "whole")


def test_killed_while_members_stop_one_by_one(tmp_path, monkeypatch, capsys):
    spec = _spec("mlp", steps=40, log={"every": 1, "first": 0}, snapshots=[0, 20, 40])
    level = trained(spec).history
    rising = level["l2_norm"].reshape(-1, 3)
    spec["train"]["stop"] = {"l2_norm": float(np.sort(rising.max(axis=0))[1])}
    _train(spec, tmp_path / "whole", period=1e9)
    for writes in (9, 30, 47):
        with monkeypatch.context() as patch:
            die(patch, writes)
            with pytest.raises(KilledError):
                _train(spec, tmp_path / "killed")
    _train(spec, tmp_path / "killed")
    _goes_on(tmp_path / "killed", capsys)
    assert _bytes(tmp_path / "killed") == _bytes(tmp_path / "whole")


def _half(spec: dict, folder: Path, monkeypatch, writes: int = 14) -> None:
    with monkeypatch.context() as patch:
        die(patch, writes)
        with pytest.raises(KilledError):
            _train(spec, folder)


def _damage(folder: Path, name: str) -> None:
    file = min(folder.glob(f"{layout.STATE}/{name}"))  # of two, the older is the one in use
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)


@pytest.mark.parametrize(
    "name", ["state.json", "tensors-*", "history-000000.parquet", "snapshot-0000000000*"]
)
def test_a_damaged_state_is_set_aside_with_one_line(name, tmp_path, monkeypatch, capsys):
    spec = _spec("linear")
    _train(spec, tmp_path / "whole", period=1e9)
    _half(spec, tmp_path / "run", monkeypatch)
    _damage(tmp_path / "run", name)
    capsys.readouterr()
    _train(spec, tmp_path / "run")
    (line,) = capsys.readouterr().err.splitlines()
    assert "set aside as .state.refused-1, training from step 0" in line
    assert (tmp_path / "run" / ".state.refused-1" / "state.json").exists()
    assert _bytes(tmp_path / "run") == _bytes(tmp_path / "whole")


def test_the_state_of_another_version_is_set_aside(tmp_path, monkeypatch, capsys):
    spec = _spec("linear")
    _half(spec, tmp_path / "run", monkeypatch)
    _train(spec, tmp_path / "run", key="another")
    (line,) = capsys.readouterr().err.splitlines()
    assert "is of another version of this run; set aside" in line


def test_a_missing_file_of_the_state_is_damage(tmp_path, monkeypatch, capsys):
    spec = _spec("linear")
    _half(spec, tmp_path / "run", monkeypatch)
    next((tmp_path / "run").glob(".state/tensors-*")).unlink()
    _train(spec, tmp_path / "run")
    assert "set aside" in capsys.readouterr().err


def test_a_full_disk_is_one_line_and_leaves_the_state_before(tmp_path, monkeypatch, capsys):
    spec = _spec("linear")
    _train(spec, tmp_path / "whole", period=1e9)
    _half(spec, tmp_path / "run", monkeypatch)
    before = (tmp_path / "run/.state/state.json").read_text()

    def full(_handle: int) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        with pytest.raises(savepoint.UserError, match="cannot be written: No space left"):
            _train(spec, tmp_path / "run")
    assert (tmp_path / "run/.state/state.json").read_text() == before
    capsys.readouterr()
    _train(spec, tmp_path / "run")
    assert "goes on from step" in capsys.readouterr().err
    assert _bytes(tmp_path / "run") == _bytes(tmp_path / "whole")


@pytest.mark.parametrize("name", ["tensors-*", "state.json"])
def test_a_state_that_cannot_be_read_now_is_kept(name, tmp_path, monkeypatch):
    spec = _spec("linear")
    _train(spec, tmp_path / "whole", period=1e9)
    _half(spec, tmp_path / "run", monkeypatch)
    real = Path.open

    def failing(self, *args, **kwargs):
        if self.match(name) and layout.STATE in self.parts:
            raise OSError(5, "Input/output error", str(self))
        return real(self, *args, **kwargs)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "open", failing)
        with pytest.raises(savepoint.UserError, match=r"cannot be read: Input/output error; run"):
            _train(spec, tmp_path / "run")
    _train(spec, tmp_path / "run")
    assert not list((tmp_path / "run").glob(f"{layout.STATE}.refused-*"))
    assert _bytes(tmp_path / "run") == _bytes(tmp_path / "whole")


def test_a_state_that_cannot_be_set_aside_is_one_line(tmp_path, monkeypatch):
    spec = _spec("linear")
    _half(spec, tmp_path / "run", monkeypatch)

    def denied(self, target):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "replace", denied)
    with pytest.raises(savepoint.UserError, match="cannot be set aside: Permission denied; move"):
        _train(spec, tmp_path / "run", key="another")


def test_a_file_where_the_state_belongs_is_one_line(tmp_path):
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / ".state").write_text("")
    with pytest.raises(savepoint.UserError, match="cannot be written: File exists"):
        _train(_spec("linear"), tmp_path / "run")
