"""A command of the user's that hears when a workflow ends or a run fails: the setting ``notify``.

The Snakemake that heads the workflow calls it, never a job of a rule. Under ``grokatlas submit``
the head job tells of the end of its chain. A run waits for nothing, and a command that fails costs
one line.
"""

import contextlib
import logging
import os
import queue
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from grokatlas.declare.settings import Notify, Settings, home_expanded
from grokatlas.errors import UserError
from grokatlas.results import files, layout

HEAD = "GROKATLAS_HEAD"  # environment variable: a head job tells of the end; the file it reads
RULE = "train"
EVENTS = ("JOB_ERROR", "GROUP_ERROR")  # of Snakemake's log
RUN = re.compile(r"(?:^|/)runs/([0-9a-f]{12})/")
INTERRUPTED = re.compile(r": stopped by SIG\w+ at step \d+; run it again to go on$")
MOST = 10  # failed runs that a message names
Failure = tuple[str, str, str]  # of a run: its id, its log, and the last line of that


def check(settings: Settings, sources: dict[str, str]) -> None:
    """Check that the command is there, before a workflow of hours begins.

    Under a head job nothing is checked, as `grokatlas submit` did so on the login node; what the
    head has to know is written down for it.

    Args:
        settings: of the configuration.
        sources: where keys are set that ``config.yaml`` does not set, for errors.

    Raises:
        UserError: it is not.
    """
    if file := os.environ.get(HEAD):
        kept = settings.model_dump(include={"notify", "scale"})
        files.write_json(Path(file), kept)
    elif settings.notify is not None and shutil.which(_words(settings.notify)[0]) is None:
        place = f"{sources.get('notify', 'config.yaml')}: notify.command.0"
        problem = f"no program {settings.notify.command[0]!r} can be run here"
        raise UserError(place, f"{problem}; write its path, or remove `notify`")


class Notifier:
    """Tells the command what happens in one call of Snakemake; does nothing without the setting.

    Args:
        project: of the call; in a job's own Snakemake it has no settings.
        scale: of the call.
    """

    def __init__(self, project: Any, scale: str) -> None:
        settings: Settings | None = getattr(project, "settings", None)
        self._notify = settings.notify if settings is not None else None
        self._scale = scale
        self._failures: queue.Queue[Failure | None] = queue.Queue()  # to be told at once
        self._failed: dict[str, Failure] = {}  # the last of each run, also where it was interrupted
        self._thread: threading.Thread | None = None

    def listen(self) -> None:
        """Tell of each run that fails, from now on; messages are sent beside the workflow."""
        if self._notify is None or self._thread is not None:
            return
        self._thread = threading.Thread(target=self._send_failures, daemon=True)
        self._thread.start()
        from snakemake.logging import logger

        logger.addHandler(_JobErrors(self._hear))

    def ended(self, well: bool) -> None:
        """Tell that the workflow ended, after the failures that are not told yet.

        It names the runs that failed or were interrupted, but for those that a later try finished.
        """
        if self._notify is None:
            return
        if self._thread is not None:
            self._failures.put(None)
            self._thread.join(self._notify.timeout)
        if os.environ.get(HEAD):
            return
        event = "workflow ended" if well else "workflow failed"
        text = f"the workflow {'ended' if well else 'failed'}."
        failed = [each for each in self._failed.values() if not _finished(each)]
        self._send(event, "\n".join([text, *_lines(failed)]), {})

    def _hear(self, failure: Failure) -> None:
        """Keep a failure for the end; tell it now, unless a later job goes on with the run."""
        run, _, last = failure
        self._failed[run] = failure
        if not INTERRUPTED.search(last):
            self._failures.put(failure)

    def _send_failures(self) -> None:
        """Send each failure; those that come meanwhile are one message."""
        while True:
            found = [self._failures.get()]
            with contextlib.suppress(queue.Empty):
                while True:
                    found.append(self._failures.get_nowait())
            failures = [failure for failure in found if failure is not None]
            if failures:
                runs, logs = (" ".join(f[place] for f in failures) for place in (0, 1))
                text = "\n".join([f"{len(failures)} of its runs failed.", *_lines(failures)])
                facts = {"GROKATLAS_RUN": runs, "GROKATLAS_LOG": logs}
                self._send("run failed", text, facts)
            if None in found:
                return

    def _send(self, event: str, text: str, facts: dict[str, str]) -> None:
        assert self._notify is not None
        host, folder = socket.gethostname(), Path.cwd()
        message = f"Grokking Atlas, {self._scale} scale, in {folder} on {host}: {text}\n"
        facts = {
            "GROKATLAS_EVENT": event,
            "GROKATLAS_SCALE": self._scale,
            "GROKATLAS_FOLDER": str(folder),
            "GROKATLAS_HOST": host,
            **facts,
        }
        try:
            problem = call(self._notify, message, facts)
        except OSError as error:  # its files have no room: a later message may have
            problem = (
                f"no message was sent: {error.strerror or error}; set TMPDIR to another folder"
            )
        if problem:
            print(f"warning: notify: {problem}", file=sys.stderr, flush=True)


class _JobErrors(logging.Handler):
    """Hears of jobs that fail, as Snakemake logs them, and hands on those that train."""

    def __init__(self, hand_on: Callable[[Failure], None]) -> None:
        super().__init__()
        self._hand_on = hand_on
        self._heard: set[tuple[str, float]] = set()  # logs and their times: no job is told twice

    def emit(self, record: logging.LogRecord) -> None:
        """Look at one record."""
        if getattr(getattr(record, "event", None), "name", "") not in EVENTS:
            return  # a job that starts is logged with the same facts
        found = [vars(record), *getattr(record, "job_error_info", [])]
        for told in found:
            if told.get("rule_name") != RULE:
                continue
            logs = [str(file) for file in told.get("log") or []]
            places = [log for log in logs if RUN.search(log)]
            for log in places[:1]:
                last, changed = _last_line(Path(log))
                if (log, changed) in self._heard:
                    continue
                self._heard.add((log, changed))
                self._hand_on((RUN.findall(log)[0], log, last))


def call(notify: Notify, message: str, facts: dict[str, str]) -> str:
    """Call the command, for so long as it may take.

    Args:
        notify: the setting.
        message: for its standard input.
        facts: for its environment.

    Returns:
        what went wrong, in one line; empty if nothing did.
    """
    words = _words(notify)
    with tempfile.TemporaryFile() as text, tempfile.TemporaryFile() as errors:
        text.write(message.encode())
        text.seek(0)
        streams: dict[str, Any] = {"stdin": text, "stdout": subprocess.DEVNULL, "stderr": errors}
        try:
            process = subprocess.Popen(
                words, env={**os.environ, **facts}, start_new_session=True, **streams
            )
        except (OSError, ValueError) as error:
            return f"{shlex.join(words)} cannot be run: {getattr(error, 'strerror', None) or error}"
        try:
            code = process.wait(notify.timeout)
        except subprocess.TimeoutExpired:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            return f"{shlex.join(words)} was ended, as it took more than {notify.timeout:g} s"
        errors.seek(0)
        last = errors.read().decode(errors="replace").strip().rpartition("\n")[2]
    told = f": {last}" if last else ""
    return f"{shlex.join(words)} ended with code {code}{told}" if code else ""


def _words(notify: Notify) -> list[str]:
    first, *rest = notify.command
    return [str(home_expanded(first)), *rest]


def _lines(failures: list[Failure]) -> list[str]:
    """Runs that failed or were interrupted, a line each."""
    lines = [
        f"run {run} is not finished: {last.removeprefix(f'run {run}: ')}"
        if INTERRUPTED.search(last)
        else f"run {run} failed: {last or 'its log is empty'}"
        for run, _, last in failures[:MOST]
    ]
    more = len(failures) - MOST
    return [*lines, f"and {more} more"] if more > 0 else lines


def _finished(failure: Failure) -> bool:
    """Whether a later try finished the run: no manifest is left from before a job begins."""
    return layout.manifest_of("run", Path(failure[1]).parent).exists()


def _last_line(log: Path) -> tuple[str, float]:
    """The last line of a log, and when it was written."""
    try:
        lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
        changed = log.stat().st_mtime
    except OSError:
        return "", 0.0
    return next((line.strip() for line in reversed(lines) if line.strip()), ""), changed
