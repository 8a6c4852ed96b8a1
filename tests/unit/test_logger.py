"""`snakemake --logger grokatlas`: how much is done, and the time left."""

import logging
import subprocess
import sys
import time
from types import SimpleNamespace

import pytest
from rich.progress import Progress
from snakemake_interface_logger_plugins.common import LogEvent

import snakemake_logger_plugin_grokatlas as plugin

SETTINGS = {
    "stdout": False,
    "dryrun": False,
    "printshellcmds": False,
    "show_failed_logs": False,
    "verbose": False,
}


@pytest.mark.parametrize(
    ("done", "elapsed", "text"),
    [
        (0, 50, ""),
        (1, 38, "about 2 h 6 min left"),
        (50, 100, "about 5 min left"),
        (150, 90, "about 30 s left"),
        (200, 100, ""),
    ],
)
def test_the_time_left_is_that_of_as_many_jobs_as_before(done, elapsed, text):
    assert plugin.time_left(done, 200, elapsed) == text


def test_the_bar_of_all_jobs_alone_has_it():
    now = 0.0
    with Progress(plugin.TimeLeft(), get_time=lambda: now, disable=True) as progress:
        bars = [progress.add_task(name, total=4) for name in (plugin.TOTAL, "train")]
        now = 60.0
        for bar in bars:
            progress.update(bar, completed=1)
        shown = [str(plugin.TimeLeft().render(progress.tasks[bar])) for bar in bars]
    assert shown == ["about 3 min left", ""]


@pytest.fixture
def handler(monkeypatch):
    monkeypatch.setattr(plugin, "PERIOD", 0.02)
    made = plugin.LogHandler(SimpleNamespace(**SETTINGS), None)
    yield made
    made.close()


def report(handler: plugin.LogHandler, event: LogEvent, **values) -> None:
    record = logging.LogRecord("snakemake", logging.INFO, "", 0, "", None, None)
    record.__dict__.update(event=event, **values)
    handler.emit(record)


def test_without_a_terminal_a_line_comes_even_where_no_job_ends(handler, capsys):
    assert not handler.writes_to_stream  # Snakemake's own lines appear
    report(handler, LogEvent.RUN_INFO, stats={"total": 4})
    report(handler, LogEvent.PROGRESS, done=1, total=4)
    handler.start -= 60
    said = ""
    limit = time.monotonic() + 10
    while said.count("\n") < 2 and time.monotonic() < limit:
        said += capsys.readouterr().err
    assert set(said.splitlines()) == {"1 of 4 jobs are done, about 3 min left"}
    handler.close()
    time.sleep(0.1)
    capsys.readouterr()
    time.sleep(0.1)
    assert capsys.readouterr().err == ""


def test_it_leaves_open_which_checkout_the_code_is_of():
    """What Snakemake imports before it reads the Snakefile is the code of the environment."""
    code = "import sys, snakemake_logger_plugin_grokatlas; sys.exit('grokatlas' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
