"""`grokatlas submit`: jobs of the workflow take turns until all is made, however each ends."""

import contextlib
import re
import subprocess

import pytest

from tests.checkout import called, python

from .conftest import QUICK, until
from .test_faults import FIG3

NAME = "grokatlas-workflow"
CALL = (*QUICK, "--config", "scale=smoke", "--", FIG3)


def _grokatlas(site, *arguments: str) -> str:
    """What a command says."""
    done = python("-m", "grokatlas", *arguments, cwd=site.folder, env=site.variables)
    assert done.returncode == 0, done.stderr
    return done.stdout


def _jobs(site, states: str = "all") -> list[str]:
    """The numbers of the workflow's jobs in some states, oldest first."""
    command = ["squeue", "--noheader", f"--name={NAME}", f"--states={states}", "--format=%i %Z"]
    lines = called(*command, check=True).stdout
    rows = [line.partition(" ") for line in lines.splitlines()]
    return sorted((job for job, _, place in rows if place == str(site.folder)), key=int)


def _at_work(site, time: str):
    """A job of the workflow, on its way to the figure, and a process that trains, stopped."""
    (job,) = re.findall(
        r"^job (\d+) is submitted", _grokatlas(site, "submit", "--time", time, *CALL)
    )
    runs = until(lambda: site.runs("zero_loss_sets"), "the plan is made")
    run, trainer = until(lambda: _training(site, runs), "a run is on its way")
    trainer.suspend()
    return job, run, trainer


def _training(site, runs: list[str]):
    """A run that a process trains, and this process; a run may be saved by an earlier one."""
    for run in filter(site.saved, runs):
        with contextlib.suppress(ValueError):
            return run, site.trainer(run)
    return None


def _log(site) -> str:
    return (site.folder / ".snakemake/slurm_logs/workflow.log").read_text()


def _assert_ended_well(site, undisturbed) -> None:
    """All is made, nothing twice, and no job of the workflow is left."""
    until(lambda: not _jobs(site, "pending,running,completing"), "the workflow ends")
    assert "all is made; no job follows" in _log(site).splitlines()[-1], _log(site)[-5000:]
    until(lambda: all(job.span[1] for job in site.jobs()), "the accounting has every end")
    jobs = [job for job in site.jobs() if job.rule and job.state == "COMPLETED"]
    assert len(jobs) == len({(job.rule, job.wildcards) for job in jobs}) > 0
    site.assert_ended_well(undisturbed, "geometry/fig3")


def test_a_job_near_its_time_limit_hands_over(site, undisturbed):
    job, run, trainer = _at_work(site, "3")
    until(lambda: set(_jobs(site, "running")) - {job}, "another job takes over")
    trainer.resume()
    _assert_ended_well(site, undisturbed)
    assert "its time is nearly over" in _log(site)
    assert len(site.assert_one_piece(run)) == 1  # nothing happened to its own job
    states = [job.state for job in site.jobs() if not job.rule]
    assert states.count("COMPLETED") >= 2
    assert set(states) <= {"COMPLETED", "CANCELLED"}  # one that had nothing to do


@pytest.mark.parametrize("killed", ["the job", "Snakemake"])
def test_a_job_that_is_killed_is_followed(site, undisturbed, killed):
    job, _, trainer = _at_work(site, "20")
    snakemake = site.process("-m", "snakemake", "--profile", "profiles/slurm")
    (snakemake if killed == "Snakemake" else snakemake.parent()).kill()
    (second,) = until(lambda: set(_jobs(site, "running")) - {job}, "another job takes over")
    trainer.resume()
    _assert_ended_well(site, undisturbed)
    states = {job.id: job.state for job in site.jobs()}
    ended = "COMPLETED" if killed == "Snakemake" else "FAILED"
    assert (states[job], states[second]) == (ended, "COMPLETED")


def test_after_a_job_that_is_cancelled_nothing_is_submitted_and_all_goes_on_later(
    site, undisturbed
):
    job, _, trainer = _at_work(site, "20")
    subprocess.run(["scancel", job], check=True)
    until(lambda: not _jobs(site, "pending,running,completing"), "the workflow ends")
    assert f"job {job} was cancelled; no job follows" in _log(site).splitlines()[-1]
    trainer.resume()
    assert "the folder is unlocked" in _grokatlas(site, "unlock")
    _grokatlas(site, "submit", *CALL)
    _assert_ended_well(site, undisturbed)
