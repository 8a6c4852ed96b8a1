"""Jobs that need not import libraries: a process that has imported them forks for each job.

Importing torch takes two seconds of a processor, which a run of a few seconds notices. So the
Snakemake of a workstation starts one process for each of `FAMILIES`. With its first job it imports
libraries of others, and never a module of this package: no code of ours in it can be out of date.
A job's own process asks it for a fork. The fork runs the same command with the same environment,
folder, files and signals, and the job's process ends with its exit code. Where the warm process is
not there, or was started with other settings of the libraries, the job imports for itself: nothing
needs it.

It ends with its Snakemake, however that ends, when its last job has ended; one that finds warm
processes in its environment, as in the tests, starts none. It is used on Linux for
local jobs on the CPU alone: never on a cluster, and never where a GPU is visible.

This file imports the standard library alone, and is run by its path.
"""

import atexit
import contextlib
import importlib
import json
import os
import runpy
import selectors
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import traceback
import warnings
from pathlib import Path

VARIABLE = "GROKATLAS_WARM"  # names the folder of the sockets
COMPILED = "GROKATLAS_COMPILED"  # names the folder of `compiled_loops` in it
FAMILIES = {  # what jobs of some commands import
    "training": (
        *("numpy", "torch", "torch.fx.experimental.proxy_tensor", "torch._dynamo"),
        *("pandas", "pyarrow.parquet", "safetensors.numpy", "safetensors.torch", "numba"),
    ),
    "drawing": (
        *("numpy", "pandas", "pyarrow.parquet", "scipy.stats", "matplotlib.figure"),
        *(f"matplotlib.backends.backend_{name}" for name in ("agg", "pdf")),
    ),
}
COMMANDS = {"train": "training", "measure": "training"}
COMMANDS |= dict.fromkeys(("table", "figure", "claims", "atlas"), "drawing")
# variables that libraries read when they start; a fork has those of the process that it came from
STARTUP = ("OMP_", "GOMP_", "KMP_", "MKL_", "OPENBLAS_", "GOTO_", "BLIS_", "VECLIB_", "NUMEXPR_")
STARTUP += ("MALLOC_", "GLIBC_", "LD_", "PYTHON", "MPL", "ATEN_", "TORCH", "PYTORCH_", "DNNL_")
STARTUP += ("ONEDNN_", "CUDA_", "CUBLAS", "NUMBA_", "NPY_", "ARROW_")
SENT = ("PYTHONPATH", "PYTHONSAFEPATH")  # a fork is sent what Python makes of them
FORWARDED = (signal.SIGHUP, signal.SIGINT, signal.SIGTERM, signal.SIGUSR1, signal.SIGUSR2)
LENGTH = 8  # bytes of a message's length
# one thread for each job, by the variables that Snakemake sets and those that a job sets
THREADS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")
THREADS += ("GOTO_NUM_THREADS", "NUMEXPR_NUM_THREADS")


def start() -> None:
    """Start the processes, for as long as this process lives, if this machine can use them."""
    if not sys.platform.startswith("linux") or list(Path("/dev").glob("nvidia[0-9]*")):
        return
    if (there := os.environ.get(VARIABLE)) and all(Path(there, f).exists() for f in FAMILIES):
        return
    folder = Path(tempfile.mkdtemp(prefix="grokatlas-warm-"))
    alive, held = os.pipe()  # the writing end is this process's alone, and closes with it
    env = {**os.environ, **dict.fromkeys(THREADS, "1")}
    for family in FAMILIES:
        command = [sys.executable, __file__, str(folder), family, str(alive)]
        quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL}
        subprocess.Popen(command, env=env, pass_fds=[alive], start_new_session=True, **quiet)
    os.close(alive)
    os.environ[VARIABLE] = str(folder)
    atexit.register(_end, folder, held)


def _end(folder: Path, held: int) -> None:
    os.close(held)
    shutil.rmtree(folder, ignore_errors=True)  # also where a warm process was killed


def run(arguments: list[str]) -> int | None:
    """Run a command in a fork of a warm process.

    Args:
        arguments: of the command line.

    Returns:
        its exit code; None if no warm process could take it to its end.
    """
    family = COMMANDS.get(arguments[0]) if arguments else None
    folder = os.environ.get(VARIABLE)
    if family is None or not folder or _threads(arguments) != "1":
        return None
    settings = {**os.environ, **dict.fromkeys(THREADS, "1")}
    request = {
        "arguments": arguments,
        "environment": dict(os.environ),
        "settings": _of_startup(settings),
        "folder": str(Path.cwd()),
        "umask": _umask(),
        "path": sys.path,
        "ignored": _ignored(),
    }
    text = json.dumps(request).encode()
    with socket.socket(socket.AF_UNIX) as connection:
        try:
            connection.connect(str(Path(folder) / family))
            socket.send_fds(connection, [len(text).to_bytes(LENGTH)], [0, 1, 2])
            connection.sendall(text)
            process = int.from_bytes(_received(connection, LENGTH))
        except OSError:
            return None
        return _outcome(connection, process) if process else None


def _outcome(connection: socket.socket, process: int) -> int | None:
    """The exit code of a fork; signals that this process gets meanwhile, the fork gets.

    Where the warm process was killed, the fork is ended, and the result is None: the job's process
    does the job itself.
    """

    def forward(number: int, _frame: object) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(process, number)

    before = {number: signal.getsignal(number) for number in FORWARDED}
    for number in set(FORWARDED) - set(_ignored()):
        signal.signal(number, forward)
    try:
        code = int.from_bytes(_received(connection, LENGTH), signed=True)
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


def _of_startup(environment: dict[str, str]) -> dict[str, str]:
    """The interpreter, and the variables that are read when it and libraries start."""
    read = {k: value for k, value in environment.items() if k.startswith(STARTUP) and k not in SENT}
    return {"interpreter": sys.executable, **read}


def _received(connection: socket.socket, size: int) -> bytes:
    """Exactly so many bytes.

    Raises:
        ConnectionError: the other side closed before.
    """
    found = b""
    while len(found) < size:
        if not (part := connection.recv(size - len(found))):
            raise ConnectionError("closed")
        found += part
    return found


class Server:
    """Waits for requests, forks, and passes on how forks ended.

    Args:
        listener: the socket.
        alive: a pipe that closes when Snakemake ends.
        libraries: to import with the first job.
    """

    def __init__(self, listener: socket.socket, alive: int, libraries: tuple[str, ...]) -> None:
        self.listener = listener
        self.libraries = libraries
        self.alive = alive
        self.forks: dict[int, socket.socket] = {}  # connection of each process
        self.settings = _of_startup(dict(os.environ))
        self.selector = selectors.DefaultSelector()
        self.woken, self.wake = socket.socketpair()
        for end in (self.woken, self.wake):
            end.setblocking(False)

    def serve(self) -> None:
        """Serve until Snakemake has ended, and every fork has."""
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(self.wake.fileno(), warn_on_full_buffer=False)
        for readable in (self.listener, self.woken, self.alive):
            self.selector.register(readable, selectors.EVENT_READ)
        waits = True
        while waits or self.forks:
            for key, _ in self.selector.select():
                if key.fileobj is self.listener:
                    self.accept()
                elif key.fileobj is self.woken:
                    self.woken.recv(1024)
                elif key.fileobj == self.alive:
                    waits = False
                    self.selector.unregister(self.alive)
                    self.selector.unregister(self.listener)
                else:
                    self.abandon(key.fileobj)
            self.reap()

    def accept(self) -> None:
        """Take one request, and fork for it."""
        connection, _ = self.listener.accept()
        try:
            head, files, _, _ = socket.recv_fds(connection, LENGTH, 3)
            head += _received(connection, LENGTH - len(head)) if len(head) < LENGTH else b""
            request = json.loads(_received(connection, int.from_bytes(head)))
        except (OSError, ValueError):
            connection.close()
            return
        if request["settings"] != self.settings:
            connection.close()  # which declines
        else:
            self.warm_up()
            with warnings.catch_warnings():  # of a thread of pyarrow's allocator, which bears it
                warnings.simplefilter("ignore", DeprecationWarning)
                process = os.fork()
            if process == 0:
                self.become(request, files)
            connection.sendall(process.to_bytes(LENGTH))
            self.forks[process] = connection
            self.selector.register(connection, selectors.EVENT_READ)
        for file in files:
            os.close(file)

    def warm_up(self) -> None:
        """Import the libraries, if that was not done yet."""
        for name in self.libraries:
            with contextlib.suppress(ImportError):  # then a job says what is missing
                importlib.import_module(name)
        if "numba" in self.libraries:
            with contextlib.suppress(ImportError, AttributeError):
                _load_registries()
        self.libraries = ()

    def become(self, request: dict, files: list[int]) -> None:
        """Be the job's process; never returns."""
        code = 1
        try:
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            for number in FORWARDED:
                kept = signal.SIG_IGN if number in request["ignored"] else signal.SIG_DFL
                signal.signal(number, kept)
            if signal.SIGINT not in request["ignored"]:
                signal.signal(signal.SIGINT, signal.default_int_handler)
            for connection in self.forks.values():
                connection.close()
            for end in (self.listener, self.woken, self.wake, self.selector):
                end.close()
            os.close(self.alive)
            for target, file in enumerate(files):
                os.dup2(file, target)
                os.close(file)
            os.umask(request["umask"])
            os.chdir(request["folder"])
            os.environ.clear()
            loops = str(Path(request["environment"][VARIABLE], "compiled"))
            os.environ.update({**request["environment"], VARIABLE: "", COMPILED: loops})
            sys.path[:] = request["path"]
            sys.argv[:] = ["grokatlas", *request["arguments"]]
            runpy.run_module("grokatlas", run_name="__main__", alter_sys=True)
            code = 0
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else int(end.code is not None)
        except BaseException:
            traceback.print_exc()
        finally:
            with contextlib.suppress(Exception):
                sys.stdout.flush()
                sys.stderr.flush()
                atexit._run_exitfuncs()
            os._exit(code)

    def abandon(self, connection: object) -> None:
        """End the fork whose job's process was killed."""
        for process, known in self.forks.items():
            if known is connection:
                os.kill(process, signal.SIGKILL)
                self.selector.unregister(connection)

    def reap(self) -> None:
        """Tell how forks ended."""
        while self.forks:
            process, status = os.waitpid(-1, os.WNOHANG)
            if process == 0:
                return
            connection = self.forks.pop(process)
            code = os.waitstatus_to_exitcode(status)
            with contextlib.suppress(OSError, KeyError, ValueError):
                self.selector.unregister(connection)
            with contextlib.suppress(OSError):
                connection.sendall(code.to_bytes(LENGTH, signed=True))
            connection.close()


def _load_registries() -> None:
    """Let numba read what it knows of types and functions, which it does at a first compilation."""
    target = importlib.import_module("numba.core.registry").cpu_target
    target.typing_context.refresh()
    target.target_context.refresh()


def main(folder: Path, family: str, alive: int) -> None:
    """Serve jobs of a family.

    Args:
        folder: where the socket is made, and removed in the end.
        family: one of `FAMILIES`.
        alive: a pipe that closes when Snakemake ends.
    """
    sys.path[:] = [entry for entry in sys.path if Path(entry or ".") != Path(__file__).parent]
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(hidden := folder / f".{family}"))
        listener.listen(64)
        hidden.rename(folder / family)  # from now on it is found
        try:
            Server(listener, alive, FAMILIES[family]).serve()
        finally:
            (folder / family).unlink(missing_ok=True)
            if not any((folder / other).exists() for other in FAMILIES):
                shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]))
