"""The one exception a user may meet: a mistake of theirs, told in one line."""

import json
from collections.abc import Iterable
from typing import Any


class UserError(Exception):
    """A mistake in one line: what, where, what is allowed and what to do.

    The command line and the Snakefile print it without a traceback, and the command line exits with
    `code`, or with its own for a mistake where that is 0.
    """

    code = 0

    def __init__(self, place: str, problem: str) -> None:
        self.place = place
        self.problem = problem
        text = f"{place}: {problem}"
        super().__init__("".join(c if c.isprintable() else " " for c in text).strip())


class MistakeError(Exception):
    """A mistake at a path below some place; who knows the place makes it a `UserError`.

    Attributes:
        path: keys and list positions that lead to it.
        problem: what is wrong and what is allowed.
        missing: whether the value at `path` is absent, so that no layer has it.
    """

    def __init__(self, path: list[str], problem: str, *, missing: bool = False) -> None:
        super().__init__(problem)
        self.path = path
        self.problem = problem
        self.missing = missing

    def at(self, file: str, *keys: str) -> UserError:
        """The mistake in a file, below some keys of it."""
        path = ".".join([*keys, *self.path])
        return UserError(f"{file}: {path}" if path else file, self.problem)


def refused(error: OSError) -> UserError:
    """A file or folder that the system does not let a command have."""
    place = str(error.filename or error.filename2 or "this machine")
    hint = "see that the path is right, the disk has room and this account may write there"
    problem = f"{error.strerror or error}; {hint} (GROKATLAS_TRACEBACK=1 shows where)"
    return UserError(place, problem)


def check_known(place: str, problem: str, name: str, known: Iterable[str]) -> None:
    """Refuse an unknown name in one line: the problem, the name, and the nearest known one."""
    if name not in known:
        raise UserError(place, f"{problem} {name!r}; {nearest(name, list(known))}")


def nearest(name: str, allowed: list[str]) -> str:
    """The hint that ends an error about an unknown name: the nearest valid one, then all."""
    hint = closest(name, allowed)
    return f"{hint}{' ' * bool(hint)}allowed: {', '.join(sorted(allowed)) or 'none'}"


def closest(name: str, known: list[str]) -> str:
    """A question after the nearest known name; empty if none is near."""
    import difflib

    close = difflib.get_close_matches(name, known, n=1)
    return f"did you mean {close[0]!r}?" if close else ""


def shown(value: Any) -> str:
    """A value as YAML spells it, cut after 60 characters."""
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= 60 else text[:57] + "..."
