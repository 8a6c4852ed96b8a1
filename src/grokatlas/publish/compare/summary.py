"""A comparison as text for a terminal, and as Markdown with pictures for a code host."""

import math
import os
from collections import Counter
from pathlib import Path
from urllib.parse import quote

from grokatlas.publish.compare.changes import ROUNDING, Changes, ClaimChange, FigureChange
from grokatlas.publish.compare.sides import Drawn, Side
from grokatlas.text import count

MOST = 40  # rows of the Markdown table of claims
SHOWN = 6  # columns that are named before the others are counted


def lines(changes: Changes) -> list[str]:
    """The changes, a line each, and below a figure's its differences."""
    sides = (changes.first, changes.second)
    shown = [f"{side.label}: {side.about}" for side in sides]
    shown += [f"note: {note}" for side in sides for note in side.notes]
    for each in changes.figures:
        shown.append(f"figure {_name(each.second)}:")
        shown += [f"  {line}" for line in _differences(each)]
    for side, figures in zip(sides, changes.only_figures, strict=True):
        shown += [f"figure {_name(each)}: only in {side.label}" for each in figures]
    shown += [f"claim {name}: {judged}" for name, _, judged in _claims(changes)]
    return [*shown, "nothing changed" if changes.nothing else _counts(changes)]


def markdown(changes: Changes, pictures: str | None, folder: Path) -> str:
    """The same as Markdown, with the pictures of both sides beside each other.

    Args:
        changes: between the sides.
        pictures: the address below which files of a commit are; None where there is none.
        folder: of the Markdown file: pictures of a results folder are linked from there.
    """
    sides = (changes.first, changes.second)
    text = [f"## {' → '.join(_safe(side.label) for side in sides)}", "", f"{_counts(changes)}.", ""]
    if changes.nothing:
        text[2] = "Nothing changed: figures, their recorded numbers and claims are the same."
    text += [line for side in sides for note in side.notes for line in (f"{_safe(note)}.", "")]
    for each in changes.figures:
        text += [f"### {each.second.paper}, {each.second.name}", ""]
        text += [f"* {_safe(line)}" for line in _differences(each)] + [""]
        if not each.looks_the_same and not each.second.is_table:
            both = zip(sides, (each.first, each.second), strict=True)
            links = [_link(side, drawn, pictures, folder) for side, drawn in both]
            text += _table([[_safe(side.label) for side in sides], links])
    for side, figures in zip(sides, changes.only_figures, strict=True):
        for drawn in figures:
            text += [f"### {drawn.paper}, {drawn.name}: only in {_safe(side.label)}", ""]
            text += [_link(side, drawn, pictures, folder), ""]
    claims = _claims(changes)
    if claims:
        rows = [list(map(_safe, cells)) for cells in claims[:MOST]]
        text += ["### Claims", "", *_table([["claim", "statement", "what changed"], *rows])]
        more = len(claims) - MOST
        text += [f"and {more} more", ""] if more > 0 else []
    return "\n".join([*text, ""])


def _link(side: Side, drawn: Drawn, pictures: str | None, folder: Path) -> str:
    """A picture in Markdown; its path as text where it has no address."""
    if drawn.is_table:
        return ""
    if Path(drawn.path).is_absolute():
        address = quote(os.path.relpath(drawn.path, folder.resolve()))
    elif pictures:
        address = f"{pictures}/{side.identity}/{quote(drawn.path)}"
    else:
        return f"`{drawn.path}`"
    return f"![{'/'.join(drawn.key)}, {_safe(side.label)}]({address})"


def _table(rows: list[list[str]]) -> list[str]:
    """A table in Markdown; the first row is its head."""
    ruled = [rows[0], ["---"] * len(rows[0]), *rows[1:]]
    return [*(f"| {' | '.join(cells)} |" for cells in ruled), ""]


def _name(drawn: Drawn) -> str:
    return "/".join(drawn.key) + (f" ({drawn.scale} scale)" if drawn.scale else "")


def _differences(change: FigureChange) -> list[str]:
    """The differences that a reader sees, then the columns that differ in the same way."""
    differ = [*change.facts, *(["it looks the same"] if change.looks_the_same else [])]
    for name, ways in change.numbers.items():
        for columns, how in ways:
            more = f" and {len(columns) - SHOWN} more" if len(columns) > SHOWN + 1 else ""
            named = ", ".join(columns[: SHOWN if more else None]) + more
            differ.append(f"{named} of {name}: {how}")
    same = "its numbers are the same" if change.compared else "no numbers of it on both sides"
    return differ if change.numbers else [*differ, same]


def _claims(changes: Changes) -> list[tuple[str, str, str]]:
    """Name, statement and judgement of claims that changed by more than rounding."""
    rows = [
        ("/".join(each.second.key), each.second.row.get("statement", ""), _judgement(each))
        for each in changes.claims
        if each.kind != "rounding"
    ]
    for side, claims in zip((changes.first, changes.second), changes.only_claims, strict=True):
        for claim in claims:
            statement = claim.row.get("statement", "")
            rows.append(("/".join(claim.key), statement, f"only in {side.label}"))
    return rows


def _judgement(change: ClaimChange) -> str:
    """A claim's verdicts, numbers and intervals, as far as they differ."""
    parts = []
    old, new = change.first, change.second
    if change.kind in ("verdict", "once"):
        parts.append(f"{old.row['verdict']} -> {new.row['verdict']}")
    if change.number:
        ours = [
            (each.number or "none") + (f" ({each.range}, {each.values})" if each.range else "")
            for each in (old, new)
        ]
        by = _relative(change)
        parts.append(f"ours {' -> '.join(dict.fromkeys(ours))}{by and f', {by}'}")
    if change.interval:
        parts.append(f"interval {old.expected} -> {new.expected}")
    elif change.declaration:
        parts.append("declared otherwise")
    return "; ".join(parts)


def _relative(change: ClaimChange) -> str:
    """By how much a number changed, relative to what it was: ``+0.9%``; empty where it has none."""
    (old,), (new,) = change.first.numbers("value"), change.second.numbers("value")
    if not old or new is None or math.inf in (abs(old), abs(new)):
        return ""
    if math.isclose(old, new, rel_tol=ROUNDING):
        return ""
    return f"{(new - old) / abs(old) * 100:+.2g}%"


def _counts(changes: Changes) -> str:
    claims = Counter(claim.kind for claim in changes.claims)
    alone = [len(each) for each in (*changes.only_figures, *changes.only_claims)]
    text = f"{count(len(changes.figures), 'figure')} changed, {changes.same_figures} the same"
    text += f"; {count(claims['verdict'], 'verdict')}, {count(claims['number'], 'number')} and "
    text += f"{count(claims['declaration'], 'declaration')} of claims changed, "
    for kind, words in (("rounding", "in rounding alone"), ("once", "judged on one side alone")):
        text += f"{claims[kind]} {words}, " if claims[kind] else ""
    text += f"{changes.same_claims} claims the same"
    if any(alone):
        text += f"; on one side alone {count(alone[0] + alone[1], 'figure')}"
        text += f" and {count(alone[2] + alone[3], 'claim')}"
    return text


def _safe(text: str) -> str:
    """Text that Markdown takes as text."""
    return "".join(f"\\{c}" if c in "\\|<>[]*`#!" else c for c in text)
