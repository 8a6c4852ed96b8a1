"""Commands of the command line, and the types of their values, whose errors argparse prints."""

import argparse
import os
from collections.abc import Callable
from typing import Any, NamedTuple

from grokatlas.errors import UserError


class GroupedParser(argparse.ArgumentParser):
    """A parser whose help shows commands in sections.

    Attributes:
        sections: by title, the help of each command; those that rules call are in none.
    """

    sections: dict[str, dict[str, str]]

    def format_help(self) -> str:
        """The help: a line for each command, of at most 100 letters."""
        lines = [self.format_usage().strip(), "", str(self.description)]
        for title, commands in self.sections.items():
            lines += ["", f"{title}:", *(f"  {n:<17} {text}" for n, text in commands.items())]
        lines += ["", "grokatlas COMMAND --help shows what a command takes; --version the version"]
        return "\n".join(lines) + "\n"


class Argument(NamedTuple):
    """The arguments of argparse's `add_argument`.

    Attributes:
        variable: an environment variable that gives the default, if it is set.
        completes: the kinds of names that a shell offers for it.
    """

    names: tuple[str, ...]
    keywords: dict[str, Any]
    variable: str = ""
    completes: str = ""

    def add_to(self, parser: argparse.ArgumentParser) -> str:
        """Add the argument to a parser, and return the attribute that holds its value."""
        default = {"default": os.environ[self.variable]} if self.variable in os.environ else {}
        keywords = {**self.keywords, **default}
        if "action" not in keywords or keywords["action"] == "append":
            keywords["type"] = self._not_empty(keywords.get("type", str))
        action = parser.add_argument(*self.names, **keywords)
        vars(action)["completes"] = self.completes
        return action.dest

    def _not_empty(self, kind: Callable[[str], Any]) -> Callable[[str], Any]:
        """A type that refuses an empty text, which a path takes for the working directory."""
        place = self.names[0]
        place = place if place.startswith("-") else self.keywords.get("metavar", place)

        def read(text: str) -> Any:
            if not text.strip():
                raise UserError(place, "is empty; give a value, or leave it out")
            return kind(text)

        return read


class Command(NamedTuple):
    """A command of the command line.

    Attributes:
        name: what a user types; a command of a group has two words.
        calls: the function behind it, ``module:function`` below this package. It is called with the
            values of the arguments in their order, and imported only then. An exit code that it
            returns is passed on; text or lines are printed.
        passes_on: whether it takes all other arguments too, as a list, for another program.
        compares: whether exit code 1 says that two things differ, so that a mistake has 2.
    """

    name: str
    calls: str
    help: str
    arguments: tuple[Argument, ...] = ()
    passes_on: bool = False
    compares: bool = False


def argument(*names: str, variable: str = "", completes: str = "", **keywords: Any) -> Argument:
    """An argument of a command, as `argparse.ArgumentParser.add_argument` takes it."""
    return Argument(names, keywords, variable, completes)


def threads(text: str) -> int:
    """A number of threads, 1 or more."""
    if not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of threads (1 or more)")
    return int(text)


def device(text: str) -> str:
    """The device that a run trains on."""
    if text not in ("auto", "cpu", "cuda"):
        problem = f"{text!r} is no device (auto, cpu or cuda; GROKATLAS_DEVICE is the default)"
        raise argparse.ArgumentTypeError(problem)
    return text


def seconds(text: str) -> float:
    """A number of seconds, 0 or more."""
    try:
        amount = float(text)
    except ValueError:
        amount = -1.0
    if not 0 <= amount < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of seconds (0 or more)")
    return amount


def number(text: str) -> float:
    """A number, 0 or more."""
    try:
        return seconds(text)
    except argparse.ArgumentTypeError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number (0 or more)") from None


def size(text: str) -> float:
    """A number of bytes, such as 500G."""
    amount, unit = (text[:-1], text[-1]) if text[-1:] in "kMGT" else (text, "")
    try:
        return seconds(amount) * 1000 ** " kMGT".index(unit or " ")
    except argparse.ArgumentTypeError:
        problem = f"{text!r} is not a size such as 500G; units are k, M, G, T"
        raise argparse.ArgumentTypeError(problem) from None
