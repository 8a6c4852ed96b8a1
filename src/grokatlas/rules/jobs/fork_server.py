"""Jobs that need not import libraries: a process that has imported them forks for each job.

Importing torch takes two seconds of a processor, which a run of a few seconds notices. So the
Snakemake of a workstation starts one process for each of `FAMILIES`. With its first job it imports
libraries of others, and never a module of this package: no code of ours in it can be out of date.
A job's own process asks it for a fork (`warm_client`). The fork runs the same command with the
same environment, folder, files and signals, and the job's process ends with its exit code. Where
the warm process is not there, or was started with other settings of the libraries, the job imports
for itself: nothing needs it.

It ends with its Snakemake, however that ends, when its last job has ended; one that finds warm
processes in its environment, as in the tests, starts none. A fork ends with the warm process, and
with the process of its job. All this is used on Linux for local jobs on the CPU alone: never on a
cluster, and never where a GPU is visible.

This file imports the standard library alone, and is run by its path.
"""

import atexit
import contextlib
import ctypes
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
import time
import traceback
import warnings
from pathlib import Path
from typing import Any

VARIABLE = "GROKATLAS_WARM"  # names the folder of the sockets
COMPILED = "GROKATLAS_COMPILED"  # names the folder of `compiled_loops` in it
FAMILIES = {  # what jobs of some commands import
    "training": (
        *("numpy", "torch", "torch.fx.experimental.proxy_tensor", "torch._dynamo"),
        *("pandas", "pyarrow.parquet", "safetensors.numpy", "safetensors.torch", "numba"),
    ),
    "drawing": (
        *("numpy", "pandas", "pyarrow.parquet", "scipy.stats", "seaborn"),
        *(f"matplotlib.backends.backend_{name}" for name in ("agg", "pdf")),
    ),
}
COMMANDS = {"train": "training", "measure": "training"}
COMMANDS |= dict.fromkeys(("table", "figure", "claims", "atlas"), "drawing")
# variables that libraries read when they start; a fork has those of the process that it came from
STARTUP = (
    *("OMP_", "GOMP_", "KMP_", "MKL_", "OPENBLAS_", "GOTO_", "BLIS_", "VECLIB_", "NUMEXPR_"),
    *("MALLOC_", "GLIBC_", "LD_", "PYTHON", "MPL", "ATEN_", "TORCH", "PYTORCH_", "DNNL_"),
    *("ONEDNN_", "CUDA_", "CUBLAS", "NUMBA_", "NPY_", "ARROW_"),
)
SENT = ("PYTHONPATH", "PYTHONSAFEPATH")  # a fork is sent what Python makes of them
FORWARDED = (signal.SIGHUP, signal.SIGINT, signal.SIGTERM, signal.SIGUSR1, signal.SIGUSR2)
LENGTH = 8  # bytes of a message's length
PATIENCE = 5.0  # seconds that a job's process may take to send its request
PAUSE = 0.1  # seconds after a connection that cannot be had, as where no more files may be open
PR_SET_PDEATHSIG = 1  # of Linux's prctl
# one thread for each job, by the variables that Snakemake sets and those that a job sets
THREADS = (
    *("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "VECLIB_MAXIMUM_THREADS"),
    *("GOTO_NUM_THREADS", "NUMEXPR_NUM_THREADS"),
)


def start() -> None:
    """Start the processes, for as long as this process lives, if this machine can use them."""
    if not sys.platform.startswith("linux") or list(Path("/dev").glob("nvidia[0-9]*")):
        return
    if (there := os.environ.get(VARIABLE)) and all(Path(there, f).exists() for f in FAMILIES):
        return
    with contextlib.suppress(OSError):  # a full disk: jobs import for themselves
        _start(Path(tempfile.mkdtemp(prefix="grokatlas-warm-")))


def _start(folder: Path) -> None:
    alive, held = os.pipe()  # the writing end is this process's alone, and closes with it
    env = {**os.environ, **dict.fromkeys(THREADS, "1")}
    for family in FAMILIES:
        command = [sys.executable, __file__, str(folder.resolve()), family, str(alive)]
        subprocess.Popen(
            command,
            env=env,
            pass_fds=[alive],
            start_new_session=True,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
        )
    os.close(alive)
    os.environ[VARIABLE] = str(folder)
    atexit.register(_end, folder, held)


def _end(folder: Path, held: int) -> None:
    os.close(held)
    shutil.rmtree(folder, ignore_errors=True)  # also where a warm process was killed


def of_startup(environment: dict[str, str]) -> dict[str, str]:
    """The interpreter, and the variables of an environment that libraries read when they start."""
    read = {k: value for k, value in environment.items() if k.startswith(STARTUP) and k not in SENT}
    return {"interpreter": sys.executable, **read}


def received(connection: socket.socket, size: int) -> bytes:
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
        self.settings = of_startup(dict(os.environ))
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
        """Take one request, and fork for it; a failure of it ends neither this nor another job."""
        try:
            connection, _ = self.listener.accept()
        except OSError:
            time.sleep(PAUSE)
            return
        process = 0
        files: list[int] = []
        try:
            connection.settimeout(PATIENCE)
            head, files, _, _ = socket.recv_fds(connection, LENGTH, 3)
            head += received(connection, LENGTH - len(head))
            request = json.loads(received(connection, int.from_bytes(head)))
            if request["settings"] == self.settings:  # else it is declined
                self.warm_up()
                process = self.fork(request, files)
                connection.sendall(process.to_bytes(LENGTH))
                self.selector.register(connection, selectors.EVENT_READ)
                self.forks[process] = connection
        except Exception:  # the job's process was killed, or no process can be had
            if process:
                os.kill(process, signal.SIGKILL)
        for file in files:
            os.close(file)
        if process not in self.forks:
            connection.close()

    def fork(self, request: dict[str, Any], files: list[int]) -> int:
        """A process that does a job; returns here alone."""
        server = os.getpid()
        with warnings.catch_warnings():  # of a thread of pyarrow's allocator, which bears it
            warnings.simplefilter("ignore", DeprecationWarning)
            process = os.fork()
        if process == 0:
            self.become(request, files, server)
        return process

    def warm_up(self) -> None:
        """Import the libraries, if that was not done yet."""
        for name in self.libraries:
            with contextlib.suppress(ImportError):  # then a job says what is missing
                importlib.import_module(name)
        if "numba" in self.libraries:
            with contextlib.suppress(ImportError, AttributeError):
                _load_registries()
        self.libraries = ()

    def become(self, request: dict[str, Any], files: list[int], server: int) -> None:
        """Be the job's process, which ends with this server; never returns."""
        code = 1
        try:
            ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
            if os.getppid() != server:
                os._exit(1)
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
        while True:
            try:
                process, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if process == 0:
                return
            connection = self.forks.pop(process, None)
            if connection is None:  # nobody waits for it
                continue
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
    """Serve jobs of a family."""
    sys.path[:] = [entry for entry in sys.path if Path(entry or ".") != Path(__file__).parent]
    with socket.socket(socket.AF_UNIX) as listener:
        try:
            os.chdir(folder)  # a socket's path has 107 bytes at most
            listener.bind(f".{family}")
        except OSError:  # a full disk: jobs import for themselves
            return
        listener.listen(64)
        Path(f".{family}").rename(family)  # from now on it is found
        try:
            Server(listener, alive, FAMILIES[family]).serve()
        finally:
            (folder / family).unlink(missing_ok=True)
            if not any((folder / other).exists() for other in FAMILIES):
                shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]))
