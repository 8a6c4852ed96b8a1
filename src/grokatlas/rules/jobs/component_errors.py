"""Errors of components and of functions of papers in one line: their file and line, and why."""

import os
from pathlib import Path
from typing import Any

from grokatlas import registry
from grokatlas.engine.unmapped import place
from grokatlas.errors import UserError, refused
from grokatlas.results import files

# what components and libraries raise where spec, data or machine do not fit
MISTAKES = (ValueError, TypeError, LookupError, RuntimeError, ImportError, OSError, MemoryError)
EXTRAS = {"art": "attack"}  # libraries that only an extra of the package installs
# errors whose text says by itself what is wrong
PLACED = (ValueError, RuntimeError, OSError, ImportError, MemoryError, SystemExit)
MORE = "(GROKATLAS_TRACEBACK=1 shows where)"
EXIT = "ends the process, as sys.exit does; raise a ValueError that says what is wrong"

Ending = Exception | SystemExit  # what ends a job or a command


def line(error: Ending, run: Path | dict[str, Any] | None = None) -> str | None:
    """The place and the reason of a job's failure, in one line.

    Args:
        error: what ended it.
        run: its job file or its spec; its components are tried where no file is to blame.

    Returns:
        None for an error of this project's own, or where ``GROKATLAS_TRACEBACK`` asks for more.
    """
    where = place(error)
    if os.environ.get("GROKATLAS_TRACEBACK") or not (where or isinstance(error, MISTAKES)):
        return None
    text = _text(error)
    placed = text if text.startswith(where) else f"{where}: {text}"
    if _of_study(where):
        return placed
    is_contract = not isinstance(error, OSError | ImportError | MemoryError)
    if run and is_contract and (broken := _broken(run)):
        return broken
    return text if isinstance(error, ValueError) or not where else placed


def as_user_error(error: Ending) -> UserError | None:
    """The error of a command in one line; None as for `line`, and for an exit of its own."""
    if isinstance(error, UserError):
        cause = error.__cause__
        where = place(cause) if isinstance(cause, Exception) else ""
        return UserError(error.place, f"{where}: {error.problem}") if where else error
    if isinstance(error, SystemExit):
        return UserError(where, EXIT) if (where := place(error)) else None
    if os.environ.get("GROKATLAS_TRACEBACK"):
        return None
    if where := place(error):
        return UserError(where, f"{_text(error)} {MORE}")
    return refused(error) if isinstance(error, OSError) else None


def first_line(error: Ending) -> str:
    """An error's first line; some have none. Of a missing library, also the extra that has it."""
    if isinstance(error, SystemExit):
        return EXIT
    text = str(error).strip().partition("\n")[0] or type(error).__name__
    extra = EXTRAS.get(error.name or "") if isinstance(error, ModuleNotFoundError) else None
    return f"{text}; pip install 'grokatlas[{extra}]'" if extra else text


def _of_study(where: str) -> bool:
    return bool(where) and registry.study() is not None and not where.startswith("src/")


def _text(error: Ending) -> str:
    """An error's first line, with its kind where that says what is wrong."""
    text = first_line(error)
    if isinstance(error, ModuleNotFoundError) and Path(f"{error.name}.py").is_file():
        rooms = ", ".join(registry.ROOMS)
        text += f"; {error.name}.py in this folder is no module of the study: move it into {rooms}"
    kind = type(error).__name__
    return text if isinstance(error, PLACED) or text == kind else f"{kind}: {text}"


def _broken(run: Path | dict[str, Any]) -> str:
    """The component that returns what it must not; empty where none does, or none can say."""
    from grokatlas.rules.jobs import component_contracts

    try:
        spec = files.read_json(run).get("spec", {}) if isinstance(run, Path) else run
        if "task" not in spec or "ensemble" not in spec:
            return ""
        return next(component_contracts.broken(spec), "")
    except Exception:  # of what is tried: what ended the job is said instead
        return ""
