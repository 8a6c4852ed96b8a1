"""The page of a comparison: one html file with all that it shows, in the look of the atlas."""

import base64
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from grokatlas import text as words
from grokatlas.publish import one_page
from grokatlas.publish.compare.changes import Changes, ClaimChange, FigureChange
from grokatlas.publish.compare.sides import Drawn, Judged

HERE = Path(__file__).parent
GENERATOR = "grokatlas compare"  # a page that says so was written by this command
SHOWN = 6  # columns that are named before the others are counted

Cells = list[list[tuple[str, bool]]]


def html(changes: Changes) -> str:
    """The whole page."""
    from grokatlas.atlas import build

    pages = one_page.environment(HERE)
    pages.filters |= {"columns": columns, "png": png}
    pages.globals |= {
        "marks": build.MARKS,
        "title": words.figure_title,
        "generator": GENERATOR,
        "cells": cells,
        "shown": Shown,
        "change_of": change_of,
        "what_changed": what_changed,
        "where": where,
        "picture": lambda drawn: png(drawn.read()),
        "text": lambda drawn: cells(drawn.read().decode("utf-8", "replace"), ""),
    }
    return pages.get_template("page.html").render(changes=changes, groups=groups(changes))


@dataclass(frozen=True)
class Shown:
    """A claim of one side as a row shows it."""

    claim: Judged

    @property
    def number(self) -> str:
        """Our value with its unit; empty where there is none."""
        (value,) = self.claim.numbers("value")
        unit = self.claim.row.get("unit", "")
        found = words.number(value, words.infinite(unit))
        return f"{found} {unit}".strip() if found not in ("", words.NEVER) else found

    @property
    def range(self) -> str:
        """Lowest and highest value and how many there are; empty for one value."""
        endless = words.infinite(self.claim.row.get("unit", ""))
        ends = [words.number(each, endless) for each in self.claim.numbers("lowest", "highest")]
        count = words.count(int(float(self.claim.row.get("count") or 0)), "value")
        return f"{' to '.join(ends)}, {count}" if ends[0] != ends[1] else ""

    @property
    def expected(self) -> str:
        """The interval."""
        found = words.interval(*self.claim.numbers("expected_low", "expected_high"))
        return f"{found} {self.claim.row.get('unit', '')}".strip()


def change_of(claim: ClaimChange) -> str:
    """By how much a number changed, relative to what it was: ``+0.9%``; empty where it has none."""
    change = relative(claim)
    return f"{change:+.2g}%" if 0 < abs(change) < math.inf else ""


def relative(claim: ClaimChange) -> float:
    """A number's change in percent of what it was; infinite where it cannot be said so."""
    (old,), (new,) = claim.first.numbers("value"), claim.second.numbers("value")
    if old == new:
        return 0.0
    if old is None or new is None or old == 0 or math.inf in (abs(old), abs(new)):
        return math.inf
    return (new - old) / abs(old) * 100


def groups(changes: Changes) -> list[tuple[str, str, str, list[ClaimChange]]]:
    """The tables of changed claims: place, title, explanation and rows."""
    return [
        (
            "verdicts",
            "Changed verdicts",
            "Judged on both sides, with another verdict.",
            changes.verdicts,
        ),
        (
            "numbers",
            "Changed numbers",
            "The verdict is the same; our value, its range or the number of values is another. The "
            "largest change comes first.",
            sorted(changes.numbers, key=lambda claim: -abs(relative(claim))),
        ),
        (
            "declarations",
            "Changed declarations",
            "The interval, the statement or the published number is another, and no verdict or "
            "number of ours.",
            changes.declarations,
        ),
        (
            "once",
            "Judged on one side alone",
            "The other side has no tables of these claims, or their interval was changed since.",
            changes.once,
        ),
    ]


def columns(names: list[str]) -> str:
    """Some names, and how many more there are."""
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN + 1 else ""
    return ", ".join(names[: SHOWN if more else None]) + more


def cells(text: str, other: str) -> Cells:
    """A table in Markdown: each cell's text, and whether the other table has another one there."""
    from grokatlas.atlas import contents

    own, its = contents.cells(text), contents.cells(other)
    alike = [len(row) for row in own] == [len(row) for row in its]
    return [
        [(cell, alike and cell != its[r][c]) for c, cell in enumerate(row)]
        for r, row in enumerate(own)
    ]


def png(data: bytes) -> str:
    """A picture as an address that holds it."""
    return f"data:image/png;base64,{base64.b64encode(data).decode()}"


def what_changed(change: FigureChange) -> list[str]:
    """What is told of a changed figure beside its pictures, but for its numbers."""
    told = [*change.facts]
    if change.picture:
        told.append(change.picture.told)
    if change.texts:
        told.append("cells of the table differ")
    if change.looks_the_same:
        told.append("it looks the same")
    return told


def where(drawn: Drawn) -> dict[str, Any]:
    """The facts below a picture."""
    scale = f"{drawn.scale} scale" if drawn.scale else "scale not recorded"
    return {"scale": scale, "so_far": drawn.so_far, "origin": drawn.origin}
