"""Compiled loops that the runs of one Snakemake share.

numba compiles the loops of a dynamics at their first call, for half a second of every short run. A
`fork_server` names a folder that ends with it. There the first run that needs a loop keeps it for
the others: by the names and the code of all modules that the run reaches, so that no other code's
loop is ever taken. numba alone looks at the file of the loop, and not at what that calls.

Where the folder cannot be written, or its disk is full, every run compiles for itself.
"""

import contextlib
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from grokatlas.results import hashing
from grokatlas.rules.jobs.fork_server import COMPILED


def share(code: dict[str, str]) -> None:
    """Take the loops of the components that are loaded from the folder, or keep them there."""
    folder, numba = os.environ.get(COMPILED), sys.modules.get("numba")
    if not folder or numba is None:
        return
    place = Path(folder, hashing.of(code)[:16])
    try:
        place.mkdir(parents=True, exist_ok=True)
    except OSError:
        return
    numba.config.CACHE_DIR = str(place)
    numba.config.CACHE_LOCATOR_CLASSES = ""  # which a user may have set
    for name, module in [*sys.modules.items()]:
        if name.startswith("grokatlas.components."):
            for loop in vars(module).values():
                if isinstance(loop, numba.core.dispatcher.Dispatcher):
                    _keep(loop, place, numba.core.caching.FunctionCache)


def _keep(loop: Any, place: Path, kind: Any) -> None:
    """Let numba keep a loop in a folder where that can be written, as `enable_caching` does."""
    try:
        cache = kind(loop.py_func)
    except RuntimeError:  # no folder can be written
        return
    if Path(cache.cache_path).is_relative_to(place):  # else numba took that of the sources
        cache.load_overload = _unless_it_fails(cache.load_overload)
        cache.save_overload = _unless_it_fails(cache.save_overload)
        loop._cache = cache


def _unless_it_fails(call: Callable[..., Any]) -> Callable[..., Any]:
    """A call that is nothing where the disk has a fault: numba compiles then."""

    def tried(*given: Any) -> Any:
        with contextlib.suppress(OSError):
            return call(*given)
        return None

    return tried
