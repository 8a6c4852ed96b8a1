"""The page of findings, which are bound to recorded claims and to their verdicts."""

from grokatlas import text as words
from grokatlas.declare.models import Paper
from grokatlas.declare.prose import Finding
from grokatlas.errors import UserError, check_known
from grokatlas.publish.recorded_rows import RecordedRows

HEAD = """\
# Findings

<!-- made by `grokatlas reference` from config/papers; do not edit -->

Sentences from [papers](papers/README.md) on *grokking*, generalisation long after memorisation,
and from figures that no paper has, each with the number it rests on, how we know it and what would
change it. [Words](words.md) has twenty terms. Numbers are recorded ones at the published sizes, and
are checked against the record at each commit.
"""


def numbered(papers: dict[str, Paper]) -> list[tuple[str, Finding]]:
    """The findings of all papers by their numbers, each with its paper."""
    pairs = [(name, finding) for name, paper in papers.items() for finding in paper.findings]
    return sorted(pairs, key=lambda pair: pair[1].number)


def page(papers: dict[str, Paper]) -> str:
    """Every finding with its picture, how it is known, and what would change it, in Markdown."""
    blocks = [HEAD.strip()]
    for name, finding in numbered(papers):
        figure = papers[name].figures[finding.figure]
        about = words.alternative(figure.caption)
        made_of = ", ".join(f"{claim} ({verdict})" for claim, verdict in finding.claims.items())
        shown = f"Figure [{name}, {finding.figure}](papers/{name}.md#{finding.figure})"
        command = f"`grokatlas explain {name}/{finding.figure}`"
        blocks += [
            f"## {finding.number}. {finding.title}",
            words.paragraph(finding.told),
            f"![{about}](papers/{name}/{finding.figure}.png)",
            words.paragraph(f"**How we know.** {finding.how}"),
            words.paragraph(f"**What would change it.** {finding.change}"),
            words.paragraph(f"{shown}, claims {made_of}; runs: {command}."),
        ]
    return "\n\n".join(blocks) + "\n"


def first(papers: dict[str, Paper]) -> str:
    """The first three, as a list."""
    chosen = [each for _, each in numbered(papers)[:3]]
    lines = (f"{each.number}. **{each.title}** {each.told}" for each in chosen)
    return "\n".join(words.paragraph(line, "   ") for line in lines)


def check(papers: dict[str, Paper], record: RecordedRows) -> None:
    """Refuse findings on claims that are not declared, or were recorded otherwise.

    Papers that are not here, and a checkout without a record, say nothing against a finding.
    """
    claims = {f"{key}/{claim.id}": claim for key, paper in papers.items() for claim in paper.claims}
    for name, finding in numbered(papers):
        where = f"papers/{name}/paper.yaml: findings {finding.number}.claims"
        for claim, verdict in finding.claims.items() if record.claims else ():
            if claim.partition("/")[0] not in papers:
                continue
            check_known(where, "no claim", claim, claims)
            recorded = record.verdict(claim.partition("/")[0], claims[claim])
            if recorded != verdict:
                problem = f"{claim} is {recorded!r} now, not {verdict!r}; write the finding anew"
                raise UserError(where, problem)
