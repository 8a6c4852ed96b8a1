"""The models of what a paper's file says in sentences: deviations, findings, texts of a report."""

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from grokatlas.declare.checked_types import PositiveInt
from grokatlas.declare.model_base import Model, Name


class Deviation(Model):
    """A place where paper and code disagree or are silent."""

    RENAMED: ClassVar = {"other_readings": "interpretations"}

    where: str = Field(description="figure or section of the paper")
    paper: str = Field(description="what the paper says")
    ours: str = Field(description="what we do")
    why: str = Field(description="the reason")
    code: str | None = Field(None, description="what the authors' code does, if there is any")
    kind: Literal["error", "unstated"] | None = Field(
        None,
        description="`error`: the paper contradicts itself, its code or its derivation; "
        "`unstated`: it does not tell a choice; absent: neither",
    )
    claims: list[str] = Field(
        default=[], description="ids of claims on one setting and on the other: its measured effect"
    )
    interpretations: list[Name] = Field(
        default=[],
        description="the other interpretations, of those that are run, which choose otherwise",
    )


class Finding(Model):
    """A sentence on what was found, with its picture and the claims that it rests on."""

    number: PositiveInt = Field(description="its place among those of all papers")
    title: str = Field(description="one sentence")
    figure: Name = Field(description="the figure that shows it")
    told: str = Field(description="the number, with its spread and the published one")
    how: str = Field(description="how we know")
    change: str = Field(description="what would change it")
    claims: Annotated[dict[str, str], Field(min_length=1)] = Field(
        description="as `paper/id`, each with the recorded verdict that the sentence rests on"
    )


class Report(Model):
    """Text of a reproducibility report that nothing else in the configuration has."""

    scope: str = Field(description="what of the paper is reproduced, and what is not")
    easy: str = Field(description="what was easy")
    difficult: str = Field(description="what was difficult")
