"""The files that a job waits for where an archive left some of them out."""

from pathlib import Path

import pytest

from grokatlas.plan.jobs import Job, Plan
from grokatlas.results import files, layout, records_only
from tests.unit import audit_tree

KINDS = {"run": "runs", "measure": "measures", "table": "tables", "figure": "figures"}


@pytest.fixture
def plan(here) -> Plan:
    """A tree in which everything was made."""
    jobs = audit_tree.declared()
    audit_tree.build(jobs)
    plan = Plan("smoke")
    for target, job in jobs.items():
        getattr(plan, KINDS.get(job.kind, "datasets"))[target] = job
    return plan


def leave_out(plan: Plan, *kinds: str) -> None:
    """Take away the files of some kinds, as an archive of tables does."""
    lost = [file for job in plan.jobs if job.kind in kinds for file in job.outputs]
    files.write_json(layout.RESULTS / records_only.LIST, {str(file): "0" * 64 for file in lost})
    for file in lost:
        file.unlink()


def waits_for(plan: Plan, job: Job) -> set[str]:
    return {layout.owner(file.as_posix())[0] for file, _ in plan.inputs(job)}


def first(plan: Plan, kind: str) -> Job:
    return next(job for job in plan.jobs if job.kind == kind)


def test_what_is_made_and_here_waits_for_nothing_that_was_left_out(plan):
    leave_out(plan, "dataset", "run", "measure")
    assert waits_for(plan, first(plan, "table")) == set()
    assert waits_for(plan, first(plan, "figure")) == {"table"}


def test_what_is_made_again_waits_for_all_that_it_reads(plan):
    """Another scale asks for a run and a measure that the records of this one share."""
    leave_out(plan, "dataset", "run", "measure")
    assert waits_for(plan, first(plan, "run")) == {"dataset"}
    assert waits_for(plan, first(plan, "measure")) == {"run", "dataset"}


def test_a_run_whose_history_is_here_waits_for_no_data(plan):
    leave_out(plan, "dataset")
    run = first(plan, "run")
    Path(run.outputs[1]).unlink()  # snapshots, which no table reads
    assert waits_for(plan, run) == set()


def test_what_was_lost_and_not_left_out_is_waited_for(plan):
    first(plan, "dataset").outputs[0].unlink()
    assert waits_for(plan, first(plan, "run")) == {"dataset"}
