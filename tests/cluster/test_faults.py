"""Whatever happens to a job, the figure comes, with the bytes of an undisturbed one."""

import subprocess

from .conftest import until

FIG3 = "results/smoke/figures/geometry/fig3.pdf"


def _disturbed(site) -> tuple:
    """Snakemake on its way to figure 3, one of its runs, and the job that trains it."""
    process = site.start("--", FIG3)
    runs = until(lambda: _runs(site), "the plan is made")
    run = site.training(*runs)
    (job,) = site.jobs("train", run)
    return process, run, job


def _runs(site) -> list[str]:
    try:
        return site.runs("zero_loss_sets")
    except ValueError:  # not there yet
        return []


def test_a_cancelled_job_is_submitted_again_and_goes_on(site, undisturbed):
    process, run, job = _disturbed(site)
    subprocess.run(["scancel", job.id], check=True)
    site.finish(process)
    assert site.states("train", run) == ["CANCELLED", "COMPLETED"]
    first, second = site.assert_one_piece(run)
    assert first["job"] == job.id != second["job"]
    site.assert_like(undisturbed, "geometry/fig3")
