"""Libraries that write into the home folder when they are first imported: one process at a time."""

import contextlib
import importlib
import json
import os
import re
from pathlib import Path

from grokatlas.errors import UserError
from grokatlas.results import locks

IMPORT = re.compile(r"^(from|import) art\b", re.MULTILINE)


def of_libraries(module: Path) -> None:
    """Prepare the import of a module that needs ART (``art``), where that was never imported."""
    if module.is_file() and IMPORT.search(module.read_text(encoding="utf-8")):
        of_art()


def of_art() -> None:
    """Import ART alone, unless an import before has written ``.art/config.json``.

    A process that imports ART while another one writes this file for the first time fails with a
    `NameError`, or later for want of a path. Nothing is done where ART is not installed, and there
    is no waiting where no lock can be had: the import that follows tells what is wrong.
    """
    if _written():
        return
    import pooch

    folder = Path(pooch.os_cache("grokatlas"))
    with contextlib.ExitStack() as stack:
        with contextlib.suppress(OSError, UserError):
            folder.mkdir(parents=True, exist_ok=True)
            stack.enter_context(locks.held(folder / "art.lock", waiting=lambda owner: None))
        with contextlib.suppress(ImportError):
            importlib.import_module("art.config")


def _written() -> bool:
    """Whether ART's file is there and whole; it is in /tmp where the home cannot be written."""
    home = Path("~").expanduser()
    place = home if os.access(home, os.W_OK) else Path("/tmp")
    try:
        return "ART_DATA_PATH" in json.loads((place / ".art/config.json").read_text("utf-8"))
    except (OSError, ValueError):
        return False
