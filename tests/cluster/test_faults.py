"""Whatever happens to a job, the figure comes, with the bytes of an undisturbed one."""

import contextlib
import os
import re
import shutil
import signal
import subprocess
import time
from datetime import datetime
from pathlib import Path

import psutil

from tests.checkout import python

from .conftest import ROOT, tool, until

FIG3 = "results/smoke/figures/geometry/fig3.pdf"


def _disturbed(site, profile: str = "slurm") -> tuple:
    """Snakemake on its way to the figure, a run in training, its trainer, and the job they are in.

    The trainer is stopped, so that it is not done before something happens to it: see `_wake`.
    """
    process = site.start("--", FIG3, command=("--profile", profile))
    runs = until(lambda: site.runs("zero_loss_sets"), "the plan is made")
    run = site.training(*runs)
    trainer = site.trainer(run)
    trainer.suspend()
    return process, run, trainer, site.active(run)


def _wake(trainer: psutil.Process) -> None:
    """Let a stopped trainer go on once Slurm has asked it to end."""
    until(lambda: _told(trainer, signal.SIGTERM), "the signal comes through to training")
    with contextlib.suppress(psutil.NoSuchProcess):
        trainer.resume()


def _told(process: psutil.Process, number: int) -> bool:
    """Whether a stopped process has a signal waiting, or was woken by Slurm and has ended of it."""
    try:
        text = Path(f"/proc/{process.pid}/status").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return True
    waiting = int(re.search(r"^ShdPnd:\s*(\w+)", text, re.MULTILINE)[1], 16)
    return bool(waiting >> (number - 1) & 1)


def test_a_cancelled_job_is_submitted_again_and_goes_on(site, undisturbed):
    process, run, trainer, job = _disturbed(site)
    subprocess.run(["scancel", job.id], check=True)
    _wake(trainer)
    site.finish(process)
    assert site.states("train", run) == ["CANCELLED", "COMPLETED"]
    first, second = site.assert_one_piece(run)
    assert first["job"] == job.id != second["job"]
    site.assert_ended_well(undisturbed, "geometry/fig3")


def test_a_job_near_its_time_limit_saves_and_the_next_goes_on(site, undisturbed):
    process, run, trainer, job = _disturbed(site)
    minutes = int((datetime.now() - job.span[0]).total_seconds() // 60) + 2
    limit = ["scontrol", "update", f"jobid={job.id}", f"timelimit={minutes}"]
    subprocess.run(limit, check=True)
    _wake(trainer)  # Slurm looks at the time every 30 s
    site.finish(process)
    assert site.states("train", run) == ["FAILED", "COMPLETED"]  # it had not timed out yet
    assert len(site.assert_one_piece(run)) == 2
    site.assert_ended_well(undisturbed, "geometry/fig3")


def test_a_job_on_a_lost_node_goes_on_elsewhere(site, undisturbed):
    process, run, _, job = _disturbed(site)
    try:
        tool("crash-node", job.node)
        site.finish(process)
    finally:
        site.clear()
        tool("up")
    assert site.states("train", run) == ["NODE_FAIL", "COMPLETED"]
    assert site.jobs("train", run)[-1].node != job.node
    assert len(site.assert_one_piece(run)) == 2
    site.assert_ended_well(undisturbed, "geometry/fig3")


def test_a_requeued_job_goes_on_as_itself(site, undisturbed, tmp_path):
    profile = shutil.copytree(ROOT / "profiles/slurm", tmp_path / "requeue")
    text = (profile / "config.yaml").read_text(encoding="utf-8")
    requeue = text.replace("\nslurm-no-requeue: true", "\nslurm-requeue: true")
    assert requeue != text
    (profile / "config.yaml").write_text(requeue, encoding="utf-8")
    process, run, trainer, job = _disturbed(site, str(profile))
    subprocess.run(["scontrol", "requeue", job.id], check=True)  # what preemption may do
    _wake(trainer)
    site.finish(process)
    assert site.states("train", run) == ["COMPLETED"]
    first, second = site.assert_one_piece(run)
    assert first["job"] == second["job"] == job.id
    site.assert_ended_well(undisturbed, "geometry/fig3")


def test_a_job_out_of_memory_gets_more(site, undisturbed):
    process = site.start("--set-resources", "train:mem_mb=350 * attempt", "--", FIG3)
    site.finish(process)
    for run in site.runs("zero_loss_sets"):
        *failed, last = site.jobs("train", run)
        assert {job.state for job in failed} in ({"FAILED"}, {"OUT_OF_MEMORY"})
        assert last.state == "COMPLETED"
        memory = [int(job.memory.removesuffix("M")) for job in (*failed, last)]
        assert memory == [350 * (k + 1) for k in range(len(memory))]
    site.assert_ended_well(undisturbed, "geometry/fig3")


def test_a_killed_head_is_started_again_and_trains_nothing_twice(site, undisturbed):
    process, _, trainer, _ = _disturbed(site)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    trainer.resume()
    runs = site.runs("zero_loss_sets")
    first = until(lambda: next(filter(site.finished, runs), None), "a job runs on to its end")
    manifest = site.manifest(first)
    done = python("-m", "grokatlas", "unlock", cwd=site.folder)
    assert done.returncode == 0, done.stderr
    assert "the folder is unlocked" in done.stdout
    assert all(job.span[1] for job in site.jobs())
    site.finish(site.start("--", FIG3))
    assert site.manifest(first) == manifest
    assert len(site.jobs("train", first)) == 1
    site.assert_ended_well(undisturbed, "geometry/fig3")


def test_an_interrupted_workflow_leaves_no_job_and_goes_on(site, undisturbed):
    process, run, trainer, _ = _disturbed(site)
    os.killpg(process.pid, signal.SIGINT)
    _wake(trainer)
    assert until(lambda: process.poll() is not None, "Snakemake ends")
    assert process.returncode != 0
    until(lambda: site.states("train", run) == ["CANCELLED"], "its job ends")
    site.finish(site.start("--", FIG3))
    assert site.states("train", run) == ["CANCELLED", "COMPLETED"]
    assert len(site.assert_one_piece(run)) == 2
    site.assert_ended_well(undisturbed, "geometry/fig3")


def test_jobs_outlive_a_restart_of_the_controller(site, undisturbed):
    process, _, trainer, _ = _disturbed(site)
    subprocess.run(["scontrol", "shutdown", "slurmctld"], check=True)
    trainer.resume()
    time.sleep(20)  # a poll or two without an answer
    tool("up")
    site.finish(process)
    for run in site.runs("zero_loss_sets"):
        assert site.states("train", run) == ["COMPLETED"]
        assert len(site.assert_one_piece(run)) == 1
    site.assert_ended_well(undisturbed, "geometry/fig3")
