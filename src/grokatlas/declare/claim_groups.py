"""The claims of a paper's `claims.yaml`: grouped by figure, or as those of another paper.

A group gives what all its claims share. A claim gives the paper's own number as text (`published`)
or names the cells of the figure that hold it (`cell`), so that a published number is written once.
"""

from typing import Any

from grokatlas.declare.claim_models import Claim, ClaimGroup
from grokatlas.declare.models import Paper
from grokatlas.declare.validation import check_file
from grokatlas.errors import UserError, nearest, shown
from grokatlas.text import figure_title

Block = dict[str, Any]
Placed = list[tuple[str, Block]]  # claims, each with its place in the file


def flat(label: str, groups: Block, others: dict[str, Block], other: str) -> Placed:
    """Every claim with what its group and the claim of the other paper give.

    Args:
        label: of the file, for errors.
        groups: contents of ``claims.yaml``.
        others: the claims of the paper that this one is a version of, by id.
        other: that paper; empty where there is none.
    """
    claims = []
    for figure, group in groups.items():
        check_file(ClaimGroup, group, label, figure)
        shared = {key: value for key, value in group.items() if key != "claims"}
        for position, claim in enumerate(group["claims"]):
            named = f"{figure} ({claim['id']})" if "id" in claim else ""
            place = named or f"{figure}.claims.{position}"
            base: Block = {"place": figure_title(figure).lower()}
            if claim.get("as") is not None:
                base |= repeats(f"{label}: {place}.as", claim["as"], others, other)
            if "cell" in claim:
                base.pop("published", None)
            claims.append((place, {**base, **shared, **claim, "figure": figure}))
    return claims


def repeats(place: str, named: Any, others: dict[str, Block], other: str) -> Block:
    """The entry of the other paper that an entry of a version repeats by ``as``."""
    if not other:
        problem = "this is not a version of another paper; name that one by `version_of`"
        raise UserError(place, problem)
    if str(named) not in others:
        raise UserError(place, f"not in {other}; {nearest(str(named), list(others))}")
    return others[str(named)]


def repeated(paper: Paper) -> dict[str, Block]:
    """The keys that a version of a paper takes over of its claims, by their ids."""
    own = {"id", "as_", "figure", "place", "cell"}
    return {
        claim.id: claim.model_dump(by_alias=True, exclude_unset=True, exclude=own)
        for claim in paper.claims
    }


def checked(label: str, claims: Placed, paper: Paper) -> list[Claim]:
    """Claims as models, their published numbers taken from the cells that they name."""
    models = []
    for place, claim in claims:
        figure = claim["figure"]
        if figure not in paper.figures:
            hint = nearest(figure, list(paper.figures))
            raise UserError(f"{label}: {figure}", f"no such figure of the paper; {hint}")
        if "cell" in claim:
            if "published" in claim:
                problem = "gives its number as `published` too; keep one of both"
                raise UserError(f"{label}: {place}.cell", problem)
            cells = _cells(f"{label}: {place}.cell", claim["cell"], paper, figure)
            claim = claim | {"published": cells}
        models.append(check_file(Claim, claim, label, place))
    return models


def _cells(where: str, named: Any, paper: Paper, figure: str) -> str:
    """The published text of the cells that a claim names."""
    cells = paper.figures[figure].published
    names = named if isinstance(named, list) else [named]
    for name in names:
        if not isinstance(name, str) or not isinstance(cells.get(name), str):
            texts = [key for key, value in cells.items() if isinstance(value, str)]
            problem = f"no text {shown(name)} in `published` of {figure}; {nearest('', texts)}"
            raise UserError(where, problem)
    return ", ".join(cells[name] for name in names)
