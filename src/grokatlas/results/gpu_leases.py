"""One GPU for each process: leased by a file lock, among all users of the machine.

Every device has a lock file in a folder that all users share (see `locks`): a lease goes with its
process, however that ends.
"""

import contextlib
import itertools
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from grokatlas.errors import UserError
from grokatlas.results import files, locks

VISIBLE = "CUDA_VISIBLE_DEVICES"
FOLDER = "grokatlas-leases"  # in the folder of temporary files
PAUSE = 0.5  # seconds between two looks at devices that are all leased
PATIENCE = 60.0  # seconds that nvidia-smi may take

_held: list[Any] = []  # locks, for the life of the process


def take() -> None:
    """Lease a device for the life of this process, and let CUDA see no other; wait for a free one.

    To be called before torch is imported. Where ``CUDA_VISIBLE_DEVICES`` names one device (or
    none), whoever set it gave that one to this process, and others may share it: a batch system, a
    user, or an earlier lease. Where there is no device, nothing is leased.
    """
    named = _named()
    if named is not None and len(named) < 2:
        return
    if free := devices():
        device, lock = _leased(free)
        _held.append(lock)
        os.environ[VISIBLE] = device


def devices() -> list[str]:
    """The devices that a process started here may lease, by UUID where nvidia-smi reports it.

    A number in ``CUDA_VISIBLE_DEVICES`` is that of nvidia-smi. A GPU that is divided counts as its
    parts (MIG).
    """
    gpus, named = _listed(), _named()
    if named is None:
        return [uuid for parts in gpus for uuid in parts]
    uuids = [uuid for name in named for uuid in _uuids(name, gpus)]
    return list(dict.fromkeys(uuids))


def _named() -> list[str] | None:
    """The names in ``CUDA_VISIBLE_DEVICES``, as CUDA reads it: up to a -1; None if unset."""
    value = os.environ.get(VISIBLE)
    if value is None:
        return None
    names = (name.strip() for name in value.split(","))
    return list(itertools.takewhile(lambda name: name and not name.startswith("-"), names))


def _listed() -> list[list[str]]:
    """The UUIDs of each GPU that nvidia-smi lists: its own, or those of its parts."""
    if not shutil.which("nvidia-smi"):
        return []
    try:
        done = subprocess.run(
            ["nvidia-smi", "-L"], capture_output=True, text=True, check=False, timeout=PATIENCE
        )
    except (OSError, subprocess.TimeoutExpired):
        return []
    gpus: list[list[str]] = []
    for line in done.stdout.splitlines():
        uuid = re.search(r"UUID: ([^)\s]+)\)", line)
        if uuid and line.startswith("GPU "):
            gpus.append([uuid[1]])
        elif uuid and gpus:
            gpus[-1] = [*(u for u in gpus[-1] if u.startswith("MIG")), uuid[1]]
    return gpus


def _uuids(name: str, gpus: list[list[str]]) -> list[str]:
    """The UUIDs that a number or the beginning of a UUID means; the name itself if unknown."""
    if not gpus:
        return [name]
    if name.isdigit():
        return gpus[int(name)] if int(name) < len(gpus) else []
    return [uuid for parts in gpus for uuid in parts if uuid.startswith(name)]


def _leased(devices: list[str]) -> tuple[str, Any]:
    """The first device that can be locked, and its lock; waits for it, and says so once."""
    folder = Path(tempfile.gettempdir(), FOLDER)
    try:
        with contextlib.suppress(FileExistsError):
            folder.mkdir()
            files.allow(folder, 0o1777)  # every user adds lock files, none removes those of another
        for looks in itertools.count():
            for device in devices:
                file = folder / f"{device.replace('/', '_')}.lock"
                lock = locks.acquire(file, mode=0o666, lost=_warn)
                if lock is not None:
                    return device, lock
            if looks == 0:
                print(
                    f"devices: all {len(devices)} are leased; waiting", file=sys.stderr, flush=True
                )
            time.sleep(PAUSE)
    except OSError as error:
        problem = f"cannot be locked: {error.strerror or error}; remove it, set TMPDIR to another"
        problem += f" folder, or {VISIBLE} to one device"
        raise UserError(str(folder), problem) from None
    raise AssertionError("the loop ends by itself")


def _warn(text: str) -> None:
    print(f"warning: {text}; another process may use the device", file=sys.stderr, flush=True)
