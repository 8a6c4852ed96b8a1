"""What `grokatlas doctor` says of runs that will train on a GPU."""

from pathlib import Path

import pytest

from grokatlas.cluster.doctor import cluster, gpu_runs
from grokatlas.plan.jobs import Job
from tests import fake_gpus
from tests.runs import xor_spec


def _job(name: str, **blocks) -> Job:
    size = {"features": 40_000, "width": 2048, "optimizer": {"name": "gd", "lr": 0.1}}
    return Job("run", Path(name), xor_spec(10, **size) | blocks, {})


@pytest.fixture
def gpus(tmp_path, monkeypatch):
    """A machine with GPUs of a size in MiB."""
    fake_gpus.install(tmp_path, monkeypatch, fake_gpus.gpu(0))
    monkeypatch.setattr(cluster, "here", lambda: False)
    monkeypatch.delenv("GROKATLAS_CAPTURE", raising=False)
    program = tmp_path / "bin/nvidia-smi"
    listed = program.read_text()

    def of(*sizes: int) -> None:
        asked = "\n".join(f"echo {size}" for size in sizes)
        program.write_text(
            listed.replace("#!/bin/sh", f'#!/bin/sh\nif [ "$1" != -L ]; then {asked}\nexit; fi')
        )

    return of


def _told(jobs, device="auto"):
    return {each.what: (each.state, each.text) for each in gpu_runs.look(jobs, device)}


def test_each_run_that_cannot_be_captured_is_named(gpus, monkeypatch):
    gpus(81559)
    slow = [{"name": "nuclear", "weight": 1e-4}]
    monkeypatch.setattr(
        gpu_runs.gpu_runs, "waiting", lambda spec: ["penalties.nuclear"] * ("penalties" in spec)
    )
    state, text = _told([_job("a"), _job("b"), _job("c", penalties=slow)])["capture"]
    assert state == "ok"
    assert text == (
        "2 of 3 GPU runs replay captured steps; one by one, as penalties.nuclear waits for the "
        "host: c"
    )
    monkeypatch.setenv("GROKATLAS_CAPTURE", "0")
    assert _told([_job("a")])["capture"][1].startswith("GROKATLAS_CAPTURE=0: 1 GPU runs")


@pytest.mark.parametrize(
    ("mebibytes", "state", "text"),
    [
        (81559, "ok", "36.5 GB of 85.5 GB (here)"),
        (32768, "warn", "members move in groups, which takes longer: a"),
        (8192, "fail", "do not fit even member by member: a; `sweep` their seeds"),
    ],
)
def test_a_run_is_compared_with_the_memory_of_the_smallest_gpu(gpus, mebibytes, state, text):
    gpus(90000, mebibytes)
    found = _told([_job("a")])["gpu-memory"]
    assert found[0] == state
    assert text in found[1]


def test_the_memory_of_a_cluster_is_assumed(gpus, monkeypatch):
    gpus(8192)
    monkeypatch.setattr(cluster, "here", lambda: True)
    state, text = _told([_job("a")])["gpu-memory"]
    assert state == "ok"
    assert "of 80.0 GB (assumed" in text
    huge = _job("b", ensemble={"seed": list(range(100))})
    assert _told([huge])["gpu-memory"][0] == "warn"


def test_nothing_is_said_where_no_run_trains_on_a_gpu(gpus, monkeypatch):
    gpus(81559)
    assert _told([_job("a")], "cpu") == {}
    assert _told([]) == {}
    assert _told([_job("a", dynamics={"name": "linear_descent"})]) == {}
    monkeypatch.setattr("grokatlas.results.gpu_leases.devices", list)
    assert _told([_job("a")]) == {}
