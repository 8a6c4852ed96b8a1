"""A workflow that runs keeps its plan, and dates of files never decide."""

import json
import os
import time

import pytest

from tests.tiers import exhaustive
from tests.workflow.conftest import LOG, Checkout, copy_checkout

pytestmark = pytest.mark.workflow
FIGURE = "results/smoke/figures/geometry/fig1.pdf"
STYLE = ("src/grokatlas/plots/style.py", '"font.size": 8,', '"font.size": 9,')
RATE = (
    "config/papers/geometry/experiments.yaml",
    "optimizer: {name: gd, lr: 0.1}",
    "optimizer: {name: gd, lr: 0.05}",
)


def contents(checkout: Checkout) -> dict:
    """Every file below `results` with its bytes and its date."""
    files = (file for file in (checkout.folder / "results").rglob("*") if file.is_file())
    return {file: (file.read_bytes(), file.stat().st_mtime_ns) for file in files}


@exhaustive
@pytest.mark.parametrize("call", [("-n",), ("--summary",), ("--dag",), ("--rulegraph",)])
def test_what_runs_no_job_writes_nothing_in_a_fresh_clone(tmp_path, call):
    clone = copy_checkout(tmp_path / "clone")
    done = clone.snakemake(*call)
    assert done.returncode == 0, done.stderr
    assert not (clone.folder / "results").exists()


def test_jobs_are_chosen_when_one_has_ended_and_not_by_the_clock(finished):
    log = (finished.folder / LOG).read_text(encoding="utf-8")
    ended = log.count("Finished jobid: ")
    assert ended > 20
    assert log.count("Ready jobs: ") <= ended + 1


def test_a_dry_run_after_an_edit_writes_nothing(checkout):
    before = contents(checkout)
    checkout.edit(*RATE)
    checkout.edit(*STYLE)
    jobs = checkout.jobs()
    assert any(job.startswith("train") for job in jobs)
    assert "figure geometry/fig2" in jobs
    assert contents(checkout) == before


@exhaustive
def test_a_queued_job_needs_nothing_of_the_configuration(checkout):
    """Its own Snakemake runs while papers are edited; so do input functions of all its rules."""
    (run,) = checkout.runs("two_weights")
    for file in ("config/config.yaml", "config/papers/geometry/experiments.yaml"):
        (checkout.folder / file).write_text("experiments: {\n")
    name = run.rpartition("/")[2]
    call = ["--cores", "1", "--force", "--nolock", "--mode", "remote", "--allowed-rules", "train"]
    target = ["--target-jobs", f"train:run={name}"]
    manifest = checkout.folder / run / "manifest.json"
    before = json.loads(manifest.read_text())
    device = {"GROKATLAS_DEVICE": "cpu"}
    done = checkout.snakemake(f"{run}/history.parquet", *call, *target, env=device)
    assert done.returncode == 0, done.stdout + done.stderr
    after = json.loads(manifest.read_text())
    assert after["outputs"] == before["outputs"]
    assert after["started"] >= before["started"]


def test_a_plan_that_would_change_under_a_running_workflow_is_refused(checkout):
    locks = checkout.folder / ".snakemake/locks"
    locks.mkdir(exist_ok=True)
    (locks / "0.input.lock").write_text("results/elsewhere\n")
    checkout.edit(*STYLE)
    before = contents(checkout)
    done = checkout.snakemake("--cores", "1", FIGURE)
    assert done.returncode == 1
    (line,) = [line for line in done.stderr.splitlines() if line.startswith(".snakemake/locks")]
    assert "still needs its plan" in line
    assert "Traceback" not in done.stderr
    assert contents(checkout) == before
    checkout.edit(STYLE[0], STYLE[2], STYLE[1])
    checkout.make(FIGURE)  # the same plan


@exhaustive
@pytest.mark.parametrize("when", [1, 1_577_836_800, 4_000_000_000])
def test_one_time_for_all_files_keeps_nothing_stale(checkout, when):
    checkout.edit(*STYLE)
    checkout.make(FIGURE)
    checkout.edit(STYLE[0], STYLE[2], STYLE[1])
    digest = json.loads((checkout.folder / FIGURE).with_suffix(".manifest.json").read_text())[
        "digest"
    ]
    for file in (checkout.folder / "results").rglob("*"):
        os.utime(file, (when, when))
    checkout.make(FIGURE)
    after = json.loads((checkout.folder / FIGURE).with_suffix(".manifest.json").read_text())
    assert after["digest"] != digest
    assert checkout.snakemake("-n", FIGURE).stdout.count("Nothing to be done") <= 1
    assert "figure geometry/fig1" not in checkout.jobs(FIGURE)


@exhaustive
def test_inputs_dated_ahead_of_the_clock_lose_no_training(checkout):
    (run,) = checkout.runs("two_weights")
    for name in ("history.parquet", "snapshots.safetensors", "manifest.json"):
        (checkout.folder / run / name).unlink()
    later = time.time() + 3600
    for file in (checkout.folder / "results/data").rglob("*"):
        os.utime(file, (later, later))
    checkout.make(f"{run}/history.parquet")
    for file in (checkout.folder / run).iterdir():
        os.utime(file, (later, later))
    table = "results/smoke/tables/geometry/two_weights.parquet"
    (checkout.folder / table).unlink()
    checkout.make(table)


@exhaustive
def test_a_call_from_a_folder_of_the_checkout_begins_no_second_tree(checkout):
    folder = checkout.folder / "docs"
    folder.mkdir()
    done = Checkout(folder).snakemake("-n", "-s", "../Snakefile")
    assert done.returncode == 1
    (line,) = done.stderr.splitlines()
    assert "is inside the checkout" in line
    assert not (folder / "results").exists()
    assert Checkout(folder).snakemake("-n", "-s", "../Snakefile", "-d", "..").returncode == 0


@exhaustive
@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("scale: smoke\nscale: paper\n", "two.yaml: line 2: scale: "),
        ("scale: huge\n", "--configfile two.yaml: scale: "),
    ],
)
def test_a_mistake_in_a_configfile_names_the_file(checkout, text, line):
    file = checkout.folder / "two.yaml"
    file.write_text(text)
    done = checkout.call("-n", "--configfile", "two.yaml", "--config", "device=cpu")
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].startswith(line), done.stderr


@exhaustive
def test_null_on_the_command_line_is_no_folder_of_that_name(checkout):
    done = checkout.call("-n", FIGURE, "--config", "scale=smoke", "data_dir=null")
    assert done.returncode == 0, done.stderr
