"""The models of claims: frozen, unknown keys forbidden."""

import re
from collections.abc import Iterable
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from grokatlas.declare.checked_types import PositiveInt
from grokatlas.declare.model_base import Model, Name

ClaimSource = Literal["text", "figure", "derived", "ours", "prediction"]
Cause = Literal["refuted", "choice", "interval", "missing", "unexplained"]


class Claim(Model):
    """A published statement, the number that it becomes, and the interval that it should be in."""

    id: str = Field(description="such as G1 or G1b; no two of a paper are equal")
    statement: str = Field(description="what the paper says, in a sentence")
    place: str = Field(description="where the paper says it")
    source: ClaimSource = Field(
        description="`text`: stated there; `figure`: read off it; `derived`: following from the "
        "paper's equations; `ours`: asked by this project; `prediction`: of this project"
    )
    published: str = Field(description="the paper's own number, as it is printed there")
    cell: Name | list[Name] | None = Field(
        None, description="in place of `published`: where the figure's `published` has it"
    )
    figure: Name = Field(description="the figure whose tables hold it: the name of its group")
    value: Name = Field(
        description="function of `papers/<paper>/claims.py`: from tables to a number for each seed"
    )
    keywords: dict[Name, str | int | float] = Field(
        default={},
        description="further arguments of that function; `experiment`: the only table that it gets",
    )
    unit: str = Field("", description="of the value; empty for a plain number")
    expected: list[float | None] = Field(
        description="lowest and highest value, both included; null: no limit"
    )
    afterwards: bool = Field(
        False,
        description="true: its interval was set, or the number that it judges chosen, when numbers "
        "of the runs that judge it, all or some, were known; pages say so, and tallies say of how "
        "many of the reproduced ones",
    )
    judged: Literal["each", "mean", "median"] = Field(
        "each", description="what has to be in the interval: every seed's value, or their middle"
    )
    seeds: PositiveInt = Field(1, description="values that a full verdict needs")
    scales: Annotated[list[Literal["quick", "paper"]], Field(min_length=1)] = Field(
        default=["paper"], description="where the statement can be judged"
    )

    rejects: str | None = Field(
        None,
        description="names the interpretation that a miss refutes; the verdict is then "
        "`interpretation rejected`, else `not decisive`",
    )
    fails_with: Name | dict[Name, str | int | float] | None = Field(
        None,
        description="what has to fail the claim, its negative control: an interpretation of the "
        "paper, a function of `papers/<paper>/claims.py` from tables to tables, or keywords laid "
        "over the claim's own. A claim that its control meets too is `not decisive`",
    )
    why: Annotated[dict[Cause, str], Field(min_length=1, max_length=1)] | None = Field(
        None,
        description="why it is missed or partly met: one sentence, named by its cause, `refuted` "
        "by the runs, a `choice` that the paper leaves open, the `interval`, `missing` runs, or "
        "`unexplained`",
    )
    as_: str | None = Field(
        None,
        alias="as",
        description="in a version of another paper: id of the claim of that paper that it repeats, "
        "but for the keys given here",
    )

    @property
    def control(self) -> dict[str, str | int | float]:
        """The keywords that its control lays over its own; none of a control of another kind."""
        return self.fails_with if isinstance(self.fails_with, dict) else {}

    def read(self, experiments: Iterable[str]) -> list[str]:
        """Those of its figure's experiments whose tables it reads.

        They are that of its keyword `experiment` and of its control's, or all.
        """
        named = {block.get("experiment") for block in (self.keywords, self.control)} - {None}
        return [each for each in experiments if not named or each.rpartition("/")[2] in named]

    @model_validator(mode="after")
    def _number_and_interval(self) -> "Claim":
        if not re.fullmatch("[A-Z]+[0-9]+[a-z]?", self.id):
            raise ValueError(f"{self.id!r} is no id of a claim: capitals and a number, such as G1")
        if len(self.expected) != 2:
            raise ValueError("`expected` must be two values: [lowest, highest]")
        low, high = self.expected
        if low is None and high is None:
            raise ValueError("`expected` has no limit; give a lowest or a highest value")
        if low is not None and high is not None and low > high:
            raise ValueError(f"`expected` is upside down: {low:g} is above {high:g}")
        return self


_SHARED = "as in a claim, for all that do not give it themselves"


class ClaimGroup(Model):
    """The claims on a figure, and what all of them share."""

    claims: Annotated[list[dict[str, Any]], Field(min_length=1)] = Field(
        description="the claims, each a block of the keys below"
    )
    place: str | None = Field(None, description="as in a claim; absent: the figure's number")
    source: ClaimSource | None = Field(None, description=_SHARED)
    value: Name | None = Field(None, description=_SHARED)
    unit: str | None = Field(None, description=_SHARED)
    judged: Literal["each", "mean", "median"] | None = Field(None, description=_SHARED)
    seeds: PositiveInt | None = Field(None, description=_SHARED)
    scales: list[Literal["quick", "paper"]] | None = Field(None, description=_SHARED)
    fails_with: Name | dict[Name, str | int | float] | None = Field(None, description=_SHARED)
