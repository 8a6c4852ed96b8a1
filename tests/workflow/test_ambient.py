"""What a user's environment says beside the configuration reaches no result."""

import json
import os
import sys
from pathlib import Path

import pytest

from tests import cases
from tests.checkout import called
from tests.tiers import exhaustive
from tests.workflow.conftest import Checkout, copy_checkout

pytestmark = pytest.mark.workflow
HOSTILE = cases.data(__file__)["hostile"]
RULES = {"data": "dataset", "runs": "train", "measures": "measure", "tables": "table"}


def rule_of(job_file: Path) -> str:
    """The rule that makes what a job file describes."""
    parts = job_file.parts[job_file.parts.index("results") + 1 :]
    return RULES.get(parts[0]) or RULES.get(parts[1]) or parts[1].removesuffix("s")


@exhaustive
def test_a_hostile_environment_changes_no_byte(checkout: Checkout):
    """Jobs of every rule are made again, by the commands of the rules, upstream first."""
    results = checkout.folder / "results"
    kept = ("data", "runs", "measures", "smoke/tables", "smoke/figures")
    jobs = [file for part in kept for file in sorted((results / part).rglob("*spec.json"))[::8]]
    assert {rule_of(job) for job in jobs} == {"dataset", "train", "measure", "table", "figure"}
    home = checkout.folder / "home"
    home.mkdir()
    style = home / "matplotlibrc"
    style.write_text("axes.grid: True\nlines.linestyle: --\nfigure.facecolor: yellow\n")
    variables = {
        **os.environ,
        **HOSTILE,
        "MPLCONFIGDIR": str(home),
        "PYTHONPATH": str(checkout.folder / "src"),
    }
    before = {}
    for job in jobs:
        manifest = job.with_name(job.name.replace("spec.json", "manifest.json"))
        before[manifest] = json.loads(manifest.read_text())["outputs"]
    for job in jobs:
        manifest = job.with_name(job.name.replace("spec.json", "manifest.json"))
        manifest.unlink()
        command = [
            sys.executable,
            "-m",
            "grokatlas",
            rule_of(job),
            job.relative_to(checkout.folder),
        ]
        done = called(*command, cwd=checkout.folder, env=variables)
        assert done.returncode == 0, f"{job}: {done.stderr}"
        assert json.loads(manifest.read_text())["outputs"] == before[manifest], job


def test_files_of_a_checkout_hide_no_library(tmp_path):
    checkout = copy_checkout(tmp_path / "atlas")
    for name in (*sys.stdlib_module_names, "yaml", "torch", "pandas", "matplotlib"):
        (checkout.folder / f"{name}.py").write_text("raise SystemExit('hidden by ' + __file__)\n")
    figure = "results/smoke/figures/geometry/fig1.pdf"
    command = [Path(sys.executable).with_name("snakemake"), "--cores", "2", figure]
    variables = {key: value for key, value in os.environ.items() if key != "SNAKEMAKE_PROFILE"}
    done = called(*command, "--config", "scale=smoke", cwd=checkout.folder, env=variables)
    assert done.returncode == 0, done.stderr
    assert (checkout.folder / figure).is_file()


def test_a_path_that_snakemake_cannot_name_is_one_line(tmp_path):
    checkout = copy_checkout(tmp_path / "a {b}")
    done = checkout.snakemake("-n")
    assert done.returncode == 1
    (line,) = done.stderr.splitlines()
    assert line.startswith(f"{checkout.folder}: has '{{' and '}}' in its path")
