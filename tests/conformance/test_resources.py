"""What a run asks of a machine follows its size."""

import copy
import math
import re
from pathlib import Path
from typing import Any

import pytest
from examples import EXAMPLES
from examples.runs import RUNS

from grokatlas import registry
from grokatlas.code import module_shape
from grokatlas.plan import gpu_runs, resources


def _changed(spec: dict[str, Any], **train: Any) -> dict[str, Any]:
    changed = copy.deepcopy(spec)
    changed["train"] |= train
    return changed


def test_a_task_that_the_core_does_not_know_is_planned_with_its_size(tmp_path, monkeypatch):
    """The one of docs/extending.md, with 1,000 bits, for a network of width 512."""
    page = (Path(__file__).parents[2] / "docs/extending.md").read_text(encoding="utf-8")
    found = re.search(
        r"`src/grokatlas/components/tasks/parity\.py`:\n\n```python\n(.*?)```", page, re.S
    )
    file = tmp_path / "parity.py"
    file.write_text(found[1])
    path = registry.path
    monkeypatch.setattr(registry, "path", lambda b, n: file if n == "parity" else path(b, n))
    monkeypatch.setattr(module_shape, "PACKAGE", tmp_path)
    task = {"name": "parity", "bits": 1000, "chosen": 3, "train_points": 100}
    spec = copy.deepcopy(RUNS["mlp"]) | {"task": task | {"test_points": 10, "data_seed": 0}}
    spec["model"] |= {"width": 512, "hidden_layers": 1, "bias": True}
    asked = resources.size(spec)
    assert asked.parameters == 513_538
    assert (asked.samples, asked.inputs) == (100, 1000)


@pytest.mark.parametrize("run", RUNS)
def test_a_longer_and_larger_run_asks_for_more(run):
    spec = _changed(RUNS[run], steps=10**8, log={"first": 0, "points": 100})
    asked = resources.seconds(spec)
    assert resources.seconds(_changed(spec, steps=10**9)) == pytest.approx(10 * asked, rel=0.2)
    crowd = copy.deepcopy(spec)
    crowd["ensemble"]["seed"] = list(range(3000))
    assert resources.seconds(crowd) > asked
    assert resources.of_run(crowd).mem_mb > resources.of_run(spec).mem_mb


def test_noise_on_parameters_takes_time_and_memory_of_a_gpu():
    spec = _changed(RUNS["mlp"], steps=10**6)
    noisy = copy.deepcopy(spec)
    noisy["ensemble"]["model.weight_noise"] = [0.1, 0.2]
    plain, needs = resources.size(spec).parameters, gpu_runs.needs(noisy)
    assert needs.noise == plain * 8
    assert needs.bytes(6) > gpu_runs.needs(spec).bytes(6)
    twice = copy.deepcopy(spec) | {"ensemble": {"seed": spec["ensemble"]["seed"] * 2}}
    drawn = 6 * plain * resources.NOISE / resources.SPEED * 10**6
    assert resources.seconds(noisy) - resources.seconds(twice) == pytest.approx(drawn, rel=0.01)


def test_minutes_are_bounded_and_grow_with_the_attempt():
    spec = _changed(RUNS["blog"], steps=10)
    first = resources.of_run(spec)
    assert first.runtime == resources.SHORTEST
    third = first.at(3)
    assert (third.runtime, third.mem_mb, third.gpu) == (3 * first.runtime, 3 * first.mem_mb, 1)
    long = resources.of_run(_changed(spec, steps=10**12))
    assert long.runtime == long.at(4).runtime == resources.LONGEST


@pytest.mark.parametrize("name", EXAMPLES["dynamics"])
def test_a_dynamics_that_is_compiled_for_cpus_asks_for_no_gpu(name):
    spec = RUNS["linear"] | {"dynamics": {"name": name} | EXAMPLES["dynamics"][name][0]}
    compiled = hasattr(registry.load("dynamics", name), "advance")
    assert resources.of_run(spec).gpu == (0 if compiled else 1)


def test_a_measure_with_a_gpu_says_so_in_its_file(tmp_path, monkeypatch):
    (tmp_path / "components/measures").mkdir(parents=True)
    for name, text in {
        "costly": "GPU: bool = True\n",
        "cheap": "",
        "undecided": "GPU = False\n",
    }.items():
        (tmp_path / f"components/measures/{name}.py").write_text(text)
    monkeypatch.setattr(module_shape, "PACKAGE", tmp_path)
    monkeypatch.setattr(registry, "COMPONENTS", tmp_path / "components")
    names = ("costly", "cheap", "undecided")
    assert [resources.of_measure(RUNS["blog"], name).gpu for name in names] == [1, 0, 0]


@pytest.mark.parametrize("name", registry.names("measures"))
def test_every_measure_asks_for_something(name):
    asked = resources.of_measure(RUNS["blog"], name)
    assert asked.runtime >= resources.SHORTEST
    assert math.isfinite(asked.mem_mb)
