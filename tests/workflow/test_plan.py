"""Parsing is light, errors are one line, and jobs leave whole files and manifests."""

import json
import re
import sys

import pytest

from tests.checkout import called
from tests.tiers import exhaustive
from tests.workflow.conftest import Checkout, copy_checkout

pytestmark = pytest.mark.workflow


def test_a_dry_run_at_paper_scale_imports_neither_torch_nor_matplotlib(checkout: Checkout):
    command = [sys.executable, "-X", "importtime", "-m", "snakemake", "-n", "-q"]
    done = called(*command, "--config", "scale=paper", check=True, cwd=checkout.folder)
    imported = set(re.findall(r"\| +([\w.]+)$", done.stderr, re.MULTILINE))
    assert "grokatlas.plan.project" in imported
    assert not {name.split(".")[0] for name in imported} & {"torch", "matplotlib"}


@pytest.mark.parametrize(
    ("given", "local"),
    [
        ({}, ["atlas", "claims", "figure", "published_table", "table"]),
        ({"local_rules": ["claims"]}, ["claims"]),
    ],
)
def test_the_configuration_says_whose_jobs_are_not_submitted(checkout, given, local):
    code = (
        "import json, sys\n"
        "from snakemake.api import SnakemakeApi\n"
        "from snakemake.settings.types import ConfigSettings, ResourceSettings\n"
        "given = ConfigSettings(config=json.loads(sys.argv[1]))\n"
        "with SnakemakeApi() as api:\n"
        "    workflow = api.workflow(ResourceSettings(cores=1), given)._workflow\n"
        "    print(json.dumps(sorted(workflow._localrules)))\n"
    )
    command = [sys.executable, "-c", code, json.dumps({"scale": "smoke", **given})]
    done = called(*command, cwd=checkout.folder, check=True)
    assert json.loads(done.stdout) == local


@exhaustive
@pytest.mark.parametrize("scale", ["huge", "Paper", "1"])
def test_an_unknown_scale_is_one_line(checkout, scale):
    done = checkout.snakemake("-n", scale=scale)
    assert done.returncode == 1
    (line,) = done.stderr.splitlines()
    assert re.match(r"--config: scale: .* is not allowed: must be smoke, quick or paper", line)


@exhaustive
@pytest.mark.parametrize(
    ("given", "scale"), [("papers=all", "paper"), ("device=cpu", "paper"), ("scale=quick", "quick")]
)
def test_a_cluster_has_the_paper_scale_unless_told_otherwise(checkout, given, scale):
    command = [sys.executable, "-m", "snakemake", "--profile", "profiles/slurm", "-n"]
    done = called(*command, "--config", given, cwd=checkout.folder)
    assert done.returncode == 0, done.stderr
    assert set(re.findall(r"results/(smoke|quick|paper)/", done.stdout + done.stderr)) == {scale}


def test_every_job_leaves_a_manifest_with_what_it_was_made_from(finished):
    kinds = set()
    for path in (finished.folder / "results").rglob("*manifest.json"):
        manifest = json.loads(path.read_text())
        kinds.add(manifest["kind"])
        for key in ("spec", "digest", "code", "inputs", "outputs", "versions", "host", "started"):
            assert key in manifest, f"{path} lacks {key}"
        assert "git" in manifest
        assert manifest["outputs"]
        assert (
            manifest["kind"] in ("dataset", "claims") or manifest["inputs"]
        )  # none is judged here
        if manifest["kind"] == "run":
            assert manifest["device"]["type"] in ("cpu", "cuda")
            assert manifest["segments"][0]["end_step"] == manifest["spec"]["train"]["steps"]
            assert manifest["members"] >= 1
    assert kinds == {"dataset", "run", "measure", "table", "figure", "claims", "atlas"}


@exhaustive
def test_a_path_of_another_scale_can_be_asked_for(checkout):
    done = checkout.snakemake("-n", "results/quick/figures/geometry/fig1.pdf")
    assert done.returncode == 0, done.stderr
    jobs = checkout.jobs("results/quick/figures/geometry/fig1.pdf")
    assert [job for job in jobs if job.startswith(("figure", "table"))] == [
        "figure quick/geometry/fig1",
        "table quick/geometry/two_weights",
    ]


@exhaustive
def test_a_figure_that_is_not_declared_is_an_error_of_one_line(checkout):
    done = checkout.snakemake("-n", "results/smoke/figures/geometry/fig9.pdf")
    assert done.returncode == 1
    output = (done.stdout + done.stderr).splitlines()
    (line,) = [line for line in output if "geometry/fig9: not declared" in line]
    assert "did you mean 'geometry/fig4'?" in line
    assert not any("Traceback" in line for line in output)


@exhaustive
def test_a_light_measure_has_no_file_and_says_so(checkout):
    run = min((checkout.folder / "results/runs").iterdir()).name
    done = checkout.snakemake("-n", f"results/measures/{run}/grokking_times-0123abcd.parquet")
    assert done.returncode == 1
    output = (done.stdout + done.stderr).splitlines()
    assert [line for line in output if "is computed with its table; ask for that table" in line]
    assert not any("Traceback" in line for line in output)


def test_a_task_without_a_size_is_one_line(tmp_path):
    checkout = copy_checkout(tmp_path / "atlas")
    file = "src/grokatlas/components/tasks/one_sample.py"
    checkout.edit(file, "\ndef size(", "\ndef sizes(")
    done = checkout.snakemake("-n")
    assert done.returncode == 1
    problem = "has no function `size`, which plans need; add one (docs/extending.md)"
    assert done.stderr.splitlines()[-1].endswith(f".task.name: {file} {problem}")
    assert "Traceback" not in done.stderr
    assert "Exception" not in done.stderr
