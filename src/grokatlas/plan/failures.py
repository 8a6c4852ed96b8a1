"""The reason of each failed job, for the end of a workflow: ``--quiet`` hides Snakemake's."""

import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from grokatlas.text import last_line

EVENTS = ("JOB_ERROR", "GROUP_ERROR")  # of Snakemake's log
MOST = 20  # failed jobs that are named


class Failures(logging.Handler):
    """Hears of jobs that fail, as Snakemake logs them."""

    def __init__(self) -> None:
        super().__init__()
        self._failed: dict[str, dict[str, Any]] = {}  # the last failure of each job, by its log

    def listen(self) -> None:
        """Hear of each job that fails from now on."""
        from snakemake.logging import logger

        logger.addHandler(self)

    def emit(self, record: logging.LogRecord) -> None:
        """Look at one record."""
        if getattr(getattr(record, "event", None), "name", "") in EVENTS:
            for facts in [vars(record), *getattr(record, "job_error_info", [])]:
                self._failed |= {str(log): facts for log in list(facts.get("log") or [])[:1]}

    def lines(self) -> Iterator[str]:
        """The last line of each failed job's log; nothing of a job that a later try finished."""
        failed = [log for log, facts in self._failed.items() if not _finished(facts)]
        for log in failed[:MOST]:
            rule = self._failed[log].get("rule_name")
            yield f"rule {rule} failed, {log}: {_last_line(Path(log))}"
        if len(failed) > MOST:
            yield f"and {len(failed) - MOST} more jobs failed"


def _finished(facts: dict[str, Any]) -> bool:
    """Test for a job's manifest, which it writes last; a job has none while it is to be made."""
    manifests = [str(file) for file in facts.get("output") or [] if "manifest.json" in str(file)]
    return bool(manifests) and all(Path(file).exists() for file in manifests)


def _last_line(log: Path) -> str:
    """The last line of a log that is not empty."""
    try:
        text = log.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        return f"its log cannot be read: {error.strerror}"
    return last_line(text) or "its log is empty"
