"""Every example run gives the same bytes where its steps are recorded and replayed as on a GPU."""

import copy

import pytest
import torch
from examples.operations import WAITS, waiting
from examples.runs import MINIBATCHES, RUNS

from grokatlas import registry
from grokatlas.engine import capture
from grokatlas.plan import gpu_runs
from tests.pretended_graphs import Pretended
from tests.runs import begun
from tests.tiers import every

CPU = torch.device("cpu")
STEPS = (14, 1, 9)  # a chunk and single steps
# dynamics with an `advance` move by it
STEPPED = [
    name
    for name, spec in RUNS.items()
    if not hasattr(registry.load("dynamics", spec["dynamics"]["name"]), "advance")
]


def _moved(run, monkeypatch, recorder):
    spec = copy.deepcopy(RUNS[run])
    if run in MINIBATCHES:
        spec["train"] |= {"batch_size": MINIBATCHES[run], "shuffle": True}
    monkeypatch.setattr(capture, "recorder", lambda device: recorder)
    made = begun(spec)
    for steps in STEPS:
        made.move(steps)
    return made


@pytest.mark.parametrize("run", every(5, STEPPED))
def test_replayed_steps_give_the_bytes_of_steps_one_by_one(run, monkeypatch):
    recorder = Pretended()
    expected = _moved(run, monkeypatch, None)
    found = _moved(run, monkeypatch, recorder)
    torch.testing.assert_close(found.saved(), expected.saved(), rtol=0, atol=0, equal_nan=True)
    waits = {name for group in found.groups for name in group.waits}
    assert bool(recorder.recorded) == (not waits)


@pytest.mark.parametrize("run", STEPPED)
def test_a_component_says_that_its_steps_wait_for_the_host(run):
    """By ``WAITS`` in its file, so that a plan knows without tracing which runs are captured.

    `test_accelerator.py` holds the list of components that wait on an accelerator; on a CPU others
    may, as the nuclear norm takes its polar factor there from an SVD.
    """
    assert bool(gpu_runs.waiting(RUNS[run])) == bool(waiting(RUNS[run], "update"))


def test_the_engine_knows_every_operation_that_waits_for_the_host():
    """`examples/operations.py` has the source of each; a mask is seen by its dtype alone."""
    names = {f"aten.{name}.default" for name in WAITS if " by a mask" not in name}
    assert capture.waits(names) == sorted(names)
