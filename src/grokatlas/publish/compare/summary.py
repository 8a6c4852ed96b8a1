"""A comparison in a few lines: as text for a terminal, as Markdown for a change's own page."""

from grokatlas.publish.compare import page
from grokatlas.publish.compare.changes import Changes, ClaimChange, FigureChange
from grokatlas.publish.compare.sides import Drawn, Side
from grokatlas.text import count

MOST = 40  # rows of the Markdown table of claims


def lines(changes: Changes) -> list[str]:
    """What changed, one line each."""
    first, second = changes.first, changes.second
    found = [f"{side.label}: {side.about}" for side in (first, second)]
    found += [f"note: {note}" for note in [*first.notes, *second.notes]]
    found += [f"figure {_name(each.second)}: {_told(each)}" for each in changes.figures]
    for side, figures in zip((first, second), changes.only_figures, strict=True):
        found += [f"figure {_name(each)}: only in {side.label}" for each in figures]
    changed = [each for each in changes.claims if each not in changes.rounded]
    found += [f"claim {'/'.join(each.second.key)}: {_judgement(each)}" for each in changed]
    for side, claims in zip((first, second), changes.only_claims, strict=True):
        found += [f"claim {'/'.join(each.key)}: only in {side.label}" for each in claims]
    return [*found, "nothing changed" if changes.nothing else _counts(changes)]


def markdown(changes: Changes, pictures: str | None) -> str:
    """The same as Markdown, with the pictures of commits side by side.

    Args:
        changes: what changed.
        pictures: the address below which files of a commit are; no pictures if there is none.
    """
    first, second = changes.first, changes.second
    told = [f"## {_safe(first.label)} → {_safe(second.label)}", "", f"{_counts(changes)}.", ""]
    if changes.nothing:
        told[2] = "Nothing changed: figures, their recorded numbers and claims are the same."
    for each in changes.figures:
        told += [f"### {each.second.paper}, {each.second.name}", "", f"{_told(each)}.", ""]
        told += _side_by_side(each, first, second, pictures)
    changed = [each for each in changes.claims if each not in changes.rounded]
    if changed:
        told += ["### Claims", "", "| claim | statement | what changed |", "| --- | --- | --- |"]
        for claim in changed[:MOST]:
            cells = ("/".join(claim.second.key), claim.second.row.get("statement", ""))
            told.append(f"| {' | '.join(map(_safe, (*cells, _judgement(claim))))} |")
        more = len(changed) - MOST
        told += ["", *([f"and {more} more"] if more > 0 else []), ""]
    return "\n".join([*told, ""])


def _side_by_side(
    change: FigureChange, first: Side, second: Side, pictures: str | None
) -> list[str]:
    """The two pictures as a table; nothing for tables, and where they have no address."""
    paths = [each.path for each in (change.first, change.second)]
    if not pictures or change.looks_the_same or change.second.is_table or not all(paths):
        return []
    sides = zip((first, second), paths, strict=True)
    cells = [f"![{_safe(s.label)}]({pictures}/{s.identity}/{path})" for s, path in sides]
    head = f"| {_safe(first.label)} | {_safe(second.label)} |"
    return [head, "| --- | --- |", f"| {' | '.join(cells)} |", ""]


def _name(drawn: Drawn) -> str:
    return "/".join(drawn.key) + (f" ({drawn.scale} scale)" if drawn.scale else "")


def _told(change: FigureChange) -> str:
    parts = page.what_changed(change)
    for name, ways in change.numbers.items():
        columns = [column for names, _ in ways for column in names]
        parts.append(f"{count(len(columns), 'column')} of {name} differ")
    if not change.compared:
        parts.append("no numbers of it on both sides")
    elif not change.numbers:
        parts.append("its numbers are the same")
    return "; ".join(parts)


def _judgement(change: ClaimChange) -> str:
    """A claim's verdicts, numbers and intervals, as far as they differ."""
    parts = []
    old, new = page.Shown(change.first), page.Shown(change.second)
    if change.verdict or change.once:
        parts.append(f"{change.first.row['verdict']} -> {change.second.row['verdict']}")
    if change.number:
        told = [
            f"{each.number or 'none'}{each.range and f' ({each.range})'}" for each in (old, new)
        ]
        both = told[0] if told[0] == told[1] else " -> ".join(told)
        by = page.change_of(change)
        parts.append(f"ours {both}{by and f', {by}'}")
    if change.interval:
        parts.append(f"interval {old.expected} -> {new.expected}")
    elif change.declaration:
        parts.append("declared otherwise")
    return "; ".join(parts)


def _counts(changes: Changes) -> str:
    verdicts, numbers = len(changes.verdicts), len(changes.numbers)
    rounded, once = len(changes.rounded), len(changes.once)
    alone = [len(each) for each in (*changes.only_figures, *changes.only_claims)]
    told = f"{count(len(changes.figures), 'figure')} changed, {changes.same_figures} the same"
    told += f"; {count(verdicts, 'verdict')}, {count(numbers, 'number')} and "
    told += f"{count(len(changes.declarations), 'declaration')} of claims changed, "
    told += f"{rounded} in rounding alone, " if rounded else ""
    told += f"{once} judged on one side alone, " if once else ""
    told += f"{changes.same_claims} claims the same"
    if any(alone):
        told += f"; on one side alone {count(alone[0] + alone[1], 'figure')}"
        told += f" and {count(alone[2] + alone[3], 'claim')}"
    return told


def _safe(text: str) -> str:
    """Text that Markdown takes as text."""
    return "".join(f"\\{c}" if c in "\\|<>[]*`#!" else c for c in text)
