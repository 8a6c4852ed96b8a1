"""Code and judgements that a paper shares with the one that it is a version of."""

from typing import Any

from grokatlas.declare import drawing
from grokatlas.declare.claim_models import Claim
from grokatlas.declare.models import Figure, Paper
from grokatlas.results import layout


def tables(name: str, figure: Figure) -> list[tuple[str, str]]:
    """The tables that a figure of a paper draws: the paper that each is of, and its name there."""
    return [layout.owner_of_table(name, reference) for reference in figure.experiments]


def figure_module(name: str, paper: Paper, figure: str) -> str:
    """The module that draws a figure."""
    if paper.figures[figure].draw is not None:
        return drawing.MODULE
    as_ = paper.figures[figure].as_
    owner, drawn = (paper.version_of, as_) if as_ else (name, figure)
    return f"grokatlas.papers.{owner}.{drawn}"


def claims_module(name: str, paper: Paper, claim: Claim) -> str:
    """The module that holds a claim's function."""
    return f"grokatlas.papers.{paper.version_of if claim.as_ else name}.claims"


def declared_claim(papers: dict[str, Paper], name: str, claim: Claim) -> dict[str, Any]:
    """A claim with all that is needed to judge it, as plain data."""
    figure = papers[name].figures[claim.figure]
    return claim.model_dump(mode="json", exclude={"cell", "as_", "why"}) | {
        "experiments": figure.experiments,
        "read": claim.read(figure.experiments),
        "module": claims_module(name, papers[name], claim),
        "published_cells": figure.published,
        "digitised_points": digitised_points(papers[name], claim.figure),
        "same_as": same_claim(papers, name, claim),
    }


def digitised_points(paper: Paper, figure: str) -> list[dict[str, Any]]:
    """The points of the published curves of a figure, as plain data."""
    return [each.model_dump() for each in paper.digitised_points if each.figure == figure]


def same_claim(papers: dict[str, Paper], name: str, claim: Claim) -> str:
    """The claim of another paper with the same judgement, as ``paper/id``; empty if there is none.

    Both are declared here, and differ in nothing but id, figure and place: they take the same
    number from the same tables.
    """
    paper, version_of = papers[name], papers[name].version_of or ""
    other = papers.get(version_of)
    its = next((each for each in other.claims if each.id == claim.as_), None) if other else None
    if other is None or its is None:
        return ""
    own = {"id", "as_", "figure", "place", "cell", "why"}
    equal = claim.model_dump(exclude=own) == its.model_dump(exclude=own)
    own_tables = set(tables_read(name, paper, claim))
    same = equal and own_tables == set(tables_read(version_of, other, its))
    return f"{version_of}/{its.id}" if same else ""


def tables_read(name: str, paper: Paper, claim: Claim) -> list[tuple[str, str]]:
    """The tables that a claim of a paper reads, as `tables` gives those of its figure."""
    read = claim.read(paper.figures[claim.figure].experiments)
    return [layout.owner_of_table(name, reference) for reference in read]
