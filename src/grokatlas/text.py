"""Numbers and names as a reader sees them."""

import math
import re
import textwrap
from collections.abc import Callable, Mapping, Sequence
from typing import Any

WORDS = {"fig": "Figure", "table": "Table"}
NEVER = "never"  # a time that is not reached


def infinite(unit: str) -> str:
    """The name of an infinite number of a unit: `NEVER` for a time, else ``∞``."""
    return NEVER if unit in ("steps", "time") else "∞"


def number(value: float | None, endless: str = "∞", digits: int = 4) -> str:
    """A number in some digits: ``1,234``, ``0.0268``, ``3.1e-06``; empty for None.

    Args:
        value: the number.
        endless: for an infinite one; see `infinite`.
        digits: of a number that is not whole.
    """
    if value is None or math.isnan(value):
        return ""
    if math.isinf(value):
        return endless if value > 0 else "-∞"
    if value == int(value) and abs(value) < 1e9:
        return f"{int(value):,}"
    rounded = f"{value:.{digits}g}"
    return f"{value:,.0f}" if 10**digits <= abs(float(rounded)) < 1e6 else rounded


def interval(low: float | None, high: float | None, shown: Callable[[float], str] = number) -> str:
    """An interval in words: ``5 to 20``, ``at most 0.06``, ``at least 0.99``."""
    below, above = ("" if limit is None else shown(limit) for limit in (low, high))
    if below and above:
        return f"{below} to {above}"
    return f"at least {below}" if below else f"at most {above}" if above else ""


def some_of(names: Sequence[str], most: int = 5) -> str:
    """The first of some names, and how many more there are: ``a, b and 3 more``."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def last_line(text: str) -> str:
    """The last line that is not blank, without spaces around it; empty where there is none."""
    return next((line.strip() for line in reversed(text.splitlines()) if line.strip()), "")


def figure_title(name: str, title: str | None = None, plate: int | None = None) -> str:
    """``Figure 5, low rank``, with a title ``Figure 5: matrices`` or ``Plate 1: memory``."""
    matched = re.fullmatch(r"(fig|table)(\d+)(?:_(.+))?", name)
    number = f"Plate {plate}" if plate else f"{WORDS[matched[1]]} {matched[2]}" if matched else ""
    if title and (plate or (matched and not matched[3])):
        return f"{number}: {title}"
    rest = f", {matched[3].replace('_', ' ')}" if matched and matched[3] else ""
    return sentence(title or (f"{number}{rest}" if number else name.replace("_", " ")))


def place(name: str) -> tuple[int, int, str]:
    """The order of a figure on its paper's page: figures by number, tables, then all others."""
    matched = re.match(r"(fig|table)(\d+)", name)
    return (
        (list(WORDS).index(matched[1]), int(matched[2]), name) if matched else (len(WORDS), 0, name)
    )


def plain(name: str) -> str:
    """A name of the configuration as words."""
    return name.replace("_", " ")


def sentence(text: str) -> str:
    """A text with a capital letter at its start, unless that is a symbol such as t2."""
    return text if re.match(r"[a-z]\d", text) else text[:1].upper() + text[1:]


def first_sentence(text: str) -> str:
    """The text up to the first full stop that ends a sentence."""
    return re.split(r"(?<=\.)\s", text.strip(), maxsplit=1)[0]


def alternative(caption: str) -> str:
    """What is read where a picture is not seen: the first sentence of its caption, in one line."""
    return " ".join(first_sentence(caption).replace("`", "").split())


def slug(verdict: str) -> str:
    """A verdict as a class of the style sheet."""
    return re.sub(r"[^a-z]+", "-", verdict.lower()).strip("-")


def setting(value: Any) -> str:
    """A value of the configuration: ``0.01``, ``1, 2, 5``, ``none``."""
    if value is None:
        return "none"
    if isinstance(value, list):
        return ", ".join(setting(entry) for entry in value) or "none"
    if isinstance(value, dict):
        name = value.get("name")
        return str(name) if name else ", ".join(f"{k} {setting(v)}" for k, v in value.items())
    if isinstance(value, float):
        return f"{value:.6g}"
    return str(value)


def machine(run: dict[str, Any]) -> str:
    """The machine of a run, from its manifest: the model of its GPU, else of its processor."""
    device = run.get("device") or {}
    if device.get("type") == "cuda":
        return str(device.get("name", "a GPU"))
    return str((run.get("host") or {}).get("cpu", "a CPU"))


def duration(seconds: float) -> str:
    """A time to two units: ``45 s``, ``3 min``, ``2 h 5 min``."""
    if seconds < 60:
        return f"{seconds:.3g} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"


def file_size(size: int) -> str:
    """A number of bytes as people read it."""
    for power, unit in ((12, "TB"), (9, "GB"), (6, "MB"), (3, "kB")):
        if size >= 10**power:
            return f"{size / 10**power:.1f} {unit}"
    return f"{size} B"


def so_far(left_out: list[dict[str, Any]]) -> str:
    """The share of all values that a table has: ``3 of 10 seeds``; empty if it has all.

    Args:
        left_out: of a table's spec: ``axis``, ``values`` run and declared (``of``), and ``cells``,
            if only so many of its ``of_cells`` lack them.
    """
    parts = []
    for entry in left_out:
        kind = "seeds" if entry["axis"] == "seed" else f"values of {entry['axis']}"
        where = f" in {entry['cells']} of {entry['of_cells']} cells" if "cells" in entry else ""
        parts.append(f"{entry['values']} of {entry['of']} {kind}{where}")
    return ", ".join(parts)


def count(number_of: int, thing: str) -> str:
    """``1 run``, ``3 runs``."""
    return f"{number_of:,} {thing}{'' if number_of == 1 else 's'}"


def paragraph(text: str, indent: str = "") -> str:
    """A text in lines of at most 100 characters; `indent` is that of all but the first."""
    return textwrap.fill(
        text, 100, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )


def bibtex(kind: str, key: str, fields: Mapping[str, object]) -> str:
    """An entry of BibTeX with those of the fields that are given."""
    lines = (f"  {name} = {{{value}}}," for name, value in fields.items() if value)
    return "\n".join([f"@{kind}{{{key},", *lines, "}"])


def markdown_table(head: list[str], rows: list[list[str]]) -> str:
    """A Markdown table of cells."""
    lines = [head, ["---"] * len(head), *rows]
    cells = ([cell.replace("|", "\\|").replace("``", "`") for cell in line] for line in lines)
    return "".join(f"| {' | '.join(line)} |\n" for line in cells)
