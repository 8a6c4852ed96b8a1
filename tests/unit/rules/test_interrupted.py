"""Ctrl-C at any moment of a job, or of what follows a failed workflow, is one line."""

import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from grokatlas.rules.jobs import fork_server
from tests.checkout import program

PAGES = """
import os, sys, time
with open("asked.tmp", "w") as file:
    print(os.getpid(), *sys.argv[1:], file=file)
os.rename("asked.tmp", "asked")
time.sleep(60)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="used on Linux alone")
def test_a_job_that_waits_for_its_fork(tmp_path, monkeypatch):
    with socket.socket(socket.AF_UNIX) as server:
        monkeypatch.chdir(tmp_path)  # a short path
        server.bind("drawing")
        server.listen()
        command = [sys.executable, "-m", "grokatlas", "figure", "no-file"]
        env = {**os.environ, fork_server.VARIABLE: str(tmp_path)}
        with subprocess.Popen(
            command, env=env, stderr=subprocess.PIPE, text=True, preexec_fn=_as_at_a_terminal
        ) as process:
            connection, _ = server.accept()
            with connection:
                _, files, _, _ = socket.recv_fds(connection, fork_server.LENGTH, 3)
                for file in files:  # its error stream among them
                    os.close(file)
                process.send_signal(signal.SIGINT)
                _, told = process.communicate(timeout=20)
    assert (told, process.returncode) == ("interrupted\n", 130)


def _as_at_a_terminal() -> None:
    """Let signals reach a process, whatever this one ignores (in the background, after a job)."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)


def test_the_pages_of_a_failed_workflow(tmp_path):
    """A second Ctrl-C ends the process that writes them, which the terminal does not reach."""
    pages = program(tmp_path / "pages", f"#!{sys.executable}\n{PAGES}")
    code = f"import sys; sys.executable = {str(pages)!r}; from grokatlas.rules import partial;"
    code += "partial.show_pages('smoke'); print('on it goes')"
    command = [sys.executable, "-c", code]
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    streams["preexec_fn"] = _as_at_a_terminal
    with subprocess.Popen(command, cwd=tmp_path, start_new_session=True, **streams) as process:
        while not (asked := tmp_path / "asked").exists():
            time.sleep(0.02)
        number, *arguments = asked.read_text().split()
        os.killpg(process.pid, signal.SIGINT)
        said, told = process.communicate(timeout=20)
    assert arguments == ["-m", "grokatlas", "atlas", "results/smoke/atlas/spec.json", "--partial"]
    assert told == "interrupted; `grokatlas atlas` makes the pages\n"
    assert said == "on it goes\n"
    end = time.monotonic() + 10
    while Path(f"/proc/{number}").exists():
        assert time.monotonic() < end
        time.sleep(0.02)
