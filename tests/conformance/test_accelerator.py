"""Each example run, rehearsed on a GPU that does not exist: see `accelerator.py`."""

import re
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest
import torch
from accelerator import FAULTS, STATE, Rehearsals
from examples import names_of
from examples.operations import (
    ELSEWHERE,
    PRODUCTS,
    UNREPEATABLE,
    UNREPEATABLE_ALLOWED,
    WAITING,
    WAITS,
    waiting,
)
from examples.runs import RUNS

from tests.tiers import every

# of one matrix: what of it is found, and where
FOUND = {
    "a number of the CPU": "elsewhere",
    "a tensor of the CPU": "error",
    "a transfer": "elsewhere",
    "a transfer and back": "elsewhere",
    "a number read": "waits",
    "a branch": "waits",
    "a mask": "waits",
    "a mask written": "waits",
    "a decomposition": "waits",
    "a check": "waits",
    "a sum in any order": "unrepeatable",
    "a draw": "random",
    "another shape": "changed",
    "another precision": "changed",
}
DECOMPOSITIONS = {"_linalg_svd", "_linalg_eigh"}


@pytest.fixture(scope="session")
def rehearsals() -> Iterator[Rehearsals]:
    made = Rehearsals()
    yield made
    made.close()


@pytest.fixture(scope="module", params=every(14, RUNS))
def run(request) -> str:
    return request.param


@pytest.fixture(scope="module")
def programs(run, rehearsals) -> dict[str, dict[str, Any]]:
    """What each program of a run does."""
    return rehearsals.of(run)


def _with_own(program: str) -> str:
    return program.split(" of ", maxsplit=1)[0]


def test_every_program_is_traced(programs):
    assert {name: seen["error"] for name, seen in programs.items() if "error" in seen} == {}
    assert {"init", "update", "parameters", "observe"} <= set(programs)


def test_every_tensor_is_on_the_device(programs):
    assert {name: seen["elsewhere"] for name, seen in programs.items() if seen["elsewhere"]} == {}


def test_no_step_waits_for_the_host(run, programs):
    for name, seen in programs.items():
        program = _with_own(name)
        allowed = set(waiting(RUNS[run], program).values())
        if program not in STATE:  # between steps
            allowed |= DECOMPOSITIONS
        found = {each: WAITS[each] for each in seen["operations"] if each in WAITS}
        assert {each: why for each, why in found.items() if each not in allowed} == {}, name


def test_shapes_stay_from_step_to_step(programs):
    for name, seen in programs.items():
        assert seen["changed"] == [], name
        assert seen.get("same", True), f"{name} calls other operations some steps later"


def test_every_operation_has_a_repeatable_form(run, programs):
    used = [each for (b, n), each in UNREPEATABLE_ALLOWED.items() if n in names_of(RUNS[run], b)]
    allowed = set().union(*used)
    for name, seen in programs.items():
        assert set(seen["operations"]) & set(UNREPEATABLE) - allowed == set(), name
        assert seen["random"] == [], f"{name} draws numbers of its own"


@pytest.mark.parametrize("component", WAITING)
def test_every_exception_is_needed(component, rehearsals):
    block, name = component
    for program, operation in WAITING[component].items():
        runs = [run for run, spec in RUNS.items() if spec.get(block, {}).get("name") == name]
        assert any(operation in rehearsals.of(run)[program]["operations"] for run in runs)


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_found(fault, rehearsals):
    seen = rehearsals.of(fault)
    found = {key for key in ("elsewhere", "error", "random", "changed") if seen.get(key)}
    found |= {"waits"} if set(seen["operations"]) & set(WAITS) else set()
    found |= {"unrepeatable"} if set(seen["operations"]) & set(UNREPEATABLE) else set()
    assert found == {FOUND[fault]}


def test_a_job_makes_products_repeatable(rehearsals):
    """They are, with a variable that cuBLAS reads when it starts."""
    assert set(rehearsals.of("blog")["update"]["operations"]) & PRODUCTS
    seen = "import os; print(os.environ['CUBLAS_WORKSPACE_CONFIG'])"
    called = "from grokatlas.rules.jobs import devices; devices.use_repeatable_kernels()"
    enabled = "import torch; print(torch.are_deterministic_algorithms_enabled())"
    job = [sys.executable, "-c", f"{called}; {seen}; {enabled}"]
    found = subprocess.run(job, check=True, capture_output=True, text=True).stdout.split()
    assert found == [":4096:8", "True"]


def test_the_list_of_operations_without_a_repeatable_form_is_that_of_torch():
    text = torch.use_deterministic_algorithms.__doc__
    refused = text.split("operations will throw a\n", 1)[1].split("In addition", 1)[0]
    lines = set(re.findall(r"\* :(?:class|func):`([\w.]+)`", refused))
    assert lines == set(UNREPEATABLE.values()) | ELSEWHERE


@pytest.mark.parametrize("name", ["svd", "svdvals", "eigh", "eig", "cholesky", "inv", "solve"])
def test_torch_says_that_a_decomposition_waits(name):
    assert "synchronizes that device with the CPU" in " ".join(
        getattr(torch.linalg, name).__doc__.split()
    )


def test_this_process_has_no_such_device():
    """Other tests of the process see torch as it is."""
    assert torch.utils.backend_registration._privateuse1_backend_name == "privateuseone"
    assert torch.cuda.is_available() == torch.accelerator.is_available()
