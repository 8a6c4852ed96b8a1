"""The differences of two sides: figures, their numbers, and claims."""

import math
from dataclasses import dataclass
from itertools import starmap
from typing import TypeVar

from grokatlas.claims.verdicts import NOT_RUN
from grokatlas.publish.compare import pixels
from grokatlas.publish.compare.sides import CSV, Drawn, Judged, Side
from grokatlas.results import layout
from grokatlas.text import place

ROUNDING = 1e-9  # numbers that are nearer to each other than this, relatively, differ in rounding
SHOWN = 6  # columns that are named before the others are counted
LIMITS, VALUES = ("expected_low", "expected_high"), ("value", "lowest", "highest")
DECLARED = ("statement", "published", "unit")

T = TypeVar("T", Drawn, Judged)


@dataclass(frozen=True)
class FigureChange:
    """A figure that both sides have, and that differs.

    Attributes:
        lines: what a reader sees, then the columns that differ in the same way.
        looks_the_same: true if both sides show the same picture or text.
    """

    first: Drawn
    second: Drawn
    lines: list[str]
    looks_the_same: bool


@dataclass(frozen=True)
class ClaimChange:
    """A claim that both sides have, and that differs.

    Attributes:
        kind: ``once`` if one side alone was judged, else ``verdict``, ``number``, ``declaration``
            or ``rounding``: the first of these that fits.
        text: verdicts, numbers and intervals, as far as they differ.
    """

    claim: Judged
    kind: str
    text: str


@dataclass
class Changes:
    """Everything that differs, and how much is the same.

    `only_figures` and `only_claims` are those that one side has alone, as (first, second).
    """

    first: Side
    second: Side
    figures: list[FigureChange]
    same_figures: int
    only_figures: tuple[list[Drawn], list[Drawn]]
    claims: list[ClaimChange]
    same_claims: int
    only_claims: tuple[list[Judged], list[Judged]]

    @property
    def nothing(self) -> bool:
        """True if both sides show the same."""
        return not (self.figures or self.claims or any(self.only_figures) or any(self.only_claims))


def between(first: Side, second: Side) -> Changes:
    """Compare two sides."""
    drawn, only_figures = _paired(first.figures, second.figures)
    judged, alone = _paired(first.claims, second.claims)
    figures = [*filter(None, starmap(_figure, drawn))]
    claims = [*filter(None, starmap(_claim, judged))]
    # a results tree lists each claim at every scale
    a, b = ([each for each in side if each.row["verdict"] != NOT_RUN] for side in alone)
    same = len(drawn) - len(figures), len(judged) - len(claims)
    return Changes(first, second, figures, same[0], only_figures, claims, same[1], (a, b))


def _paired(first: list[T], second: list[T]) -> tuple[list[tuple[T, T]], tuple[list[T], list[T]]]:
    """Pairs of one name at one scale, else of the last ones of a name; the rest of each side."""
    pairs: list[tuple[T, T]] = []
    left: tuple[list[T], list[T]] = ([], [])
    names = sorted({each.key for each in [*first, *second]}, key=lambda k: (k[0], place(k[1])))
    for name in names:
        a = {each.scale: each for each in first if each.key == name}
        b = {each.scale: each for each in second if each.key == name}
        both = [scale for scale in ("", *layout.SCALES) if scale in a and scale in b]
        pairs += [(a.pop(scale), b.pop(scale)) for scale in both]
        if len(a) == len(b) == 1:
            pairs.append((a.popitem()[1], b.popitem()[1]))
        left[0].extend(a.values())
        left[1].extend(b.values())
    return pairs, left


def _figure(first: Drawn, second: Drawn) -> FigureChange | None:
    facts = []
    if first.scale != second.scale:
        facts.append(f"scale: {first.scale or 'not recorded'} -> {second.scale or 'not recorded'}")
    if first.so_far != second.so_far:
        facts.append(f"drawn: {first.so_far or 'all'} -> {second.so_far or 'all'}")
    seen = ""
    if first.version != second.version:
        a, b = first.read(), second.read()
        is_table = layout.is_published_table(first.key[1])
        seen = _cells(a, b) if is_table else pixels.difference(a, b, "/".join(first.key))
    names = first.numbers.keys() & second.numbers.keys()
    names = {CSV} if CSV in names else names
    numbers = [line for name in sorted(names) for line in _numbers(name, first, second)]
    if not (facts or seen or numbers):
        return None
    same = "its numbers are the same" if names else "no numbers of it on both sides"
    lines = [*facts, seen or "it looks the same", *(numbers or [same])]
    return FigureChange(first, second, lines, not seen)


def _cells(first: bytes, second: bytes) -> str:
    """The cells of a published table that differ; empty where none does."""
    from grokatlas.atlas import contents

    old, new = (contents.cells(data.decode("utf-8", "replace")) for data in (first, second))
    if [len(row) for row in old] != [len(row) for row in new]:
        return "the table has other rows or columns"
    pairs = [pair for rows in zip(old, new, strict=True) for pair in zip(*rows, strict=True)]
    differ = [f"{a} -> {b}" for a, b in pairs if a != b]
    return f"cells of the table differ: {', '.join(differ)}" if differ else ""


def _numbers(name: str, first: Drawn, second: Drawn) -> list[str]:
    """The columns of a file that differ, a line for those that differ in the same way."""
    (old, read_old), (new, read_new) = first.numbers[name], second.numbers[name]
    if old == new:
        return []
    from grokatlas.audit import numbers

    ways: dict[str, list[str]] = {}
    for column, how in numbers.by_column(read_old(), read_new()).items():
        ways.setdefault(how, []).append(column)
    lines = []
    for how, columns in ways.items():
        more = f" and {len(columns) - SHOWN} more" if len(columns) > SHOWN + 1 else ""
        lines.append(f"{', '.join(columns[: SHOWN if more else None])}{more} of {name}: {how}")
    return lines


def _claim(first: Judged, second: Judged) -> ClaimChange | None:
    old, new = first.row, second.row
    pairs = [*zip(first.numbers(*VALUES), second.numbers(*VALUES), strict=True)]
    count = first.values != second.values
    number = count or any(a != b for a, b in pairs)
    interval = first.numbers(*LIMITS) != second.numbers(*LIMITS)
    known = [(old[key], new[key]) for key in DECLARED if {key} <= old.keys() & new.keys()]
    declaration = interval or (len(known) == len(DECLARED) and any(a != b for a, b in known))
    verdict = old["verdict"] != new["verdict"]
    kinds = {
        "once": verdict and NOT_RUN in (old["verdict"], new["verdict"]),
        "verdict": verdict,
        "number": count or not all(_near(*pair) for pair in pairs),
        "declaration": declaration,
        "rounding": number,
    }
    parts = [f"{old['verdict']} -> {new['verdict']}"] if verdict else []
    if number:
        ours = [
            (each.number or "none") + (f" ({each.range}, {each.values})" if each.range else "")
            for each in (first, second)
        ]
        parts.append(" -> ".join(dict.fromkeys(ours)).join(("ours ", _relative(*pairs[0]))))
    if interval:
        parts.append(f"interval {first.expected} -> {second.expected}")
    elif declaration:
        parts.append("declared otherwise")
    kind = next((kind for kind, holds in kinds.items() if holds), "")
    return ClaimChange(second, kind, "; ".join(parts)) if kind else None


def _near(a: float | None, b: float | None) -> bool:
    """True if two numbers differ no more than sums that are taken in another order."""
    return a == b or (a is not None and b is not None and math.isclose(a, b, rel_tol=ROUNDING))


def _relative(old: float | None, new: float | None) -> str:
    """The change of a number relative to what it was: ``, +0.9%``; empty without one."""
    if not old or new is None or math.inf in (abs(old), abs(new)) or _near(old, new):
        return ""
    return f", {(new - old) / abs(old) * 100:+.2g}%"
