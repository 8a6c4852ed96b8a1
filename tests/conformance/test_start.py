"""A run that starts from another's snapshot keeps what runs promise: killed, and in company."""

import copy
from pathlib import Path

import numpy as np
import pytest
import torch
from examples.runs import MINIBATCHES, RUNS
from test_resumption import KilledError, die

from grokatlas.engine import start, training
from grokatlas.engine.start import Start
from grokatlas.results import layout
from grokatlas.rules.jobs import savepoint
from tests.runs import data_of, trained
from tests.tiers import every

BY_GRADIENTS = [n for n, spec in RUNS.items() if "optimizer" in spec and "coordinates" not in spec]
OF_EQUATIONS = [name for name, spec in RUNS.items() if "optimizer" not in spec]


@pytest.fixture(autouse=True)
def _saves_come_after_every_step(monkeypatch):
    monkeypatch.setattr(training, "SECOND", 0.0)


def _family(run: str, optimizer: str) -> tuple[dict, Start]:
    """A child of a run, and where it starts."""
    parent = copy.deepcopy(RUNS[run])
    parent["train"] |= {"steps": 5, "log": {"every": 2, "first": 1}, "snapshots": [0, 5]}
    if run in MINIBATCHES:
        parent["train"] |= {"batch_size": MINIBATCHES[run], "shuffle": True}
    child = copy.deepcopy(parent) | {"start": {"runs": ["a"], "step": 5, "optimizer": optimizer}}
    child["train"] |= {"steps": 8, "snapshots": [0, 4, 8]}
    if optimizer == "kept":
        parent["train"]["optimizer_states"] = [5]
    found = trained(parent).snapshots
    arrays = {key.partition("/")[2]: array for key, array in found.items() if int(key[:10]) == 5}
    return child, start.gathered(child, [(parent, arrays)])


def _train(spec: dict, begin: Start, folder: Path) -> list[bytes]:
    record = savepoint.Savepoint(folder, "key", 0.0, {})
    trained(spec, record=record, start=begin)
    record.finish(*layout.outputs("run", folder))
    return [file.read_bytes() for file in layout.outputs("run", folder)]


@pytest.mark.parametrize(
    ("run", "optimizer"),
    every(9, [*((n, "kept") for n in BY_GRADIENTS), *((n, "fresh") for n in OF_EQUATIONS)]),
)
def test_a_killed_child_goes_on_as_if_it_was_not(run, optimizer, tmp_path, monkeypatch, capsys):
    child, begin = _family(run, optimizer)
    whole = _train(child, begin, tmp_path / "whole")
    with monkeypatch.context() as patch:
        die(patch, 14)
        with pytest.raises(KilledError):
            _train(child, begin, tmp_path / "killed")
    assert _train(child, begin, tmp_path / "killed") == whole
    assert "goes on from step" in capsys.readouterr().err


@pytest.mark.parametrize("run", every(9, BY_GRADIENTS, first=4))
def test_a_child_alone_is_as_in_company(run):
    child, begin = _family(run, "kept")
    company = trained(child, start=begin).snapshots
    one = Start({key: array[2:] for key, array in begin.arrays.items()}, goes_on=True)
    alone = trained(child | {"ensemble": {"seed": child["ensemble"]["seed"][2:]}}, start=one)
    tolerance = 1e-9 if child["train"]["dtype"] == "float64" else 2e-3
    for key, array in company.items():
        np.testing.assert_allclose(alone.snapshots[key][0], array[2], tolerance, tolerance)


@pytest.mark.parametrize("run", every(9, OF_EQUATIONS + BY_GRADIENTS, first=6))
def test_every_dynamics_starts_from_a_snapshot(run):
    child, begin = _family(run, "fresh")
    found = trained(child, start=begin)
    assert all(np.isfinite(array).all() for array in found.snapshots.values())
    made = training.Run(child, data_of(child), torch.device("cpu"), begin)
    for key, value in made.params.items():
        assert np.array_equal(value.numpy(), begin.arrays[key])


def test_a_dynamics_without_an_optimizer_has_no_state_to_keep():
    with pytest.raises(ValueError, match="the state of this dynamics has no optimizer, from which"):
        _family("isolated", "kept")
    child, begin = _family("isolated", "fresh")
    with pytest.raises(ValueError, match="has no optimizer that could go on; write optimizer: fr"):
        trained(child, start=Start(begin.arrays, goes_on=True))
