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
from grokatlas.results import layout
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


def test_a_finished_tree_is_ok_without_snakemakes_memory(finished, tmp_path, monkeypatch):
    shutil.copytree(finished.folder / "results", tmp_path / "results")
    shutil.copytree(finished.folder / "config", tmp_path / "config")
    monkeypatch.chdir(tmp_path)
    found = verify(Tree(Path("results")), declared_jobs.jobs())
    assert found.ok, [f for f in found.findings.values() if f.verdict != "ok"]
    files = [f for f in Path("results").rglob("*") if f.is_file() and f.suffix != ".log"]
    assert len(found.findings) == len([f for f in files if f.name not in ("log.txt", "README.md")])


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
