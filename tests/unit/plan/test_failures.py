"""The reason of a failed job is said when the workflow ends, whatever Snakemake may say."""

import pytest
from snakemake.logging import logger
from snakemake_interface_logger_plugins.common import LogEvent

from grokatlas.plan.failures import Failures

RUN = "results/runs/0123456789ab"


@pytest.fixture
def failures(here):
    heard = Failures()
    heard.listen()
    yield heard
    logger.removeHandler(heard)


def facts(tmp_path, target: str, text: str) -> dict:
    """What Snakemake logs of a job with this log."""
    log = tmp_path / target / "log.txt"
    log.parent.mkdir(parents=True, exist_ok=True)
    log.write_text(text)
    outputs = [f"{target}/history.parquet", f"{target}/manifest.json"]
    return {"rule_name": "train", "log": [f"{target}/log.txt"], "output": outputs}


def fail(facts: dict) -> None:
    logger.error("Error in rule", extra={"event": LogEvent.JOB_ERROR, **facts})


def test_each_failed_job_is_a_line_with_the_last_line_of_its_log(tmp_path, failures):
    job = facts(tmp_path, RUN, "run: step 10\ntraining failed: disk full\n\n")
    logger.error("a job that begins", extra={"event": LogEvent.JOB_INFO, **job})
    assert list(failures.lines()) == []
    fail(job)
    fail(job)
    other = facts(tmp_path, "results/runs/ba9876543210", "")
    logger.error("a group", extra={"event": LogEvent.GROUP_ERROR, "job_error_info": [other]})
    assert list(failures.lines()) == [
        f"rule train failed, {RUN}/log.txt: training failed: disk full",
        "rule train failed, results/runs/ba9876543210/log.txt: its log is empty",
    ]


def test_a_job_that_a_later_try_finished_did_not_fail(tmp_path, failures):
    fail(facts(tmp_path, RUN, "out of memory\n"))
    (tmp_path / RUN / "manifest.json").write_text("{}")
    assert list(failures.lines()) == []


def test_of_many_failures_the_first_are_said(tmp_path, failures):
    for number in range(30):
        fail(facts(tmp_path, f"results/runs/{number:012x}", "no\n"))
    *lines, last = failures.lines()
    assert (len(lines), last) == (20, "and 10 more jobs failed")
