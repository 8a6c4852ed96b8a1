"""The audit on what the real Snakefile made at smoke scale."""

import json
import shlex
import shutil
from pathlib import Path

import pytest

from grokatlas import cli
from grokatlas.audit.tree import Tree
from grokatlas.audit.verify import verify
from grokatlas.plan import declared_jobs
from grokatlas.results import files as store
from grokatlas.results import hashing, layout
from tests.checkout import python
from tests.tiers import exhaustive
from tests.workflow.conftest import Checkout
from tests.workflow.test_incremental import downstream

pytestmark = pytest.mark.workflow

ADAM = (
    "src/grokatlas/components/optimizers/adam.py",
    "* double(self.eps)",
    "* double(2 * self.eps)",
)


def verdicts() -> dict[str, str]:
    found = verify(Tree(Path("results")), declared_jobs.jobs()).findings
    return {name: f.verdict for name, f in found.items() if f.verdict != "ok"}


def artefacts() -> dict[str, tuple[Path, Path]]:
    """Two files of every kind, by what they are, in the working directory's tree."""
    patterns = {
        "data": "data/*/data.safetensors",
        "history": "runs/*/history.parquet",
        "snapshots": "runs/*/snapshots.safetensors",
        "measure": "measures/*/*.parquet",
        "table": "smoke/tables/*/*.parquet",
        "pdf": "smoke/figures/*/*.pdf",
        "png": "smoke/figures/*/*.png",
        "csv": "smoke/figures/*/*.csv",
        "data manifest": "data/*/manifest.json",
        "run manifest": "runs/*/manifest.json",
        "measure manifest": "measures/*/*.manifest.json",
        "table manifest": "smoke/tables/*/*.manifest.json",
        "figure manifest": "smoke/figures/*/*.manifest.json",
        "data job file": "data/*/spec.json",
        "run job file": "runs/*/spec.json",
        "measure job file": "measures/*/*.spec.json",
        "table job file": "smoke/tables/*/*.spec.json",
        "figure job file": "smoke/figures/*/*.spec.json",
    }
    found = {kind: sorted(Path("results").glob(pattern)) for kind, pattern in patterns.items()}
    return {kind: (files[0], files[-1]) for kind, files in found.items()}


def test_a_finished_tree_is_ok_without_snakemakes_memory(finished, tmp_path, monkeypatch):
    shutil.copytree(finished.folder / "results", tmp_path / "results")
    shutil.copytree(finished.folder / "config", tmp_path / "config")
    monkeypatch.chdir(tmp_path)
    found = verify(Tree(Path("results")), declared_jobs.jobs())
    assert found.ok, [f for f in found.findings.values() if f.verdict != "ok"]
    files = [f for f in Path("results").rglob("*") if f.is_file() and f.suffix != ".log"]
    assert len(found.findings) == len([f for f in files if f.name not in ("log.txt", "README.md")])


@exhaustive
def test_every_harm_to_every_kind_of_artefact_is_named(checkout, monkeypatch):
    monkeypatch.chdir(checkout.folder)
    for kind, (file, other) in artefacts().items():
        data, more = file.read_bytes(), other.read_bytes()
        assert data != more, kind
        flipped = bytearray(data)
        flipped[data.rfind(b'"kind"') + 1 or len(data) // 2] ^= 1
        for harm in (bytes(flipped), data[:-1], data[: len(data) // 2], b""):
            file.write_bytes(harm)
            assert verdicts()[file.as_posix()] == "modified", kind
        file.unlink()
        assert verdicts()[file.as_posix()] == "missing", kind
        file.write_bytes(more)
        other.write_bytes(data)
        found = verdicts()
        assert {found[file.as_posix()], found[other.as_posix()]} == {"modified"}, kind
        file.write_bytes(data)
        other.write_bytes(more)
    assert verdicts() == {}


def consumers(checkout: Checkout) -> list[tuple[str, str, list[str]]]:
    """One job of every kind that reads: command, job file, and the results that it reads."""
    found = {}
    for kind, target, inputs in checkout.plan():
        command = "train" if kind == "run" else kind
        job_file = layout.spec_path(kind, Path(target)).as_posix()
        if kind == "measure":
            inputs = inputs[:1]  # this one reads no data
        if kind != "dataset" and (kind != "measure" or "fourier_features" in target):
            found[command] = (command, job_file, inputs)
    return list(found.values())


READS = {"measure": ("snapshots.safetensors",), "table": ("history.parquet", ".parquet")}


@exhaustive
def test_no_job_consumes_a_harmed_file(checkout, monkeypatch, capsys):
    monkeypatch.chdir(checkout.folder)
    tree = Tree(Path("results"))
    refused = []
    for command, job_file, inputs in consumers(checkout):
        harmed = [job_file]
        for target in inputs:
            result = tree.results[target]
            reads = READS.get(command, ("",))
            harmed += [name for name in result.outputs if name.endswith(reads)]
            harmed += [result.manifest.name]
            harmed += [result.job.name] if command == "table" and "/runs/" in target else []
        for name in harmed:
            file = Path(name)
            data = file.read_bytes()
            flipped = bytearray(data)
            flipped[len(data) // 2] ^= 1
            results = {f: f.read_bytes() for f in Path("results").rglob("*") if f.is_file()}
            for harm in (bytes(flipped), data[:-2]):
                file.write_bytes(harm)
                code = cli.main([command, job_file])
                error = capsys.readouterr().err
                assert code == 1, (command, name)
                assert error.count("\n") == 1, error
                assert name in error
                refused.append(f"{command} {name}")
            file.write_bytes(data)
            assert results == {f: f.read_bytes() for f in results}, (command, name)
    tried = {"train", "measure", "table", "figure", "claims", "atlas"}
    assert {name.split()[0] for name in refused} == tried
    assert len(refused) > 20


def test_changed_code_is_named_accepted_and_remembered(checkout):
    checkout.edit(*ADAM)
    stale = downstream(checkout, checkout.runs("modular_addition", "beyond_l2"))
    stale += ["atlas"]  # which shows the figure; no claim is judged here
    done = checkout.grokatlas("verify", "--json", "../receipt.json")
    assert done.returncode == 1
    receipt = json.loads((checkout.folder / "../receipt.json").read_text())
    named = {name for name, entry in receipt["files"].items() if entry["verdict"] != "ok"}
    assert {entry["verdict"] for entry in receipt["files"].values()} == {"ok", "stale-code"}
    manifests = [name for name in named if name.endswith("manifest.json")]
    assert len(manifests) == len(stale)
    assert "grokatlas.components.optimizers.adam" in done.stdout

    done = checkout.grokatlas("accept", "beyond_l2/fig1", "--reason", "eps is never felt")
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("accepted ") == len(stale)
    assert checkout.jobs() == []
    assert checkout.grokatlas("verify").returncode == 0
    strict = checkout.grokatlas("verify", "--strict")
    assert strict.returncode == 1
    assert strict.stdout.count("eps is never felt") == len(stale)
    told = checkout.grokatlas("explain", "beyond_l2/fig1").stdout
    assert "accepted: eps is never felt" in told
    shutil.rmtree(checkout.folder / ".snakemake")
    assert checkout.jobs() == []


@exhaustive
def test_a_changed_spec_is_named_and_cannot_be_accepted(checkout):
    checkout.edit(
        "config/papers/geometry/experiments.yaml",
        "optimizer: {name: gd, lr: 0.1}",
        "optimizer: {name: gd, lr: 0.05}",
    )
    done = checkout.grokatlas("verify")
    assert done.returncode == 1
    assert "stale-spec  results/smoke/tables/geometry/two_weights" in done.stdout
    (line,) = [x for x in done.stdout.splitlines() if x.startswith("stale-spec  results/runs/")]
    assert "no paper declares it any more" in line
    done = checkout.grokatlas("accept", "geometry/fig1", "--reason", "x")
    assert (done.returncode, done.stderr.count("\n")) == (1, 1)
    assert "its spec changed" in done.stderr


@exhaustive
def test_without_config_hashes_are_still_judged(checkout):
    shutil.rmtree(checkout.folder / "config")
    done = checkout.grokatlas("verify")
    assert done.returncode == 0, done.stdout
    assert "was not judged" in done.stdout
    (checkout.folder / "results/smoke/figures/geometry/fig1.csv").write_text("x")
    assert checkout.grokatlas("verify").returncode == 1


@exhaustive
@pytest.mark.parametrize("suffix", ["pdf", "png"])
def test_a_figure_sent_by_mail_is_explained(finished, tmp_path, suffix):
    sent = tmp_path / f"x.{suffix}"
    shutil.copy(finished.folder / f"results/smoke/figures/geometry/fig1.{suffix}", sent)
    done = finished.grokatlas("explain", str(sent))
    assert done.returncode == 0, done.stderr
    assert f"byte for byte results/smoke/figures/geometry/fig1.{suffix}" in done.stdout
    (run,) = (Path(folder).name for folder in finished.runs("two_weights"))
    assert f"runs {run}" in done.stdout.splitlines()[0]
    assert f"run {run}: digest" in done.stdout


@exhaustive
def test_the_command_that_explain_ends_with_makes_the_figure(checkout):
    done = checkout.grokatlas("explain", "geometry/fig1", "--values")
    command = shlex.split(done.stdout.splitlines()[-1].rpartition("&& ")[2])
    assert command[0] == "snakemake"
    dry = python("-m", *command, "--dry-run", "--quiet", "rules", cwd=checkout.folder)
    assert dry.returncode == 0, dry.stderr
    text = dry.stdout + dry.stderr
    for rule in ("dataset", "train", "table", "figure"):
        assert rule in text, text


def made_again(command: str, job_file: str, folder: Path, name: str) -> dict[str, str]:
    out = folder / name
    assert cli.main([command, job_file, "--out", str(out)]) == 0
    files = sorted(out.iterdir()) if out.is_dir() else sorted(folder.glob(f"{name}.*"))
    # the job file lies beside its run already, and is copied beside one made elsewhere
    kept = [f for f in files if not f.name.endswith(("manifest.json", "spec.json"))]
    assert kept
    return {f.name: hashing.file_sha256(f) for f in kept}


@exhaustive
@pytest.mark.parametrize("command", ["train", "measure", "table", "figure"])
def test_the_same_job_twice_makes_the_same_bytes(checkout, tmp_path, monkeypatch, command):
    monkeypatch.chdir(checkout.folder)
    jobs = {name: job_file for name, job_file, _ in consumers(checkout)}
    first = made_again(command, jobs[command], tmp_path / "first", "result")
    assert first == made_again(command, jobs[command], tmp_path / "second", "result")
    if command != "figure":  # a figure names the commit, which this process's code has
        target = layout.target_of(Path(jobs[command]))
        there = target if target.is_dir() else target.parent
        recorded = store.read_sealed(layout.manifest_of("run" if there == target else "", target))
        assert sorted(first.values()) == sorted(recorded["outputs"].values())
