"""Warm processes that outlive one Snakemake."""

import os
import subprocess
import sys
from pathlib import Path

from grokatlas.rules.jobs import fork_server

CODE = (
    "import os, sys; from grokatlas.rules.jobs import fork_server; fork_server.start();"
    "print(os.environ.get(fork_server.VARIABLE, ''), flush=True); sys.stdin.read()"
)


class Holder:
    """A process that started warm processes, as a Snakemake does; it ends with this one.

    Args:
        more: variables of its environment.
    """

    def __init__(self, more: dict[str, str] | None = None) -> None:
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
        env = {**os.environ, **(more or {}), fork_server.VARIABLE: ""}
        self.process = subprocess.Popen([sys.executable, "-c", CODE], env=env, **pipes)
        self.folder = self.process.stdout.readline().strip()

    @property
    def named(self) -> dict[str, str]:
        """The variable that names the processes; empty where this machine cannot use them."""
        return {fork_server.VARIABLE: self.folder} if self.folder else {}

    @property
    def env(self) -> dict[str, str]:
        """The environment of a job that may use them."""
        return {**os.environ, **dict.fromkeys(fork_server.THREADS, "1"), **self.named}

    def end(self) -> None:
        """End it."""
        self.process.kill()
        self.process.communicate()

    def servers(self) -> list[int]:
        """The process ids of the warm processes and of their forks."""
        return [pid for pid, line in processes() if self.folder in line]


def processes():
    """Process id and command line of every process here."""
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            yield int(path.parent.name), path.read_bytes().decode(errors="replace")
        except OSError:  # it ended meanwhile
            continue
