"""The differences of two sides: figures, their numbers, and claims."""

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Protocol, TypeVar

from grokatlas.claims.verdicts import NOT_RUN
from grokatlas.publish.compare import pixels
from grokatlas.publish.compare.sides import CSV, NUMBERS, Drawn, Judged, Side
from grokatlas.text import place

LIMITS, FOUND = NUMBERS[:2], NUMBERS[2:]
ROUNDING = 1e-9  # numbers that are nearer to each other than this, relatively, differ in rounding
DECLARED = ("statement", "published", "unit")


class _Named(Protocol):
    @property
    def key(self) -> tuple[str, str]: ...
    @property
    def scale(self) -> str: ...


T = TypeVar("T", bound=_Named)


@dataclass(frozen=True)
class FigureChange:
    """A figure that both sides have, and that differs.

    Attributes:
        facts: its scale, or of how many values it is, where these differ (``what: old -> new``),
            then what is seen: the difference of its pictures, or the cells of a published table.
        looks_the_same: true if both sides show the same picture or text.
        numbers: by file, the columns that differ in one way: ``(columns, how)``.
        compared: true if both sides have numbers of it.
    """

    first: Drawn
    second: Drawn
    facts: list[str]
    looks_the_same: bool
    numbers: dict[str, list[tuple[list[str], str]]]
    compared: bool


@dataclass(frozen=True)
class ClaimChange:
    """A claim that both sides have, and that differs."""

    first: Judged
    second: Judged

    @property
    def kind(self) -> str:
        """The kind of change: ``once`` if one side alone was judged; empty without any."""
        if len({side.row["verdict"] == NOT_RUN for side in (self.first, self.second)}) > 1:
            return "once"
        if self.first.row["verdict"] != self.second.row["verdict"]:
            return "verdict"
        if self.number and not self._near():
            return "number"
        return "declaration" if self.declaration else "rounding" if self.number else ""

    @property
    def number(self) -> bool:
        """True if our number, its range or the count of values is another."""
        return self._differs(*FOUND) or self._count(self.first) != self._count(self.second)

    @property
    def interval(self) -> bool:
        """True if the interval is another."""
        return self._differs(*LIMITS)

    @property
    def declaration(self) -> bool:
        """True if the interval, the statement, the published number or the unit is another."""
        declared = [[side.row.get(key) for key in DECLARED] for side in (self.first, self.second)]
        known = all(None not in each for each in declared)
        return self.interval or (known and declared[0] != declared[1])

    def _near(self) -> bool:
        """True if our numbers differ no more than sums that are taken in another order."""
        pairs = zip(self.first.numbers(*FOUND), self.second.numbers(*FOUND), strict=True)
        near = all(
            a == b or (a is not None and b is not None and math.isclose(a, b, rel_tol=ROUNDING))
            for a, b in pairs
        )
        return near and self._count(self.first) == self._count(self.second)

    def _differs(self, *names: str) -> bool:
        return self.first.numbers(*names) != self.second.numbers(*names)

    @staticmethod
    def _count(side: Judged) -> int:
        return int(float(side.row.get("count") or 0))


@dataclass
class Changes:
    """Everything that differs, and how much is the same.

    `only_figures` and `only_claims` are those that one side has alone, as (first, second).
    """

    first: Side
    second: Side
    figures: list[FigureChange] = field(default_factory=list)
    same_figures: int = 0
    only_figures: tuple[list[Drawn], list[Drawn]] = field(default_factory=lambda: ([], []))
    claims: list[ClaimChange] = field(default_factory=list)
    same_claims: int = 0
    only_claims: tuple[list[Judged], list[Judged]] = field(default_factory=lambda: ([], []))

    @property
    def nothing(self) -> bool:
        """True if both sides show the same."""
        return not (self.figures or self.claims or any(self.only_figures) or any(self.only_claims))


def between(first: Side, second: Side) -> Changes:
    """Compare two sides."""
    changes = Changes(first, second)
    figures, *only = _paired(first.figures(), second.figures())
    changes.only_figures = (only[0], only[1])
    for a, b in figures:
        change = _figure(a, b)
        if change.facts or change.numbers:
            changes.figures.append(change)
        else:
            changes.same_figures += 1
    claims, *alone = _paired(first.claims(), second.claims())
    changes.only_claims = (_judged(alone[0]), _judged(alone[1]))
    for x, y in claims:
        claim = ClaimChange(x, y)
        if claim.kind:
            changes.claims.append(claim)
        else:
            changes.same_claims += 1
    return changes


def _judged(claims: Iterable[Judged]) -> list[Judged]:
    """Without those that were not run: a results tree lists each claim at every scale."""
    return [claim for claim in claims if claim.row["verdict"] != NOT_RUN]


def _paired(first: list[T], second: list[T]) -> tuple[list[tuple[T, T]], list[T], list[T]]:
    """Pairs of one name at one scale, else of the last ones of a name; the rest of each side."""
    pairs: list[tuple[T, T]] = []
    left: tuple[list[T], list[T]] = ([], [])
    names = sorted({each.key for each in [*first, *second]}, key=lambda k: (k[0], place(k[1])))
    for name in names:
        a, b = ({e.scale: e for e in side if e.key == name} for side in (first, second))
        for scale in [*a]:
            if scale in b:
                pairs.append((a.pop(scale), b.pop(scale)))
        if len(a) == len(b) == 1:
            pairs.append((a.popitem()[1], b.popitem()[1]))
        left[0].extend(a.values())
        left[1].extend(b.values())
    return pairs, *left


def _figure(first: Drawn, second: Drawn) -> FigureChange:
    facts = []
    if first.scale != second.scale:
        scales = [each.scale or "not recorded" for each in (first, second)]
        facts.append(f"scale: {' -> '.join(scales)}")
    if first.so_far != second.so_far:
        facts.append(f"drawn: {first.so_far or 'all'} -> {second.so_far or 'all'}")
    seen: list[str] = []
    if first.version != second.version:
        a, b = first.read(), second.read()
        if first.is_table:
            seen = _cells(a, b)
        else:
            seen = list(filter(None, [pixels.difference(a, b, "/".join(first.key))]))
    names = first.numbers.keys() & second.numbers.keys()
    names = {CSV} if CSV in names else names
    numbers = {name: _numbers(name, first, second) for name in sorted(names)}
    numbers = {name: lines for name, lines in numbers.items() if lines}
    return FigureChange(first, second, facts + seen, not seen, numbers, bool(names))


def _cells(first: bytes, second: bytes) -> list[str]:
    """The cells of a published table that differ, in one line; nothing where none does."""
    from grokatlas.atlas import contents

    old, new = (contents.cells(data.decode("utf-8", "replace")) for data in (first, second))
    if [len(row) for row in old] != [len(row) for row in new]:
        return ["the table has other rows or columns"]
    pairs = [pair for rows in zip(old, new, strict=True) for pair in zip(*rows, strict=True)]
    differ = [f"{a} -> {b}" for a, b in pairs if a != b]
    return [f"cells of the table differ: {', '.join(differ)}"] if differ else []


def _numbers(name: str, first: Drawn, second: Drawn) -> list[tuple[list[str], str]]:
    """The columns of a file that differ, those that differ in the same way together."""
    (old, read_old), (new, read_new) = first.numbers[name], second.numbers[name]
    if old == new:
        return []
    from grokatlas.audit import numbers

    ways: dict[str, list[str]] = {}
    for column, how in numbers.by_column(read_old(), read_new()).items():
        ways.setdefault(how, []).append(column)
    return [(columns, how) for how, columns in ways.items()]
