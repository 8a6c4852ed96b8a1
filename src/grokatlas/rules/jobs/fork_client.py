"""How a job's own process asks a warm process (`warm`) for a fork that does the job."""

import contextlib
import json
import os
import signal
import socket
import sys
from pathlib import Path

from grokatlas.rules.jobs import fork_server


def run(arguments: list[str]) -> int | None:
    """Run a command in a fork of a warm process.

    Returns:
        its exit code; None if no warm process could take it to its end.
    """
    family = fork_server.COMMANDS.get(arguments[0]) if arguments else None
    folder = os.environ.get(fork_server.VARIABLE)
    if family is None or not folder or _threads(arguments) != "1":
        return None
    settings = {**os.environ, **dict.fromkeys(fork_server.THREADS, "1")}
    request = {
        "arguments": arguments,
        "environment": dict(os.environ),
        "settings": fork_server.of_startup(settings),
        "folder": str(Path.cwd()),
        "umask": _umask(),
        "path": sys.path,
        "ignored": _ignored(),
    }
    text = json.dumps(request).encode()
    with socket.socket(socket.AF_UNIX) as connection:
        try:
            _connect(connection, folder, family)
            socket.send_fds(connection, [len(text).to_bytes(fork_server.LENGTH)], [0, 1, 2])
            connection.sendall(text)
            process = int.from_bytes(fork_server.received(connection, fork_server.LENGTH))
        except OSError:
            return None
        return _outcome(connection, process) if process else None


def _connect(connection: socket.socket, folder: str, family: str) -> None:
    """Connect to the socket of a family, however long its path is: a kernel takes 107 bytes."""
    place = os.open(folder, os.O_RDONLY)
    try:
        connection.connect(f"/proc/self/fd/{place}/{family}")
    finally:
        os.close(place)


def _outcome(connection: socket.socket, process: int) -> int | None:
    """The exit code of a fork; signals that this process gets meanwhile, the fork gets.

    Where the warm process was killed, the fork is ended, and the result is None: the job's process
    does the job itself.
    """

    def forward(number: int, _frame: object) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(process, number)

    before = {number: signal.getsignal(number) for number in fork_server.FORWARDED}
    for number in set(fork_server.FORWARDED) - set(_ignored()):
        signal.signal(number, forward)
    try:
        code = int.from_bytes(fork_server.received(connection, fork_server.LENGTH), signed=True)
    except OSError:
        forward(signal.SIGKILL, None)
        for number, handler in before.items():
            signal.signal(number, handler)
        return None
    if code < 0:  # it was ended by a signal, and so is this process
        if -code != signal.SIGKILL:
            signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    return code


def _threads(arguments: list[str]) -> str:
    """The number of threads that a command line asks for, or an empty text."""
    asked = [b for a, b in zip(arguments, [*arguments[1:], ""], strict=True) if a == "--threads"]
    return asked[-1] if asked else "" if any("--threads=" in a for a in arguments) else "1"


def _ignored() -> list[int]:
    """The signals that this process was started to ignore, as a shell's background jobs are."""
    return [s for s in (signal.SIGHUP, signal.SIGINT) if signal.getsignal(s) == signal.SIG_IGN]


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
