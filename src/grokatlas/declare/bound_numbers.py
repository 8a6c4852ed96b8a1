"""Numbers of recorded claims in texts, so that a sentence cannot outlive what it says.

A text of YAML names one in braces, ``{A1.value:.2f}``, or ``{paper/A1.lowest:.0%}`` for a claim
of another paper. A page keeps the number that it shows, with its name in a comment behind it:
``7.55<!--A1.value:.2f-->``.
"""

import functools
import re
from pathlib import Path
from typing import Any

from grokatlas.errors import UserError, nearest
from grokatlas.results import csv_file

NAME = r"(?:(?P<paper>\w+)/)?(?P<id>[A-Z]+\d+[a-z]?)\.(?P<column>\w+)"
COLUMNS = ["value", "lowest", "highest", "count"]
IN_BRACES = re.compile(rf"\{{{NAME}(?::(?P<form>[^{{}}]*))?\}}")
LACKING = "(not recorded: "  # before the name of what the record does not hold
SIGN = r"(?:(?<!\d)[-+])?"  # behind a digit it is a hyphen
DIGITS = r"(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?:e[-+]?\d+)?"
SHOWN = rf"(?:{SIGN}(?:{DIGITS}|∞|nan)|{re.escape(LACKING)}[^)]*\))?(?:\s+percent)?"
IN_COMMENT = re.compile(rf"{SHOWN}<!--{NAME}(?::(?P<form>[^>]*?))?-->")
Records = dict[tuple[str, str], dict[str, str]]


@functools.lru_cache(maxsize=4)
def _read(file: Path, _changed: int) -> Records:
    return {(row["paper"], row["id"]): row for row in csv_file.read(file, "paper", "id")}


def records(root: Path) -> Records:
    """The recorded rows of claims by paper and id; none where nothing is recorded."""
    file = root / "recorded" / "claims.csv"
    return _read(file, file.stat().st_mtime_ns) if file.exists() else {}


def filled(content: Any, paper: str, root: Path) -> Any:
    """A text with the numbers that it names, or any block of YAML with those of its texts.

    Args:
        content: text, list or block; all else is given back.
        paper: of claims that are named without one.
        root: folder of ``recorded``.
    """
    if isinstance(content, dict):
        return {key: filled(each, paper, root) for key, each in content.items()}
    if isinstance(content, list):
        return [filled(each, paper, root) for each in content]
    if not isinstance(content, str) or "{" not in content:
        return content
    return IN_BRACES.sub(lambda match: _number(match, paper, root), content)


def renewed(page: str, paper: str, root: Path) -> str:
    """A page in Markdown whose bound numbers are those of the record; arguments as in `filled`."""

    def number(match: re.Match[str]) -> str:
        _, mark, name = match[0].partition("<!--")
        return f"{_number(match, paper, root)}{mark}{name}"

    return IN_COMMENT.sub(number, page)


def _number(match: re.Match[str], paper: str, root: Path) -> str:
    """The number that a text names, as it says; ``87 percent`` for the form ``.0%``."""
    key = (match["paper"] or paper, match["id"])
    place = f"{paper}: {match[0]}" if paper else match[0]
    if match["column"] not in COLUMNS:
        raise UserError(place, f"no number of a claim; {nearest(match['column'], COLUMNS)}")
    cell = records(root).get(key, {}).get(match["column"])
    number = int if match["column"] == "count" else float
    try:
        text = shown(number(cell or 0), match["form"] or "g")
    except ValueError as error:
        raise UserError(place, f"{error}; write a form such as .2f, .0% or ,.0f") from None
    return text if cell else f"{LACKING}{'/'.join(key)})"


def shown(number: float, form: str) -> str:
    """A recorded number in a form: ``87 percent``, ``∞``, ``3e-15`` instead of ``3e-015``."""
    text = format(number, form).replace("%", " percent").replace("inf", "∞")
    return re.sub(r"e\+?(-?)0*(?=\d)", r"e\1", text)
