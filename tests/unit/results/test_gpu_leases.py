"""Leases of devices, with devices that are names."""

import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from grokatlas.errors import UserError
from grokatlas.results import files, gpu_leases, layout
from grokatlas.rules import measure, train
from tests import cases
from tests.fake_gpus import gpu, install
from tests.unit.rules.test_rules import RUN, SPEC, _job_file

TWO = (gpu(0), gpu(1))
DIVIDED = (
    gpu(0),
    "  MIG 3g.20gb     Device  0: (UUID: MIG-0a)",
    "  MIG 3g.20gb     Device  1: (UUID: MIG-0b)",
    gpu(1),
)
# leases a device, tells which, keeps it until a line comes
HOLD = """
import os, sys
from grokatlas.results import gpu_leases as leases
leases.take()
print(os.environ["CUDA_VISIBLE_DEVICES"], flush=True)
sys.stdin.readline()
"""
# leases a device, notes when it has it and when it gives it back
WORK = """
import os, sys, time
from grokatlas.results import gpu_leases as leases
leases.take()
note = os.open(sys.argv[1], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
device = os.environ["CUDA_VISIBLE_DEVICES"]
os.write(note, f"take {device}\\n".encode())
time.sleep(0.05)
os.write(note, f"give {device}\\n".encode())
"""


@pytest.fixture
def machine(tmp_path, monkeypatch):
    """A machine with two GPUs."""
    install(tmp_path, monkeypatch, *TWO)
    return tmp_path


def _start(*code: str) -> subprocess.Popen:
    pipe = subprocess.PIPE
    command = [sys.executable, "-c", *code]
    return subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, text=True)


def _locks(folder: Path) -> list[str]:
    return sorted(file.name for file in folder.glob("grokatlas-leases/*"))


@pytest.mark.parametrize(
    ("named", "lines", "expected"),
    [
        (None, TWO, ["GPU-00aa", "GPU-11aa"]),
        ("1,0", TWO, ["GPU-11aa", "GPU-00aa"]),
        ("1, GPU-11", TWO, ["GPU-11aa"]),
        ("1,-1,0", TWO, ["GPU-11aa"]),
        ("7,1", TWO, ["GPU-11aa"]),
        ("", TWO, []),
        (None, DIVIDED, ["MIG-0a", "MIG-0b", "GPU-11aa"]),
        ("0,MIG-0b", DIVIDED, ["MIG-0a", "MIG-0b"]),
        (None, (), []),
        ("0,1", (), ["0", "1"]),
        (None, ("NVIDIA-SMI has failed: no driver (UUID: none)",), []),
    ],
)
def test_the_devices_are_those_that_cuda_may_use(tmp_path, monkeypatch, named, lines, expected):
    install(tmp_path, monkeypatch, *lines)
    if named is not None:
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", named)
    assert gpu_leases.devices() == expected


def test_two_processes_never_have_the_same_device_and_a_killed_one_frees_its_own(machine):
    with _start(HOLD) as first, _start(HOLD) as second:
        held = [process.stdout.readline().strip() for process in (first, second)]
        assert sorted(held) == ["GPU-00aa", "GPU-11aa"]
        with _start(HOLD) as third:
            assert third.stderr.readline() == "devices: all 2 are leased; waiting\n"
            first.kill()
            assert third.stdout.readline().strip() == held[0]
            third.communicate("\n")
        second.communicate("\n")


def test_many_processes_take_turns(machine):
    note = machine / "note"
    processes = [_start(WORK, str(note)) for _ in range(6)]
    for process in processes:
        _, errors = process.communicate()
        assert process.returncode == 0, errors
    busy: Counter = Counter()
    for line in note.read_text().splitlines():
        what, device = line.split()
        busy[device] += 1 if what == "take" else -1
        assert 0 <= busy[device] <= 1
    assert len(note.read_text().splitlines()) == 12


@pytest.mark.parametrize("given", ["1", "GPU-00aa", "", "-1"])
def test_a_device_that_was_given_is_not_leased(machine, monkeypatch, given):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", given)
    gpu_leases.take()
    assert os.environ["CUDA_VISIBLE_DEVICES"] == given
    assert _locks(machine) == []


def test_without_devices_nothing_is_leased(tmp_path, monkeypatch):
    install(tmp_path, monkeypatch)
    gpu_leases.take()
    assert "CUDA_VISIBLE_DEVICES" not in os.environ
    assert _locks(tmp_path) == []


def test_a_process_keeps_the_device_that_it_has_and_every_user_may_lease(machine):
    umask = os.umask(0o077)
    try:
        gpu_leases.take()
        gpu_leases.take()
    finally:
        os.umask(umask)
    assert os.environ["CUDA_VISIBLE_DEVICES"] == "GPU-00aa"
    assert _locks(machine) == ["GPU-00aa.lock"]
    folder = machine / "grokatlas-leases"
    modes = [path.stat().st_mode & 0o7777 for path in (folder, *folder.iterdir())]
    assert modes == [0o1777, 0o666]


def test_a_folder_that_cannot_be_used_is_one_line(machine):
    (machine / "grokatlas-leases").write_text("in the way")
    with pytest.raises(UserError, match=r"grokatlas-leases: cannot be locked: .*TMPDIR"):
        gpu_leases.take()


COMPILED = cases.data(__file__)["compiled"]


@pytest.mark.parametrize(
    ("spec", "device", "leased"),
    [(SPEC, "auto", ["GPU-00aa.lock"]), (SPEC, "cpu", []), (COMPILED, "auto", [])],
)
def test_a_run_leases_a_device_unless_it_trains_on_the_cpu(
    machine, monkeypatch, spec, device, leased
):
    monkeypatch.chdir(machine)
    train.execute(_job_file(RUN, "run", spec), RUN, device, 1, 300)
    assert _locks(machine) == leased
    (segment,) = files.read_json(RUN / "manifest.json")["segments"]
    assert segment["devices"] == (leased[0].removesuffix(".lock") if leased else None)


@pytest.mark.parametrize(("device", "leased"), [("auto", ["GPU-00aa.lock"]), ("cpu", [])])
def test_a_measure_that_wants_a_gpu_leases_one(machine, monkeypatch, device, leased):
    monkeypatch.chdir(machine)
    monkeypatch.setenv("GROKATLAS_DEVICE", device)
    monkeypatch.setattr("grokatlas.plan.resources.uses_gpu", lambda kind, spec: kind == "measure")
    stem = layout.measure_stem("0123456789ab", "m")
    with pytest.raises(UserError, match="cannot be read"):  # it leases before it reads its inputs
        measure.execute(_job_file(stem, "measure", {"measure": {"name": "m"}}, ["r", "d"]), stem)
    assert _locks(machine) == leased
