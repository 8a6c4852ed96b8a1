"""Snakemake's progress with the time left, which the profiles choose (`logger`).

In a terminal these are the bars of the plugin `rich` with one more column. Without a terminal,
Snakemake's own lines appear, and a line with the time left once a minute.

Snakemake finds this package by its name, and imports it before it reads the Snakefile. So nothing
of `grokatlas` is imported here: it might be the code of another checkout.
"""

import sys
import threading
import time
from logging import LogRecord

from rich.progress import ProgressColumn, Task
from rich.text import Text
from snakemake_interface_logger_plugins.common import LogEvent
from snakemake_logger_plugin_rich import LogHandler as RichHandler

PERIOD = 60.0  # seconds between two lines without a terminal
TOTAL = "Total Progress"  # what the plugin `rich` calls the bar of all jobs


def time_left(done: float, total: float, elapsed: float) -> str:
    """The time of the rest if its jobs take as long as those before; empty if none is known.

    Measured on `make figures`, this is nearer to the truth than what `plan.resources` estimates,
    and than the mean time of each rule's jobs.

    Args:
        done: jobs that ended.
        total: all jobs.
        elapsed: seconds since the first one started.
    """
    if not 0 < done < total:
        return ""
    seconds = round(elapsed * (total - done) / done)
    minutes = round(seconds / 60)
    hours = f"{minutes // 60} h {minutes % 60} min" if minutes >= 60 else f"{minutes} min"
    return f"about {hours if seconds >= 60 else f'{seconds} s'} left"


class TimeLeft(ProgressColumn):
    """The time left, beside the bar of all jobs."""

    def render(self, task: Task) -> Text:
        """The text beside one bar."""
        if task.description != TOTAL or task.total is None:
            return Text()
        return Text(time_left(task.completed, task.total, task.elapsed or 0.0))


class LogHandler(RichHandler):  # type: ignore[misc]  # a library without types
    """Bars in a terminal; else a line once a minute."""

    def __post_init__(self) -> None:
        self.in_terminal = sys.stderr.isatty()
        super().__post_init__()
        self.progress.columns = (*self.progress.columns, TimeLeft())
        self.start = 0.0
        self.done = self.total = 0
        self.ended = threading.Event()

    @property
    def writes_to_stream(self) -> bool:
        """Tell if this takes the place of Snakemake's own lines."""
        return self.in_terminal

    def emit(self, record: LogRecord) -> None:
        """Show what Snakemake reports."""
        if self.in_terminal:
            super().emit(record)
            return
        fields = vars(record)
        event = fields.get("event")
        if event == LogEvent.RUN_INFO and not self.common_settings.dryrun and not self.start:
            self.start, self.total = time.monotonic(), fields["stats"]["total"]
            threading.Thread(target=self._report, daemon=True).start()
        elif event == LogEvent.PROGRESS:
            self.done, self.total = fields["done"], fields["total"]

    def close(self) -> None:
        """Write no further line."""
        self.ended.set()
        super().close()

    def _report(self) -> None:
        while not self.ended.wait(PERIOD):
            left = time_left(self.done, self.total, time.monotonic() - self.start)
            parts = [f"{self.done} of {self.total} jobs are done", *filter(None, [left])]
            print(", ".join(parts), file=sys.stderr, flush=True)
