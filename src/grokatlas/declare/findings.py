"""What was found, in sentences that are bound to recorded claims: ``config/findings.yaml``."""

from pathlib import Path
from typing import Annotated

from pydantic import Field

from grokatlas.declare import bound_numbers, strict_yaml
from grokatlas.declare.model_base import Model
from grokatlas.declare.models import Paper
from grokatlas.declare.validation import check_block
from grokatlas.errors import MistakeError, UserError, nearest, shown

FILE = "findings.yaml"


class Finding(Model):
    """A sentence with its picture, its number, and the claims that it is made of."""

    title: str = Field(description="one sentence")
    figure: str = Field(description="its picture, as `paper/figure`")
    told: str = Field(description="the number, with its spread and the published one")
    how: str = Field(description="how we know")
    change: str = Field(description="what would change it")
    claims: Annotated[dict[str, str], Field(min_length=1)] = Field(
        description="as `paper/id`, each with the verdict that the sentence rests on"
    )


def load(config: Path) -> list[Finding]:
    """The findings of a configuration, with their numbers; none where it has no such file."""
    file = config / FILE
    content = strict_yaml.load(file, FILE) if file.exists() else []
    if not isinstance(content, list):
        raise UserError(FILE, f"must be a list of findings, not {shown(content)}")
    findings = []
    for position, entry in enumerate(content):
        try:
            filled = bound_numbers.filled(entry, "", config.parent)
            findings.append(check_block(Finding, filled))
        except MistakeError as mistake:
            place = ".".join([str(position), *mistake.path])
            raise UserError(f"{FILE}: {place}", mistake.problem) from None
    return findings


def check(findings: list[Finding], papers: dict[str, Paper], root: Path) -> None:
    """Refuse findings whose figure or claim is not declared, or was recorded otherwise."""
    figures = [f"{name}/{figure}" for name, paper in papers.items() for figure in paper.figures]
    claims = [f"{name}/{claim.id}" for name, paper in papers.items() for claim in paper.claims]
    rows = bound_numbers.records(root)
    for position, finding in enumerate(findings):
        where = f"{FILE}: {position}"
        if finding.figure not in figures:
            hint = nearest(finding.figure, figures)
            raise UserError(f"{where}.figure", f"no figure {finding.figure!r}; {hint}")
        for name, verdict in finding.claims.items():
            if name not in claims:
                raise UserError(f"{where}.claims", f"no claim {name!r}; {nearest(name, claims)}")
            paper, _, claim = name.partition("/")
            recorded = rows.get((paper, claim), {}).get("verdict", "not recorded")
            if recorded != verdict:
                problem = f"{name} is {recorded!r} now, not {verdict!r}; write the finding anew"
                raise UserError(f"{where}.claims", problem)
