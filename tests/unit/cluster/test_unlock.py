"""`grokatlas unlock`, with a Slurm of two scripts."""

import os
import subprocess
import sys

import pytest

from grokatlas.cluster import unlock
from grokatlas.errors import UserError
from tests.checkout import program

SQUEUE = """#!/bin/sh
[ -f {state}/broken ] && echo "cannot reach the controller" >&2 && exit 1
for job in $(ls {state}/jobs); do echo "$job|RUNNING|$(cat {state}/jobs/$job)"; done
"""
RULE = "9e34-a1|{}"
SCANCEL = """#!/bin/sh
for job in "$@"; do [ -f {state}/deaf ] || rm {state}/jobs/$job; done
"""


@pytest.fixture
def slurm(tmp_path, monkeypatch):
    """A queue: a file for each job, which holds its name, comment and folder."""
    state, bin_ = tmp_path / "state", tmp_path / "bin"
    (state / "jobs").mkdir(parents=True)
    for name, text in {"squeue": SQUEUE, "scancel": SCANCEL}.items():
        program(bin_ / name, text.format(state=state))
    monkeypatch.setenv("PATH", f"{bin_}{os.pathsep}{os.environ['PATH']}")
    return state


@pytest.fixture
def checkout(tmp_path):
    """A folder with a Snakefile and the lock of a killed Snakemake."""
    folder = tmp_path / "check out"
    (folder / ".snakemake/locks").mkdir(parents=True)
    (folder / ".snakemake/locks/0.output.lock").write_text("a\n")
    (folder / "Snakefile").write_text("rule all:\n    output: 'a'\n    shell: 'touch a'\n")
    return folder


def _locked(folder):
    return any((folder / ".snakemake/locks").glob("*"))


def test_own_jobs_are_cancelled_and_the_lock_removed(slurm, checkout):
    for job, place in {"3": checkout, "4": checkout.parent, "5": checkout}.items():
        (slurm / "jobs" / job).write_text(RULE.format(place))
    assert unlock.main(checkout).startswith("2 jobs cancelled")
    assert [file.name for file in (slurm / "jobs").iterdir()] == ["4"]
    assert not _locked(checkout)


def test_the_job_that_it_is_called_from_is_none_of_them(slurm, checkout, monkeypatch):
    for job in ("3", "5"):
        (slurm / "jobs" / job).write_text(RULE.format(checkout))
    monkeypatch.setenv("SLURM_JOB_ID", "5")
    assert unlock.main(checkout).startswith("1 jobs cancelled")
    assert [file.name for file in (slurm / "jobs").iterdir()] == ["5"]


def test_a_workflow_that_is_in_a_job_is_left_alone(slurm, checkout):
    (slurm / "jobs/3").write_text(RULE.format(checkout))
    (slurm / "jobs/4").write_text(f"grokatlas-workflow|{checkout}")
    with pytest.raises(UserError, match=r"workflow is in jobs 4 \(running\); `scancel` them"):
        unlock.main(checkout)
    assert (slurm / "jobs/3").exists()
    assert _locked(checkout)


def test_without_slurm_only_the_lock_is_removed(checkout, monkeypatch):
    monkeypatch.setattr(unlock.slurm.shutil, "which", lambda name: None)
    assert unlock.main(checkout).startswith("0 jobs cancelled")
    assert not _locked(checkout)


@pytest.mark.parametrize(("trouble", "told"), [("deaf", "do not end"), ("broken", "try again")])
def test_the_lock_stays_while_jobs_may_run(trouble, told, slurm, checkout):
    (slurm / "jobs/3").write_text(RULE.format(checkout))
    (slurm / trouble).touch()
    with pytest.raises(UserError, match=told):
        unlock.main(checkout, patience=0)
    assert _locked(checkout)


def test_a_snakemake_that_still_runs_is_left_alone(slurm, checkout):
    (slurm / "jobs/3").write_text(RULE.format(checkout))
    script = checkout / "snakemake"
    script.write_text("import time; time.sleep(60)")
    with subprocess.Popen([sys.executable, str(script)], cwd=checkout) as running:
        with pytest.raises(UserError, match=f"process {running.pid}"):
            unlock.main(checkout)
        running.kill()
    assert (slurm / "jobs/3").exists()
    assert _locked(checkout)
