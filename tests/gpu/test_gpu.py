"""A GPU computes the same bytes each time, goes on after a kill, and agrees with the CPU.

python -m pytest tests/gpu
"""

import copy
import os

import numpy as np
import pytest
import torch

from grokatlas.engine import capture, noise, training
from grokatlas.engine.record import Record
from grokatlas.engine.run import Run
from grokatlas.plan import gpu_runs
from grokatlas.results import layout
from grokatlas.rules.jobs import devices, savepoint
from tests.runs import addition, data_of, mlp, schedule
from tests.unit.engine.test_capture import CASES

pytestmark = pytest.mark.skipif(
    not torch.cuda.is_available(), reason="needs a CUDA device (python -m pytest tests/gpu)"
)
DEVICE = torch.device("cuda")
STEPS = 200
# of every logged number and parameter after so many steps in float64: sums are taken in another
# order, and a step of Adam does not damp what that changes in the last digit
TOLERANCE = 1e-7

SOLVED = {  # dynamics whose step solves a system of equations
    "isolated_first_layer": {"rate": 0.01},
    "joint_layers": {"rate": 0.01, "ratio": 2.0},
    "ridge_first_layer": {"rate": 0.01, "weight_decay": 1e-3},
}


@pytest.fixture(autouse=True)
def _repeatable():
    """As in a job: only operations that compute the same bytes each time, or an error."""
    before = torch.get_deterministic_debug_mode()
    devices.use_repeatable_kernels()
    yield
    torch.set_deterministic_debug_mode(before)


def _trained(spec, device=DEVICE, record=None):
    return training.train(spec, data_of(spec), device, record or Record())


def _equal(found, expected):
    for one, other in (
        (found.history, expected.history),
        (found.snapshots, expected.snapshots),
    ):
        assert one.keys() == other.keys()
        for key, values in one.items():
            np.testing.assert_array_equal(values, other[key], err_msg=key)


@pytest.mark.parametrize("case", CASES)
def test_the_same_run_twice_ends_with_the_same_bytes(case):
    first = _trained(CASES[case])
    assert first.updates.how == "captured"
    _equal(_trained(CASES[case]), first)


@pytest.mark.parametrize("case", CASES)
def test_captured_steps_give_the_bytes_of_steps_one_by_one(case, monkeypatch):
    captured = _trained(CASES[case])
    monkeypatch.setenv("GROKATLAS_CAPTURE", "0")
    plain = _trained(CASES[case])
    assert plain.updates.how.startswith("one by one")
    _equal(plain, captured)


class KilledError(BaseException):
    """Stands for `kill -9`: nothing may catch it."""


def _on_disk(spec, folder, killed_at=None):
    record = savepoint.Savepoint(folder, "key", 0.0, {})
    if killed_at is not None:
        after = record.after

        def then_die(step, saved):
            after(step, saved)
            if step >= killed_at:
                raise KilledError

        record.after = then_die
    training.train(spec, data_of(spec), DEVICE, record)
    record.finish(*layout.outputs("run", folder))
    return [file.read_bytes() for file in layout.outputs("run", folder)]


@pytest.mark.parametrize("case", ["full_batch", "noise_and_batches", "epochs", "window"])
def test_a_run_that_was_killed_and_goes_on_ends_with_the_same_bytes(case, tmp_path):
    whole = _on_disk(CASES[case], tmp_path / "whole")
    for step in (2, 60, 131):
        with pytest.raises(KilledError):
            _on_disk(CASES[case], tmp_path / "killed", step)
    assert _on_disk(CASES[case], tmp_path / "killed") == whole


@pytest.mark.parametrize("case", sorted(CASES))
def test_gpu_and_cpu_agree_in_float64(case):
    spec = copy.deepcopy(CASES[case])
    spec["train"] |= {"dtype": "float64", "steps": STEPS, "snapshots": [STEPS]}
    gpu, cpu = _trained(spec), _trained(spec, torch.device("cpu"))
    for one, other in ((gpu.history, cpu.history), (gpu.snapshots, cpu.snapshots)):
        for key, values in one.items():
            np.testing.assert_allclose(
                values, other[key], rtol=TOLERANCE, atol=TOLERANCE, err_msg=key
            )


def test_a_run_takes_no_more_memory_than_the_forecast():
    spec = copy.deepcopy(CASES["one_rate"])
    spec["model"] |= {"width": 4096, "hidden_layers": 2}
    torch.cuda.empty_cache()
    torch.cuda.reset_peak_memory_stats()
    before = torch.cuda.memory_allocated()
    run = Run(spec, data_of(spec), DEVICE)
    run.move(30)
    run.observe(run.parameters(), 30)
    peak = torch.cuda.max_memory_allocated() - before
    needs = gpu_runs.needs(spec)
    assert needs.bytes(needs.members) / 2.2 < peak < needs.bytes(needs.members)


def test_a_draw_is_one_kernel_with_the_bits_of_the_cpu():
    pytest.importorskip("triton")
    shape, seeds = (200, 784), torch.arange(4)
    draws = [
        noise.standard_normal(here, "inputs.0", 7, shape, torch.float64)
        for here in (seeds, seeds.cuda())
    ]
    assert torch.equal(draws[0], draws[1].cpu())
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as profile:
        noise.standard_normal(seeds.cuda(), "inputs.0", 7, shape, torch.float64)
    kernels = [event.name for event in profile.events() if "_kernel" in event.name]
    assert len([name for name in kernels if name.startswith("_kernel")]) == 1


@pytest.mark.parametrize("name", sorted(SOLVED))
def test_steps_that_solve_systems_of_several_members_are_recorded(name):
    model = (
        {"name": "fitted_mlp", "width": 64, "excess": 0.5}
        if name == "joint_layers"
        else mlp(48, bias=False)
    )
    spec = {
        "task": addition(7, "summed", pairs="unordered"),
        "model": model,
        "loss": {"name": "mse", "reduction": "sample_mean", "half": True},
        "dynamics": {"name": name, **SOLVED[name]},
        "observables": [{"name": "losses"}],
        "train": schedule(STEPS, every=20),
        "ensemble": {"seed": [0, 1, 2]},
    }
    record = _trained(spec)
    assert record.updates.how == "captured"
    cpu = _trained(spec, torch.device("cpu"))
    for key, values in record.history.items():
        np.testing.assert_allclose(values, cpu.history[key], rtol=TOLERANCE, atol=TOLERANCE)


def test_numbers_can_be_drawn_after_a_recording_that_failed():
    recorder = capture.CudaRecorder(DEVICE)
    values = torch.arange(4.0, device=DEVICE)
    with pytest.raises(RuntimeError):
        recorder.record(lambda: values.sum().item())
    assert torch.randn(3, device=DEVICE).isfinite().all()


def test_what_makes_products_repeatable_is_set():
    assert os.environ["CUBLAS_WORKSPACE_CONFIG"] == ":4096:8"
