"""A member that diverges where the experiment lets the watch stop it: what the workflow says."""

import json
import os
import subprocess
import sys

import pandas as pd
import pytest

from tests.tiers import exhaustive
from tests.workflow.conftest import Checkout

pytestmark = pytest.mark.workflow

YAML = "config/papers/geometry/experiments.yaml"
FIG1 = "results/smoke/figures/geometry/fig1"
WEIGHTS = "    penalties.0.weight: [0.01, 0.1, 0.2]\n"
WATCHED = "    penalties.0.weight: [0.01, 0.1, 1e200]\n  watch: {nonfinite: {stop: member}}\n"


def grokatlas(checkout: Checkout, *arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "grokatlas", *arguments],
        cwd=checkout.folder,
        env={**os.environ, "PYTHONPATH": str(checkout.folder / "src")},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout


@exhaustive
def test_a_stopped_member_is_a_result_that_says_so(checkout):
    checkout.edit(YAML, WEIGHTS, WATCHED)
    assert [job.split()[0] for job in checkout.jobs()] == ["figure", "table", "train"]
    done = checkout.snakemake("--cores", "1")
    assert done.returncode == 0, done.stderr
    table = pd.read_parquet(checkout.folder / "results/smoke/tables/geometry/two_weights.parquet")
    last = table[table["record"] == "history"].groupby("member").last()
    assert last["stopped"].tolist() == [False, False, True]
    assert last["step"].tolist()[:2] == [20, 20]
    assert last["step"][2] < 20
    (run,) = table["run"].unique()
    manifest = json.loads((checkout.folder / f"results/runs/{run}/manifest.json").read_text())
    assert manifest["stopped"] == manifest["diverged"] == {"2": int(last["step"][2])}
    told = "1 of 3 members stopped by the watch"
    assert told in grokatlas(checkout, "status", "--scale", "smoke", "--once")
    assert told in grokatlas(checkout, "explain", "geometry/fig1")
    page = (checkout.folder / "results/smoke/atlas/paper-geometry.html").read_text()
    assert (
        f"run {run}, member 2 (penalties.0.weight 1e+200, seed 0): test_loss is not finite" in page
    )
    assert "the watch stopped them, the first from step" in page
    assert (checkout.jobs(), checkout.closing()) == ([], [])


NOTIFY = """
import json, os, sys
facts = {name: os.environ.get(f"GROKATLAS_{name}", "") for name in ("EVENT", "SCALE", "RUN")}
with open("told.jsonl", "a") as file:
    file.write(json.dumps({**facts, "message": sys.stdin.read()}) + "\\n")
"""


@exhaustive
def test_a_command_hears_of_a_run_that_fails_and_of_the_end(checkout):
    (checkout.folder / "notify.py").write_text(NOTIFY)
    command = f"[{sys.executable}, notify.py]"
    checkout.edit("config/config.yaml", "notify: null", f"notify: {{command: {command}}}")
    fails = "  train: {steps: 5000, stop: {train_loss: {below: 1e9}}}\n"
    checkout.edit(YAML, "  train: {steps: 5000}\n  ensemble:\n    penalties", fails + ENSEMBLE)
    assert checkout.snakemake("--cores", "1", f"{FIG1}.pdf").returncode != 0
    lines = (checkout.folder / "told.jsonl").read_text().splitlines()
    failed, ended = map(json.loads, lines)
    assert (failed["EVENT"], ended["EVENT"]) == ("run failed", "workflow failed")
    assert (checkout.folder / "results/runs" / failed["RUN"] / "log.txt").exists()
    why = "training failed: train.stop: every member reaches it at step 0"
    assert why in failed["message"]
    assert why in ended["message"]
    assert ended["SCALE"] == "smoke"
    checkout.edit(YAML, fails, "  train: {steps: 5000}\n")
    done = checkout.snakemake("--cores", "1", f"{FIG1}.pdf", "--forcerun", "figure")
    assert done.returncode == 0, done.stderr
    assert "warning" not in done.stderr
    last = json.loads((checkout.folder / "told.jsonl").read_text().splitlines()[-1])
    assert (last["EVENT"], last["RUN"]) == ("workflow ended", "")


ENSEMBLE = "  ensemble:\n    penalties"
