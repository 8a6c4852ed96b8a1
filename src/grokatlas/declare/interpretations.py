"""Other interpretations of a paper: what is run in place of what is drawn, and the claims on it.

Where a paper does not tell a choice, a deviation says which one is drawn. Another choice that was
run as well is another interpretation. It says which cases stand in for the drawn ones, and every
claim that reads those is judged on them too, by its own function and its own interval: a multiverse
analysis (Steegen, Tuerlinckx, Gelman and Vanpaemel, 2016).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pydantic import Field, model_validator

from grokatlas.declare.model_base import Model, Name
from grokatlas.results import layout

if TYPE_CHECKING:
    from grokatlas.declare.claim_models import Claim
    from grokatlas.declare.models import Paper


class Instead(Model):
    """A substitute of an experiment's table, or of some of its cases."""

    of: str | None = Field(
        None,
        description="the experiment whose table is read, `paper/experiment` for one of another "
        "paper; absent: the same experiment",
    )
    cases: dict[Name, Name] | None = Field(
        None,
        description="maps drawn cases to substitutes; others are dropped; absent: every case "
        "of that table, under its own name",
    )

    @model_validator(mode="after")
    def _names_something(self) -> "Instead":
        if self.of is None and not self.cases:
            raise ValueError("names no case; give `cases`, or `of` for the table of another")
        return self


class Interpretation(Model):
    """An interpretation of a paper besides the one that is drawn, as far as it is run."""

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
        description="whether a statement that is not met under it rejects the interpretation: the "
        "verdict is then `interpretation rejected`, else `not decisive`",
    )
    not_judged: dict[str, str] = Field(
        default={}, description="ids of claims that have no meaning under it, each with the reason"
    )

    @model_validator(mode="after")
    def _names_a_case(self) -> "Interpretation":
        if not (self.instead or self.keywords or self.claims):
            raise ValueError("names no case; give `instead`, `keywords` or `claims`")
        return self


@dataclass(frozen=True)
class Judgement:
    """A claim under another interpretation, to be judged.

    Attributes:
        interpretation: its key.
        claim: id of the claim.
        keywords: that its function gets.
        same_as: id of the claim whose function gives its number; empty if it is its own.
        not_judged: the reason why it cannot be judged; empty if it can.
        instead: by experiment: the ``table`` (a reference as a figure has it) and its ``cases``.
        rejects: as in a claim.
    """

    interpretation: str
    claim: str
    keywords: dict[str, Any]
    same_as: str = ""
    not_judged: str = ""
    instead: dict[str, dict[str, Any]] = field(default_factory=dict)
    rejects: str | None = None


def judgements(papers: Mapping[str, "Paper"], name: str, skipped: set[str]) -> list[Judgement]:
    """Every claim of a paper under each of its other interpretations that can concern it.

    A claim that gives another one its number under an interpretation is not judged under
    interpretations itself, nor is one that is `skipped`, as another paper counts it. A claim
    without keywords may read a case or not: its judgement tells, from the tables.
    """
    paper = papers[name]
    possible = [
        _judgement(paper, key, interpretation, claim)
        for key, interpretation in paper.interpretations.items()
        for claim in paper.claims
        if claim.figure in interpretation.figures and claim.id not in skipped
        if _may_concern(papers, name, interpretation, claim)
    ]
    others = {each.same_as for each in possible}
    return [each for each in possible if each.claim not in others]


def choices(paper: "Paper", interpretation: str) -> list[str]:
    """The choices of an interpretation: its own, else those of the deviations that name it."""
    if own := paper.interpretations[interpretation].choices:
        return own
    named = [each.where for each in paper.deviations if interpretation in each.interpretations]
    return [where.partition(", ")[2] or where for where in named]


def _judgement(
    paper: "Paper", key: str, interpretation: Interpretation, claim: "Claim"
) -> Judgement:
    same_as = interpretation.claims.get(claim.id, "")
    return Judgement(
        interpretation=key,
        claim=claim.id,
        keywords=_over(interpretation, claim),
        same_as=same_as,
        not_judged=interpretation.not_judged.get(claim.id, ""),
        instead={} if same_as else _instead(paper, interpretation, claim.figure),
        rejects=interpretation.about if interpretation.rejects else None,
    )


def _instead(
    paper: "Paper", interpretation: Interpretation, figure: str
) -> dict[str, dict[str, Any]]:
    """The tables that are read instead of a figure's, by the experiment's own name."""
    tables = {}
    for reference in paper.figures[figure].experiments:
        experiment = reference.rpartition("/")[2]
        if each := interpretation.instead.get(experiment):
            tables[experiment] = {"table": each.of or reference, "cases": each.cases}
    return tables


def _over(interpretation: Interpretation, claim: "Claim") -> dict[str, Any]:
    """The keywords of a claim under an interpretation."""
    laid = {key: value for key, value in interpretation.keywords.items() if key in claim.keywords}
    return {**claim.keywords, **laid}


def _may_concern(
    papers: Mapping[str, "Paper"], name: str, interpretation: Interpretation, claim: "Claim"
) -> bool:
    """True if a claim can read what is otherwise, as far as its keywords tell."""
    if claim.id in interpretation.claims:
        return True
    has_them = interpretation.only.items() <= claim.keywords.items()
    if claim.id in interpretation.claims.values() or not has_them:
        return False
    if _over(interpretation, claim) != claim.keywords:
        return True
    said = {value for value in claim.keywords.values() if isinstance(value, str)}
    for reference in papers[name].figures[claim.figure].experiments:
        owner, experiment = layout.owner_of_table(name, reference)
        each = interpretation.instead.get(experiment)
        if each is None or ("experiment" in claim.keywords and experiment not in said):
            continue
        known = set(papers[owner].experiments[experiment].cases or {})
        if each.cases is None or not said & known or said & set(each.cases):
            return True
    return False
