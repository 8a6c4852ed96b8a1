"""`grokatlas submit`: heads take turns until all is made, however each of them ends."""

import contextlib
import subprocess
import sys

from .conftest import QUICK, until
from .test_faults import FIG3

HEAD = "grokatlas-head"
CALL = (*QUICK, "--config", "scale=smoke", "--", FIG3)


def _submit(site, *arguments: str) -> str:
    """What ``grokatlas submit`` says."""
    done = subprocess.run(
        [sys.executable, "-m", "grokatlas", "submit", *arguments],
        cwd=site.folder,
        env=site.variables,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def _heads(site, states: str = "all") -> list[str]:
    """The numbers of the heads in some states, oldest first."""
    command = ["squeue", "--noheader", f"--name={HEAD}", f"--states={states}", "--format=%i %Z"]
    lines = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    rows = [line.partition(" ") for line in lines.splitlines()]
    return sorted((job for job, _, place in rows if place == str(site.folder)), key=int)


def _at_work(site, time: str):
    """A head on its way to the figure, and the process that trains a run, stopped."""
    said = _submit(site, "--time", time, *CALL)
    assert "is submitted: it runs `snakemake --profile slurm" in said
    runs = until(lambda: site.runs("zero_loss_sets"), "the plan is made")
    run, trainer = until(lambda: _training(site, runs), "a run is on its way")
    trainer.suspend()
    (head,) = _heads(site, "running")
    return head, run, trainer


def _training(site, runs: list[str]):
    """A run that a process trains, and this process; a run may be saved by an earlier one."""
    for run in filter(site.saved, runs):
        with contextlib.suppress(ValueError):
            return run, site.trainer(run)
    return None


def _assert_ended_well(site, undisturbed) -> None:
    """All is made, nothing twice, and no head is left."""
    until(lambda: not _heads(site, "pending,running,completing"), "the chain ends")
    log = (site.folder / ".snakemake/slurm_logs/head.log").read_text()
    assert log.splitlines()[-1].endswith("all is made"), log[-5000:]
    until(lambda: all(job.span[1] for job in site.jobs()), "the accounting has every end")
    jobs = [job for job in site.jobs() if job.rule and job.state == "COMPLETED"]
    assert len(jobs) == len({(job.rule, job.wildcards) for job in jobs}) > 0
    site.assert_ended_well(undisturbed, "geometry/fig3")


def test_a_head_near_its_time_limit_hands_over(site, undisturbed):
    head, run, trainer = _at_work(site, "1m")
    until(lambda: set(_heads(site, "running")) - {head}, "another head takes over")
    trainer.resume()
    _assert_ended_well(site, undisturbed)
    assert len(site.assert_one_piece(run)) == 1  # nothing happened to its job
    heads = [job.state for job in site.jobs() if not job.rule]
    assert heads.count("COMPLETED") >= 2
    assert set(heads) <= {"COMPLETED", "CANCELLED"}  # a successor that had nothing to do


def test_what_was_cancelled_goes_on_and_a_head_that_is_killed_is_followed(site, undisturbed):
    _submit(site, *CALL)
    until(lambda: site.runs("zero_loss_sets"), "the plan is made")
    assert "the folder is unlocked" in _submit(site, "--cancel")
    assert _heads(site, "pending,running,completing") == []
    until(lambda: all(job.span[1] for job in site.jobs()), "the accounting has every end")

    head, _, trainer = _at_work(site, "20m")
    site.process("-m", "grokatlas.operate.head").kill()
    (second,) = until(lambda: set(_heads(site, "running")) - {head}, "another head takes over")
    trainer.resume()
    _assert_ended_well(site, undisturbed)
    states = {job.id: job.state for job in site.jobs()}
    assert (states[head], states[second]) == ("FAILED", "COMPLETED")
