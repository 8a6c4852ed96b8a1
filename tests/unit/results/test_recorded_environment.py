"""What a manifest records of the machine and the software."""

import os
import resource
import sys
from types import SimpleNamespace

import pytest

from grokatlas.results import environment
from tests import cases
from tests.checkout import called

SETTINGS = cases.data(__file__)["settings"]


def test_variables_that_can_change_a_number_are_recorded(monkeypatch):
    for name, value in SETTINGS.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("NUMBA_CACHE_DIR", "/home/someone/cache")  # a place changes no number
    monkeypatch.setenv("MKL_DYNAMIC", "")
    monkeypatch.setenv("HOME", "someone")
    found = environment.variables()
    assert found.items() >= SETTINGS.items()
    assert not {"NUMBA_CACHE_DIR", "MKL_DYNAMIC", "HOME"} & found.keys()


def test_host_names_the_machine(monkeypatch):
    found = environment.host()
    assert found.keys() >= {"name", "system", "cpu", "cores"}
    assert found["cores"] == os.cpu_count()
    monkeypatch.setenv("SLURM_JOB_ID", "17")
    assert environment.host()["slurm_job"] == "17"


def test_vector_instructions_are_those_that_torch_uses():
    code = (
        "from grokatlas.results import environment;"
        "print(environment.host().get('cpu_capability'));"
        "import torch; print(environment.host()['cpu_capability'])"
    )
    command = [sys.executable, "-c", code]
    variables = os.environ | {"ATEN_CPU_CAPABILITY": "default"}
    done = called(*command, check=True, env=variables)
    assert done.stdout.split() == ["None", "DEFAULT"]


@pytest.mark.parametrize(("system", "size"), [("linux", 2048), ("darwin", 2 * 2**20)])
def test_memory_is_in_mib_in_whatever_the_system_counts(monkeypatch, system, size):
    monkeypatch.setattr(sys, "platform", system)
    monkeypatch.setattr(resource, "getrusage", lambda who: SimpleNamespace(ru_maxrss=size))
    assert environment.peak_memory_mb() == 2.0
