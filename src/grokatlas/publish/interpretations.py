"""The table of a paper's page on its interpretations, from recorded verdicts."""

from collections.abc import Callable, Mapping

from grokatlas import text as words
from grokatlas.claims import dependence
from grokatlas.declare import interpretations
from grokatlas.declare.claim_models import Claim
from grokatlas.declare.models import Paper
from grokatlas.publish.recorded_rows import RecordedRows

Row = dict[str, str]
EXPLAINED = " ([what this says](../atlas.md#every-interpretation))"  # on a page of docs/papers
HEAD = ["", "statement", "as drawn", "under other interpretations", "what it depends on"]


def table(
    name: str,
    paper: Paper,
    record: RecordedRows,
    number: Callable[[Claim, Row], str],
    explained: str = EXPLAINED,
) -> str:
    """A table of a paper's statements under other interpretations; empty if none is recorded."""
    rows = []
    for claim in paper.claims:
        if under := record.under(name, claim):
            drawn = record.verdict(name, claim)
            numbers = {key: number(claim, row) for key, row in under.items()}
            rows.append(_row(paper, claim, drawn, under, numbers))
    title = f"Under other interpretations that were run{explained}:"
    return f"{title}\n\n{words.markdown_table(HEAD, rows).rstrip()}" if rows else ""


def _row(
    paper: Paper, claim: Claim, drawn: str, under: Mapping[str, Row], numbers: Mapping[str, str]
) -> list[str]:
    marks = [
        dependence.Under(row["verdict"], tuple(interpretations.choices(paper, key)))
        for key, row in under.items()
    ]
    _, sentence = dependence.sentence(drawn, marks)
    others = "; ".join(f"`{key}`: {row['verdict']}, {numbers[key]}" for key, row in under.items())
    return [claim.id, claim.statement, drawn, others, sentence]
