"""What depends on how a paper is read, from the verdicts that were recorded, for its page."""

from collections.abc import Callable, Mapping

from grokatlas.claims import dependence
from grokatlas.declare import other_readings
from grokatlas.declare.models import Claim, Paper
from grokatlas.publish.recorded_rows import RecordedRows

Row = dict[str, str]
HEAD = (
    "",
    "Under other readings that were run ([what this says](../atlas.md#every-reading)):",
    "",
    "| | statement | as drawn | under other readings | what it depends on |",
    "| --- | --- | --- | --- | --- |",
)


def lines(
    name: str, paper: Paper, record: RecordedRows, number: Callable[[Claim, Row], str]
) -> list[str]:
    """A table of a paper's statements under other readings; nothing where none is recorded.

    Args:
        name: of the paper.
        paper: whose statements.
        record: what was recorded of them.
        number: of a recorded row, as text.
    """
    rows = []
    for claim in paper.claims:
        if under := record.under(name, claim):
            drawn = record.verdict(name, claim)
            numbers = {reading: number(claim, row) for reading, row in under.items()}
            rows.append(_row(paper, claim, drawn, under, numbers))
    return [*HEAD, *rows] if rows else []


def _row(
    paper: Paper, claim: Claim, drawn: str, under: Mapping[str, Row], numbers: Mapping[str, str]
) -> str:
    marks = [
        dependence.Under(row["verdict"], tuple(other_readings.choices(paper, reading)))
        for reading, row in under.items()
    ]
    _, sentence = dependence.told(drawn, marks)
    others = "; ".join(
        f"`{reading}`: {row['verdict']}, {numbers[reading]}" for reading, row in under.items()
    )
    cells = (claim.id, claim.statement, drawn, others, sentence)
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
