"""Other readings of a paper: what is run in place of what is drawn, and the claims on it.

Where a paper does not tell a choice, a deviation says which one is drawn. Another choice that was
run as well is another reading. It says which cases stand in for the drawn ones, and every claim
that reads those is judged on them too, by its own function and its own interval: a multiverse
analysis (Steegen, Tuerlinckx, Gelman and Vanpaemel, 2016).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pydantic import Field, model_validator

from grokatlas.declare.model_base import Model, Name
from grokatlas.results import layout

if TYPE_CHECKING:
    from grokatlas.declare.models import Claim, Paper


class Instead(Model):
    """What is read instead of an experiment's table, or instead of some of its cases."""

    of: str | None = Field(
        None,
        description="the experiment whose table is read, `paper/experiment` for one of another "
        "paper; absent: the same experiment",
    )
    cases: dict[Name, Name] | None = Field(
        None,
        description="each drawn case, and the case that stands in for it; there are no others "
        "then; absent: every case of that table, under its own name",
    )

    @model_validator(mode="after")
    def _names_something(self) -> "Instead":
        if self.of is None and not self.cases:
            raise ValueError("names no case; give `cases`, or `of` for the table of another")
        return self


class OtherReading(Model):
    """How a paper can be read besides the reading that is drawn, as far as that is run."""

    about: str = Field(description="what is read otherwise, in a few words")
    choices: list[str] = Field(
        default=[], description="what is chosen, a word each; absent: as the deviations name it"
    )
    figures: list[Name] = Field(description="whose claims are judged under it", min_length=1)
    only: dict[Name, str | int | float] = Field(
        default={}, description="keywords of the claims that it concerns; absent: of any"
    )
    instead: dict[Name, Instead] = Field(
        default={}, description="by experiment of these figures: what is read instead of it"
    )
    keywords: dict[Name, str | int | float] = Field(
        default={}, description="laid over those of a claim, where it has them"
    )
    claims: dict[str, str] = Field(
        default={},
        description="claims whose number another function takes under it, judged by their own "
        "interval: id, and the id of the claim that has this function",
    )
    rejects: bool = Field(
        False,
        description="whether a statement that is not met under it rejects the reading: the "
        "verdict is then `reading rejected`, else `not decisive`",
    )
    not_judged: dict[str, str] = Field(
        default={}, description="ids of claims that have no meaning under it, each with the reason"
    )

    @model_validator(mode="after")
    def _names_a_case(self) -> "OtherReading":
        if not (self.instead or self.keywords or self.claims):
            raise ValueError("names no case; give `instead`, `keywords` or `claims`")
        return self


@dataclass(frozen=True)
class Judgement:
    """A claim under another reading: what is to be judged.

    Attributes:
        reading: its key.
        claim: id of the claim.
        keywords: that its function gets.
        same_as: id of the claim whose function gives its number; empty if it is its own.
        not_judged: why it cannot be judged; empty if it can.
        instead: by experiment: the ``table`` (a reference as a figure has it) and its ``cases``.
        rejects: what a miss rejects, as in a claim.
    """

    reading: str
    claim: str
    keywords: dict[str, Any]
    same_as: str = ""
    not_judged: str = ""
    instead: dict[str, dict[str, Any]] = field(default_factory=dict)
    rejects: str | None = None


def judgements(papers: Mapping[str, "Paper"], name: str, skipped: set[str]) -> list[Judgement]:
    """Every claim of a paper under each of its other readings that can concern it.

    A claim that gives another one its number under a reading is not judged under readings itself.
    Whether a claim without keywords reads a case is seen from the tables, when it is judged.

    Args:
        papers: by name.
        name: the paper.
        skipped: ids of claims that another paper counts.
    """
    paper = papers[name]
    found = [
        _judgement(paper, key, reading, claim)
        for key, reading in paper.other_readings.items()
        for claim in paper.claims
        if claim.figure in reading.figures and claim.id not in skipped
        if _may_concern(papers, name, reading, claim)
    ]
    others = {each.same_as for each in found}
    return [each for each in found if each.claim not in others]


def choices(paper: "Paper", reading: str) -> list[str]:
    """What is chosen otherwise in a reading: as it says, else as the deviations that name it do."""
    if own := paper.other_readings[reading].choices:
        return own
    named = [each.where for each in paper.deviations if reading in each.other_readings]
    return [where.partition(", ")[2] or where for where in named]


def _judgement(paper: "Paper", key: str, reading: OtherReading, claim: "Claim") -> Judgement:
    same_as = reading.claims.get(claim.id, "")
    return Judgement(
        reading=key,
        claim=claim.id,
        keywords=_over(reading, claim),
        same_as=same_as,
        not_judged=reading.not_judged.get(claim.id, ""),
        instead={} if same_as else _instead(paper, reading, claim.figure),
        rejects=reading.about if reading.rejects else None,
    )


def _instead(paper: "Paper", reading: OtherReading, figure: str) -> dict[str, dict[str, Any]]:
    """What is read instead of a figure's tables, by the experiment's own name."""
    found = {}
    for reference in paper.figures[figure].experiments:
        experiment = reference.rpartition("/")[2]
        if each := reading.instead.get(experiment):
            found[experiment] = {"table": each.of or reference, "cases": each.cases}
    return found


def _over(reading: OtherReading, claim: "Claim") -> dict[str, Any]:
    """The keywords of a claim under a reading."""
    laid = {key: value for key, value in reading.keywords.items() if key in claim.keywords}
    return {**claim.keywords, **laid}


def _may_concern(
    papers: Mapping[str, "Paper"], name: str, reading: OtherReading, claim: "Claim"
) -> bool:
    """Whether a claim can read what is otherwise, as far as its keywords tell."""
    if claim.id in reading.claims:
        return True
    has_them = reading.only.items() <= claim.keywords.items()
    if claim.id in reading.claims.values() or not has_them:
        return False
    if reading.keywords:
        return _over(reading, claim) != claim.keywords
    said = {value for value in claim.keywords.values() if isinstance(value, str)}
    for reference in papers[name].figures[claim.figure].experiments:
        owner, experiment = layout.owner_of_table(name, reference)
        each = reading.instead.get(experiment)
        if each is None or ("experiment" in claim.keywords and experiment not in said):
            continue
        known = set(papers[owner].experiments[experiment].cases or {})
        if each.cases is None or not said & known or said & set(each.cases):
            return True
    return False
