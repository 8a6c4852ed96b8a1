"""`grokatlas doctor`, with a Slurm of small scripts."""

import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from grokatlas import cli
from grokatlas.cluster.doctor import cluster, data, forecast, machine
from grokatlas.cluster.doctor.findings import of
from grokatlas.plan import remaining, resources
from grokatlas.results import files, revision
from tests import cases, fake_gpus, image_files
from tests.checkout import ROOT, program

PAPER = ROOT / "tests/workflow/papers/geometry"
HEALTHY = {
    "sinfo": "echo 'cpu*|up|infinite|(null)'; echo 'gpu|up|2-00:00:00|gpu:a100:4(S:0)'",
    "sacctmgr": "echo physics",
    "squeue": ":",
    "scontrol": "echo 'MinJobAge               = 300 sec'",
    "sacct": ":",
    "srun": 'echo "$@" > "$0.said"; echo \'node7|Pretended A100\'',
}


class Checkout:
    """A checkout whose machine has only the programs that a test puts there."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.bin = folder.parent / "programs"
        self.bin.mkdir()

    def program(self, name: str, script: str) -> None:
        program(self.bin / name, script)

    def edit(self, path: str, old: str, new: str) -> None:
        text = (self.folder / path).read_text()
        assert old in text
        (self.folder / path).write_text(text.replace(old, new))


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A checkout with one paper, on a machine without Slurm and GPU."""
    folder = tmp_path / "atlas"
    shutil.copytree(PAPER, folder / "config/papers/geometry")
    shutil.copy(ROOT / "config/config.yaml", folder / "config")
    shutil.copytree(ROOT / "profiles", folder / "profiles")
    (folder / "slurm").symlink_to("profiles/slurm")
    checkout = Checkout(folder)
    monkeypatch.chdir(folder)
    checkout.program("python", f'exec {sys.executable} "$@"')
    monkeypatch.setattr(sys, "executable", str(checkout.bin / "python"))  # jobs get its folder
    monkeypatch.setenv("PATH", str(checkout.bin))
    monkeypatch.setattr(revision, "facts", lambda *_: {"git": None})  # there is no git either
    for name in ("PYTHONPATH", "GROKATLAS_DEVICE", "GROKATLAS_DATA", "GROKATLAS_RUN_STORE"):
        monkeypatch.setenv(name, "")  # so that what the command sets is undone
        monkeypatch.delenv(name)
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    return checkout


@pytest.fixture
def slurm(here):
    """The same on the login node of a cluster that is as the profile wants it."""
    for name, script in HEALTHY.items():
        here.program(name, script)
    return here


def _doctor(capsys, *arguments: str) -> tuple[int, dict[str, tuple[str, str]]]:
    """The exit code, and state and text of every line (the first of several) by its name."""
    code = cli.main(["doctor", "--scale", "smoke", *arguments])
    told: dict[str, tuple[str, str]] = {}
    for line in capsys.readouterr().out.splitlines():
        state, what, text = line.split(maxsplit=2)
        assert state in ("ok", "warn", "fail")
        told.setdefault(what, (state, text))
    return code, told


def test_a_machine_without_slurm_says_so_in_one_line(here, capsys):
    before = sorted(here.folder.rglob("*"))
    code, told = _doctor(capsys)
    assert {state for state, _ in told.values()} == {"ok"}
    assert code == 0
    assert told["cluster"][1].startswith("no Slurm here")
    assert not {"partitions", "account", "polling", "job"} & set(told)
    assert told["plan"][1].startswith("4 figures of ")
    assert sorted(here.folder.rglob("*")) == before


def test_a_healthy_cluster_is_ok(slurm, capsys):
    code, told = _doctor(capsys)
    assert {state for state, _ in told.values()} == {"ok"}, told
    assert code == 0
    assert told["account"][1] == "physics"
    assert {"partitions", "limits", "polling", "job"} <= set(told)


@cases.listed("program", "script", "edit", "what", "state", "text")
def test_what_is_wrong_with_a_cluster_is_told(
    slurm, capsys, program, script, edit, what, state, text
):
    slurm.program(program, script)
    if edit:
        slurm.edit("profiles/slurm/config.yaml", *edit)
    code, told = _doctor(capsys)
    assert told[what][0] == state
    assert text in told[what][1]
    assert code == ("fail" in {state for state, _ in told.values()})


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        ("partitions.yaml", "partitions:", "sections:"),
        ("partitions.yaml", "    max_gpu: 1", "  \tmax_gpu: 1"),
        ("config.yaml", "default-resources:", "default-resources: []\nothers:"),
    ],
)
def test_a_profile_that_cannot_be_read_is_one_line(slurm, capsys, file, old, new):
    slurm.edit(f"profiles/slurm/{file}", old, new)
    code, told = _doctor(capsys)
    assert code == 1
    failed = [what for what, (state, _) in told.items() if state == "fail"]
    assert failed in (["cluster"], ["account"])


@pytest.mark.parametrize(
    ("script", "state", "text"),
    [
        (HEALTHY["srun"], "ok", "a job in gpu ran on node7 and saw Pretended A100"),
        ("echo 'node7|no GPU'", "fail", "ran on node7, and torch saw no GPU"),
        ("echo 'srun: error: nodes are busy' >&2; exit 1", "warn", "none ran in gpu"),
        ("echo 'srun: error: Invalid account' >&2; exit 1", "fail", "Invalid account"),
    ],
)
def test_a_job_is_submitted_only_if_asked_for(slurm, capsys, script, state, text):
    slurm.program("srun", script)
    hint = "not tried; --submit asks with a job of seconds whether it sees a GPU"
    assert _doctor(capsys)[1]["job"] == ("ok", hint)
    assert not (slurm.bin / "srun.said").exists()
    _, told = _doctor(capsys, "--submit")
    assert told["job"][0] == state
    assert text in told["job"][1]
    if state == "ok":
        said = (slurm.bin / "srun.said").read_text()
        assert said.startswith("--partition=gpu --gpus=1 --time=5 --immediate=120 ")


def test_a_mistake_in_the_configuration_is_the_only_line(here, capsys):
    here.edit("config/config.yaml", "scale: quick", "scale: quik")
    code, told = _doctor(capsys)
    assert code == 1
    assert list(told) == ["plan"]
    assert "must be smoke, quick or paper" in told["plan"][1]


def test_a_folder_that_is_not_there_is_told_and_the_rest_looked_at(here, capsys):
    here.edit("config/config.yaml", "data_dir: null", "data_dir: nowhere")
    code, told = _doctor(capsys)
    assert code == 1
    assert told["settings"][0] == "fail"
    assert "config.yaml: data_dir: no folder" in told["settings"][1]
    assert told["forecast"][0] == "ok"


def test_a_lock_that_was_left_over_is_a_failure(here, capsys):
    locks = here.folder / ".snakemake/locks"
    locks.mkdir(parents=True)
    assert _doctor(capsys)[1]["lock"] == ("ok", "none is left over")
    (locks / "0.output.lock").write_text("a\n")
    code, told = _doctor(capsys)
    assert code == 1
    assert told["lock"][0] == "fail"
    assert told["lock"][1].endswith("grokatlas unlock")
    script = here.folder / "snakemake"
    script.write_text("while :; do read line; done")
    shell = ["/bin/sh", str(script)]
    with subprocess.Popen(shell, cwd=here.folder, stdin=subprocess.PIPE) as running:
        code, told = _doctor(capsys)
        running.kill()
    assert code == 0
    assert f"process {running.pid}" in told["lock"][1]


@pytest.mark.parametrize(
    ("device", "seen", "state", "text"),
    [
        ("auto", "h|Pretended", "ok", "2 here (Pretended) for 0 jobs"),
        ("auto", "h|no GPU", "warn", "shows 2, but torch sees none"),
        ("cuda", "h|no GPU", "fail", "shows 2, but torch sees none"),
        ("cpu", "h|no GPU", "ok", "not wanted"),
    ],
)
def test_gpus_are_seen_by_torch_as_well(tmp_path, monkeypatch, device, seen, state, text):
    fake_gpus.install(tmp_path, monkeypatch, fake_gpus.gpu(0), fake_gpus.gpu(1))
    monkeypatch.setattr(cluster, "here", lambda: False)
    monkeypatch.setattr(cluster, "PROBE", f"print({seen!r})")
    (finding,) = machine.gpus([], device)
    assert finding.state == state
    assert text in finding.text


@pytest.mark.parametrize(("device", "state"), [("auto", "ok"), ("cuda", "fail")])
def test_no_gpu_is_a_failure_only_if_one_is_forced(monkeypatch, device, state):
    monkeypatch.setattr(cluster, "here", lambda: False)
    monkeypatch.setattr("grokatlas.results.gpu_leases.devices", list)
    (finding,) = machine.gpus([], device)
    assert finding.state == state


@pytest.mark.parametrize(("free", "state"), [(10**12, "ok"), (3 * 10**9, "warn"), (9, "fail")])
@pytest.mark.usefixtures("here")
def test_runs_have_to_fit_on_the_disk(monkeypatch, free, state):
    run = next(job for job in remaining.at("smoke").jobs if job.kind == "run")
    monkeypatch.setattr(resources, "bytes_written", lambda spec: 10**9)
    monkeypatch.setattr(shutil, "disk_usage", lambda place: SimpleNamespace(free=free))
    (finding,) = machine.disk([run, run])
    assert finding.state == state


MNIST = {"name": "mnist", "train_points": 8, "test_points": 8}
CIFAR10 = {"name": "cifar10", "train_points": 6, "test_points": 6}


def _images(*tasks: dict) -> list[tuple[str, str]]:
    jobs = [SimpleNamespace(kind="dataset", spec={"tasks": [task]}) for task in tasks]
    return [(each.state, each.text) for each in data.images(jobs)]


def test_image_files_are_looked_at_under_their_hash(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("GROKATLAS_DATA", raising=False)
    assert _images({"name": "digits"}) == [("ok", "no image files are needed")]
    assert [state for state, _ in _images(MNIST, MNIST, CIFAR10)] == ["warn", "warn"]
    image_files.install(monkeypatch, tmp_path / "images")
    assert [state for state, _ in _images(MNIST, CIFAR10)] == ["ok", "ok"]
    file = tmp_path / "images/mnist/train-images-idx3-ubyte.gz"
    content = file.read_bytes()
    file.write_bytes(b"other")
    ((state, text),) = _images(MNIST)
    assert state == "fail"
    assert "replace or remove it" in text
    file.rename(tmp_path / "cached")
    assert _images(MNIST)[0][0] == "warn"
    cached = tmp_path / "cache/grokatlas/mnist" / file.name
    cached.parent.mkdir(parents=True)
    cached.write_bytes(content)
    assert _images(MNIST)[0][0] == "ok"


def test_cifar10_without_its_archive_needs_enough_first_records(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    image_files.install(monkeypatch, tmp_path)
    (tmp_path / "cifar10/cifar-10-binary.tar.gz").unlink()
    assert _images(CIFAR10)[0][0] == "ok"
    assert _images(CIFAR10 | {"train_points": 9})[0][0] == "warn"


@pytest.mark.usefixtures("here")
def test_a_forecast_takes_the_rate_of_like_ones_that_were_recorded():
    run = next(job for job in remaining.at("smoke").jobs if job.kind == "run")
    kind, work = forecast._kind_and_work(run.spec)
    assert forecast.estimate(run, {}, gpu=False) == (work, "formula")
    assert forecast.estimate(run, {(("other",), "cpu"): [7]}, gpu=False) == (work, "formula")
    rates = {(kind, "cpu"): [1.0, 9.0, 2.0], (kind, "cuda"): [0.5]}
    assert forecast.estimate(run, rates, gpu=False) == (2 * work, "cpu")
    assert forecast.estimate(run, rates, gpu=True) == (work / 2, "cuda")
    assert forecast.estimate(run, {(kind, "cpu"): [3.0]}, gpu=True) == (3 * work, "cpu")


def test_the_forecast_counts_what_is_not_made(here, capsys):
    jobs = remaining.at("smoke").jobs
    run = next(job for job in jobs if job.kind == "run")
    text = _doctor(capsys)[1]["core-hours"][1]
    assert "measures not counted" in text
    runs = sum(job.kind == "run" for job in jobs)
    assert f"{runs} by the formula of one CPU core" in text
    files.write_json(run.spec_path, run.content)
    facts = {"train_seconds": 3600.0, "device": {"type": "cpu"}, "inputs": {}}
    manifest = {**run.content, **facts}
    files.write_json(run.manifest, files.sealed(manifest))
    for file in run.outputs:
        file.touch()
    told = _doctor(capsys)[1]
    assert f"{runs - 1} runs" in told["forecast"][1]
    files.write_json(run.manifest, files.sealed(manifest | {"digest": "of older code"}))
    told = _doctor(capsys)[1]
    assert f"{runs} runs" in told["forecast"][1]
    assert "from like ones recorded on a CPU" in told["core-hours"][1]
    assert "the longest job 1 (" in told["core-hours"][1]
    short = manifest | {"digest": "of older code", "train_seconds": 59.0}
    files.write_json(run.manifest, files.sealed(short))
    assert "recorded on a CPU" not in _doctor(capsys)[1]["core-hours"][1]


def test_a_check_that_breaks_is_a_line():
    def check():
        raise KeyError("surprise")
        yield

    ((line),) = of("thing", check)
    assert str(line) == "fail  thing       cannot be looked at: KeyError('surprise')"
