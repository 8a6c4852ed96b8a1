"""The page of every interpretation: conclusions as rows of marks, and what they depend on."""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from grokatlas import text as words
from grokatlas.atlas import entries
from grokatlas.claims import dependence
from grokatlas.claims.interpretations import ABSENT, OTHER_SCALE, UNDEFINED

DRAWN = "as drawn"


@dataclass(frozen=True)
class Mark(entries.ClaimEntry):
    """A conclusion under an interpretation; its row has that of ``claims.interpretations.csv``.

    Attributes:
        interpretation: its key; `DRAWN` for the one that is drawn.
    """

    interpretation: str = DRAWN

    @property
    def same_as(self) -> tuple[str, str] | None:
        """The paper and the id of the claim that says the same of this interpretation."""
        name = self.row["same_as"]
        return (self.paper, name) if name else None

    @property
    def undefined(self) -> bool:
        """True if the conclusion has no meaning under it."""
        return self.row.get("state") == UNDEFINED

    @property
    def details(self) -> str:
        """Range and number of values."""
        return ", ".join(filter(None, (self.range, self.values if self.number else "")))

    @property
    def reason(self) -> str:
        """The reason in a few words, with the forecast of what was not run."""
        reason, seconds = self.row["reason"], self.row.get("forecast_seconds")
        if self.row.get("state") != ABSENT or not seconds:
            return reason
        return f"{reason}; forecast: up to {words.duration(float(seconds))} of one core"

    @property
    def title(self) -> str:
        """All of it in a line."""
        verdict = "cannot be judged" if self.undefined else self.verdict
        numbers = ", ".join(filter(None, (self.number, self.details)))
        place = words.plain(self.interpretation)
        return f"{place}: {verdict}{': ' * bool(numbers)}{numbers} ({self.reason})"


@dataclass(frozen=True)
class Row:
    """A conclusion: its claim, a mark for each interpretation of the table, and what it depends on.

    A mark is None where the conclusion reads nothing that is otherwise.
    """

    claim: entries.ClaimEntry
    marks: tuple[Mark | None, ...]
    kind: str
    sentence: str


@dataclass(frozen=True)
class Table:
    """The conclusions of a figure that other interpretations concern."""

    figure: entries.FigureEntry
    interpretations: tuple[str, ...]
    rows: tuple[Row, ...]

    @property
    def open(self) -> bool:
        """True if nothing of it was judged as drawn."""
        return all(row.kind == dependence.OPEN for row in self.rows)


@dataclass(frozen=True)
class Section:
    """A paper's tables, and how many conclusions (`elsewhere`) this scale does not judge."""

    paper: entries.PaperEntry
    interpretations: dict[str, dict[str, Any]]
    tables: tuple[Table, ...]
    elsewhere: int

    @property
    def rows(self) -> list[Row]:
        """The rows of all tables."""
        return [row for table in self.tables for row in table.rows]

    @property
    def counts(self) -> dict[str, int]:
        """The number of conclusions of each kind (`dependence.KINDS`)."""
        kinds = Counter(row.kind for row in self.rows)
        return {kind: kinds[kind] for kind in dependence.KINDS}


def sections(spec: dict[str, Any], papers: list[entries.PaperEntry]) -> list[Section]:
    """The papers that have other interpretations."""
    parts = []
    for paper in papers:
        interpretations = spec["papers"][paper.name].get("interpretations", {})
        if interpretations:
            rows = [row for row in paper.interpretations if row["state"] != OTHER_SCALE]
            tables = [_table(figure, interpretations, rows) for figure in paper.figures]
            shown = {row["id"] for row in rows}
            elsewhere = {row["id"] for row in paper.interpretations} - shown
            shown_tables = tuple(table for table in tables if table.rows)
            parts.append(Section(paper, interpretations, shown_tables, len(elsewhere)))
    return parts


def total(sections: list[Section]) -> dict[str, int]:
    """The number of conclusions of each kind, of all papers."""
    return {kind: sum(section.counts[kind] for section in sections) for kind in dependence.KINDS}


def example(sections: list[Section]) -> tuple[Section, Row] | None:
    """The first conclusion that depends on a choice, and its paper."""
    rows = ((section, row) for section in sections for row in section.rows)
    return next((pair for pair in rows if pair[1].kind == dependence.DEPENDS), None)


def in_words(counts: dict[str, int]) -> str:
    """The number of conclusions of each kind: ``3 hold under all; 1 depends on a choice``."""
    one = {
        **{kind: kind for kind in dependence.KINDS},
        dependence.ALONE: "was judged as drawn alone",
        dependence.OPEN: "was not judged as drawn",
    }
    plural = (("holds", "hold"), ("depends", "depend"), ("was", "were"))
    parts = []
    for kind, count in counts.items():
        text = one[kind]
        for singular, several in plural if count > 1 else ():
            text = re.sub(rf"^{singular}\b", several, text)
        parts += [f"{count} {text}"] * bool(count)
    return "; ".join(parts) or "none is judged at this scale"


def _table(
    figure: entries.FigureEntry,
    interpretations: dict[str, dict[str, Any]],
    judged: list[dict[str, str]],
) -> Table:
    ids = {claim.row["id"] for claim in figure.claims}
    used = {row["interpretation"] for row in judged if row["id"] in ids}
    columns = tuple(key for key in interpretations if key in used)
    by_key = {(row["id"], row["interpretation"]): row for row in judged}
    rows = []
    for claim in figure.claims:
        own = {key: by_key.get((claim.row["id"], key)) for key in columns}
        if any(own.values()):
            rows.append(_row(claim, own, interpretations))
    return Table(figure, columns, tuple(rows))


def _row(
    claim: entries.ClaimEntry,
    own: dict[str, dict[str, str] | None],
    interpretations: dict[str, dict[str, Any]],
) -> Row:
    marks = [Mark(claim.row | row, interpretation=key) if row else None for key, row in own.items()]
    under = [
        dependence.Under(
            mark.verdict, tuple(interpretations[mark.interpretation]["choices"]), mark.undefined
        )
        for mark in marks
        if mark
    ]
    kind, sentence = dependence.sentence(claim.verdict, under)
    return Row(claim, (Mark(claim.row | {"same_as": ""}), *marks), kind, sentence)


def marks(table: Table) -> Iterator[tuple[Row, Mark]]:
    """Every mark of a table with its row, for those who read no marks."""
    for row in table.rows:
        for mark in row.marks:
            if mark is not None:
                yield row, mark
