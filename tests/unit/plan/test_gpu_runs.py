"""The memory that a run needs of a GPU: against measured peaks, and how members are divided."""

import json
import os
import sys
from pathlib import Path
from unittest import TestCase

import pytest
import torch

from grokatlas.engine import dataset, members, memory, run, training
from grokatlas.engine.memory import Needs, group_size
from grokatlas.plan import gpu_runs
from tests.checkout import called, declared_plan
from tests.runs import xor_spec
from tests.tiers import every

GB = 10**9
# bounds of a forecast over a measured peak; the peak of one run differs by up to 1.8 from one
# measurement to the next, as the system takes pages back that a process does not use
LEAST, MOST = 0.8, 4.0
PENALTY = {"name": "jacobian", "form": "norm", "projections": 1, "weight": 1.0}
ADAMW = {"name": "adamw", "lr": 1e-3, "beta1": 0.9, "beta2": 0.99, "eps": 1e-8}
# the peak of this process above what it held before, while its members move as one group
PEAK = """
import json, sys
import torch
from grokatlas.engine import dataset, members, run
from grokatlas.engine.run import Run

def held(key):
    lines = open("/proc/self/status").read().splitlines()
    return next(int(line.split()[1]) << 10 for line in lines if line.startswith(key))

spec, small = json.loads(sys.argv[1])
torch.set_num_threads(1)
run.CACHE = 1 << 60
for each in (small, spec):
    data = dataset.make(members.tasks(each))
    before = held("VmRSS")
    made = Run(each, data, torch.device("cpu"))
    for group in made.groups:
        open("/proc/self/clear_refs", "w").write("5")
        group.move(2)
        made.observe(made.parameters(), 2)
print(held("VmHWM") - before)
"""


@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="reads peaks of Linux")
@pytest.mark.parametrize(
    "spec",
    every(
        5,
        [
            xor_spec(),
            xor_spec(penalties=[PENALTY]),
            xor_spec(optimizer=ADAMW | {"decay": "decoupled", "weight_decay": 0.1}),
            xor_spec(features=10, width=256, layers=3, points=8000, dtype="float32"),
            xor_spec(features=10, width=256, points=16000, dtype="float32", penalties=[PENALTY]),
        ],
    ),
    ids=["sgd", "jacobian", "adamw", "activations", "activations_jacobian"],
)
def test_a_forecast_is_near_a_measured_peak(spec):
    """Of smaller runs on a CPU: what XOR at p = 40,000 holds is of the same kind."""
    small = spec | {"task": spec["task"] | {"features": 8, "train_points": 8, "test_points": 8}}
    small["model"] = spec["model"] | {"width": 4}
    command = [sys.executable, "-c", PEAK, json.dumps([spec, small])]
    # with the settings of jobs, libc keeps what was freed before the baseline was read
    kept = {key: value for key, value in os.environ.items() if not key.startswith("MALLOC_")}
    done = called(*command, check=True, env=kept)
    measured = int(done.stdout)
    needs = gpu_runs.needs(spec)
    forecast = needs.bytes(needs.members)
    assert LEAST < forecast / measured < MOST, (forecast, measured)


def _xor(case, **train):
    runs = {
        job.target: job.spec for job in declared_plan("paper").tables["grokalign", "xor"].inputs
    }
    (spec,) = [
        s for s in runs.values() if "task" in s and ("penalties" in s) == (case == "grokalign")
    ]
    spec = spec | {"ensemble": spec["ensemble"] | {"seed": list(range(10))}}
    kept = {key: value for key, value in spec["train"].items() if key != "coordinates"}
    return spec if train.get("span") else spec | {"train": kept}


@pytest.mark.parametrize("case", ["weight_decay", "grokalign"])
def test_ten_members_of_xor_at_the_published_size_fit_80_gb(case):
    whole, span = (gpu_runs.needs(_xor(case, span=span)) for span in (False, True))
    parameters = 8 * 2048 * (40_000 + 1)
    assert whole.parameters == parameters
    assert whole.members == 10
    # parameters at the start and now, and some copies in a step
    assert 5.5 * 10 * parameters < whole.bytes(10) < 40 * GB
    assert group_size(whole, 80 * GB) == 10
    assert span.bytes(10) < 5 * GB
    assert group_size(span, 80 * GB) == 10
    # a smaller GPU takes them in groups, an even smaller one not at all
    assert group_size(whole, 32 * GB) == 5
    assert group_size(whole, 8 * GB) == 0


def test_groups_are_of_nearly_equal_size_and_fit():
    needs = Needs(members=10, parameters=GB, kept=0, batch=0, looks=0, data=0)
    assert needs.bytes(10) == 55 * GB
    sizes = {total: group_size(needs, total * GB) for total in range(20, 70)}
    assert sizes[69] == 10
    assert sizes[55] == 5  # 49.5 GB may be used: eight fit, and two groups of five are as many
    assert {total for total, size in sizes.items() if size == 0} == set(range(20, 27))
    for total, size in sizes.items():
        assert size == 0 or needs.bytes(size) <= memory.USED * total * GB


def test_the_engine_divides_members_by_the_memory_of_a_gpu(monkeypatch):
    spec = xor_spec(count=4, features=8, points=8, width=16)
    data = dataset.make(members.tasks(spec))
    together = training.train(spec, data, torch.device("cpu")).history
    needs = run.Run(spec, data, torch.device("cpu")).needs()
    total = int(needs.bytes(2) / memory.USED) + 1
    monkeypatch.setattr(run, "_memory_of", lambda device: total)
    with TestCase().assertLogs("grokatlas.engine.run") as logged:
        made = run.Run(spec, data, torch.device("cpu"))
    assert [group.indices for group in made.groups] == [[0, 1], [2, 3]]
    assert "2 of 4 members move together on the GPU" in logged.output[0]
    divided = training.train(spec, data, torch.device("cpu")).history
    torch.testing.assert_close(divided["train_loss"], together["train_loss"])
    monkeypatch.setattr(run, "_memory_of", lambda device: 1000)
    with pytest.raises(ValueError, match=r"do not fit even one by one: about .* fewer members"):
        run.Run(spec, data, torch.device("cpu"))
