"""What depends on how a paper is read, from the verdicts that were recorded, for its page.

A claim under another reading has a recorded verdict where another claim of the paper says the same
of the case that stands in, by the same interval. The atlas judges all claims under all readings.
"""

from collections.abc import Callable, Mapping

from grokatlas.claims import dependence
from grokatlas.claims.verdicts import NOT_RUN
from grokatlas.declare import other_readings, versions
from grokatlas.declare.models import Claim, Paper

Judged = Callable[[str, Claim], dict[str, str]]
HEAD = (
    "",
    "Under other readings that were run ([what this says](../atlas.md#every-reading)):",
    "",
    "| | statement | as drawn | under other readings | what it depends on |",
    "| --- | --- | --- | --- | --- |",
)


def lines(name: str, papers: Mapping[str, Paper], judged: Judged) -> list[str]:
    """A table of a paper's statements under other readings; nothing where none is recorded.

    Args:
        name: the paper.
        papers: all of them, by name.
        judged: the recorded row of a claim; empty if there is none.
    """
    paper = papers[name]
    told = {claim.id: claim for claim in paper.claims}
    skipped = {claim.id for claim in paper.claims if versions.same_claim(papers, name, claim)}
    found: dict[str, dict[str, str]] = {}
    for each in other_readings.judgements(papers, name, skipped):
        if each.same_as:
            if _interval(told[each.claim]) != _interval(told[each.same_as]):
                continue
            own, other = (judged(name, told[key]) for key in (each.claim, each.same_as))
            here = other.get("verdict", NOT_RUN) != NOT_RUN
            if here and own.get("scale") == other.get("scale"):
                found.setdefault(each.claim, {})[each.reading] = other["verdict"]
    rows = []
    for claim in paper.claims:
        if under := found.get(claim.id):
            rows.append(_row(paper, claim, judged(name, claim)["verdict"], under))
    return [*HEAD, *rows] if rows else []


def _interval(claim: Claim) -> tuple[object, ...]:
    """What decides on a claim's values."""
    return tuple(claim.expected), claim.judged, claim.seeds


def _row(paper: Paper, claim: Claim, drawn: str, under: dict[str, str]) -> str:
    marks = [
        dependence.Under(verdict, tuple(other_readings.choices(paper, reading)))
        for reading, verdict in under.items()
    ]
    _, sentence = dependence.told(drawn, marks)
    others = "; ".join(f"`{reading}`: {verdict}" for reading, verdict in under.items())
    cells = (claim.id, claim.statement, drawn, others, sentence)
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
