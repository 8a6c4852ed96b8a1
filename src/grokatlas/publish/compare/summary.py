"""A comparison as text for a terminal, and as Markdown with pictures for a code host."""

import os
from collections import Counter
from pathlib import Path
from urllib.parse import quote

from grokatlas.publish.compare.changes import Changes
from grokatlas.publish.compare.sides import Drawn, Side
from grokatlas.results import layout
from grokatlas.text import count, markdown_table

MOST = 40  # rows of the Markdown table of claims


def lines(changes: Changes) -> list[str]:
    """The changes, a line each, and below a figure's its differences."""
    sides = (changes.first, changes.second)
    shown = [f"{side.label}: {side.about}" for side in sides]
    shown += [f"note: {note}" for side in sides for note in side.notes]
    for figure in changes.figures:
        shown += [f"figure {_name(figure.second)}:", *(f"  {line}" for line in figure.lines)]
    for side, figures in zip(sides, changes.only_figures, strict=True):
        shown += [f"figure {_name(figure)}: only in {side.label}" for figure in figures]
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
    labels = [_safe(side.label) for side in sides]
    text = [f"## {' → '.join(labels)}", f"{_counts(changes)}."]
    if changes.nothing:
        text[1] = "Nothing changed: figures, their recorded numbers and claims are the same."
    text += [f"{_safe(note)}." for side in sides for note in side.notes]
    for figure in changes.figures:
        text += [f"### {', '.join(figure.second.key)}"]
        text += ["\n".join(f"* {_safe(line)}" for line in figure.lines)]
        if not figure.looks_the_same and not layout.is_published_table(figure.second.key[1]):
            both = zip(sides, (figure.first, figure.second), strict=True)
            links = [_link(side, drawn, pictures, folder) for side, drawn in both]
            text += [markdown_table(labels, [links])]
    for side, figures in zip(sides, changes.only_figures, strict=True):
        for drawn in figures:
            text += [f"### {', '.join(drawn.key)}: only in {_safe(side.label)}"]
            text += [_link(side, drawn, pictures, folder)]
    claims = [[_safe(cell) for cell in row] for row in _claims(changes)]
    if claims:
        table = markdown_table(["claim", "statement", "what changed"], claims[:MOST])
        text += ["### Claims", table]
        text += [f"and {len(claims) - MOST} more"] if len(claims) > MOST else []
    return "\n\n".join(text) + "\n"


def _link(side: Side, drawn: Drawn, pictures: str | None, folder: Path) -> str:
    """A picture in Markdown; its path as text where it has no address."""
    if layout.is_published_table(drawn.key[1]):
        return ""
    if Path(drawn.path).is_absolute():
        address = quote(os.path.relpath(drawn.path, folder.resolve()))
    elif pictures:
        address = f"{pictures}/{side.identity}/{quote(drawn.path)}"
    else:
        return f"`{drawn.path}`"
    return f"![{'/'.join(drawn.key)}, {_safe(side.label)}]({address})"


def _name(drawn: Drawn) -> str:
    return "/".join(drawn.key) + (f" ({drawn.scale} scale)" if drawn.scale else "")


def _claims(changes: Changes) -> list[tuple[str, str, str]]:
    """Name, statement and judgement of claims that changed by more than rounding."""
    judged = [(each.claim, each.text) for each in changes.claims if each.kind != "rounding"]
    for side, claims in zip((changes.first, changes.second), changes.only_claims, strict=True):
        judged += [(claim, f"only in {side.label}") for claim in claims]
    return [("/".join(claim.key), claim.row.get("statement", ""), text) for claim, text in judged]


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
    """Text that Markdown takes as text; `markdown_table` escapes its bars."""
    return "".join(f"\\{c}" if c in "\\<>[]*`#!" else c for c in text)
