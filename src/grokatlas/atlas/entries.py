"""A claim, a figure, a paper and a finding as the pages show them."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from grokatlas import text as words
from grokatlas.audit import explain
from grokatlas.claims import verdicts as judging
from grokatlas.claims.view import ClaimView


@dataclass(frozen=True)
class ClaimEntry(ClaimView):
    """A claim as the pages show it.

    Attributes:
        methods: of the runs behind its figure.
        of_tables: of how many values the tables that it reads are, if they leave out some.
        why: it is missed or partly met, a sentence by its cause.
    """

    methods: tuple[str, ...] = ()
    of_tables: str = ""
    why: dict[str, str] | None = None

    @property
    def paper(self) -> str:
        """Its paper's name."""
        return self.row["paper"]

    @property
    def earlier(self) -> bool:
        """True if earlier code made its tables."""
        return self.row["code"] == "earlier"

    @property
    def so_far(self) -> str:
        """The share of all values that its tables have, if it is judged and they leave out some."""
        return self.of_tables if self.verdict != judging.NOT_RUN else ""

    @property
    def same_as(self) -> tuple[str, str] | None:
        """The paper and the id of the claim that has the same judgement and is counted."""
        paper, _, name = self.row.get("same_as", "").partition("/")
        return (paper, name) if paper else None

    @property
    def because(self) -> str:
        """The reason why it is missed or partly met, with the cause; empty if it is neither."""
        return judging.because(self.verdict, self.why)

    @property
    def statement(self) -> tuple[str, ...]:
        """The key of all numbers on one statement: paper, figure, and id but for a letter."""
        return (self.paper, self.row["figure"], self.row["id"].rstrip("abcdefghijklmnopqrstuvwxyz"))

    @property
    def verdict(self) -> str:
        """One of `grokatlas.claims.verdicts.VERDICTS`."""
        return self.row["verdict"]


@dataclass(frozen=True)
class FigureEntry:
    """A figure or published table as it is shown.

    Attributes:
        paper: its paper's name.
        name: of its function.
        title: its number and what it shows.
        caption: of the configuration.
        plate: of a figure of this project's own: its question, prediction, answer and limits.
        stem: of its files, without suffix.
        age: ``current``, ``earlier``, or empty where it is absent.
        error: the last line of its log, if it is absent and has one.
        cells: of a published table: its title row, then its rows.
        methods: names of optimizers, penalties, gradients, updates, inputs and dynamics.
        data: names of its tasks.
        runs: how many runs and members it draws, where they trained and how long.
        mixed: how those behind it differ in software and device.
        diverged: how many of these members diverged; empty if none did.
        stopped: how many of them the watch stopped; empty if it stopped none.
        so_far: of how many values its tables are; empty if they leave out none.
        sizes: what differs from paper scale: name, here, published.
        command: rebuilds it.
        origin: the tree behind it, if it is there.
        specs: of its job, tables, measures and runs, by target.
        claims: on it.
    """

    paper: str
    name: str
    title: str
    caption: str
    plate: dict[str, str | None] | None
    stem: Path
    age: str
    error: str
    cells: list[list[str]]
    methods: tuple[str, ...]
    data: tuple[str, ...]
    runs: str
    mixed: list[str]
    diverged: str
    stopped: str
    so_far: str
    sizes: list[tuple[str, str, str]]
    command: str
    origin: explain.Node | None
    specs: dict[str, Any] = field(repr=False)
    claims: tuple[ClaimEntry, ...] = ()

    @property
    def id(self) -> str:
        """The start of its files' names in the folder of pages."""
        return f"{self.paper}-{self.name}"


@dataclass(frozen=True)
class _Titled:
    """A work with claims: its name, and its source as the configuration has it."""

    name: str
    source: dict[str, Any]
    claims: list[ClaimEntry]

    @property
    def short(self) -> str:
        """Its title in a menu."""
        return self.source.get("short") or words.plain(self.name)

    @property
    def own_claims(self) -> list[ClaimEntry]:
        """The claims that no other paper counts."""
        return [claim for claim in self.claims if claim.same_as is None]

    @property
    def verdicts(self) -> dict[str, int]:
        """The number of its own claims with each verdict."""
        return counted(self.own_claims)


@dataclass(frozen=True)
class PaperEntry(_Titled):
    """A paper as its page shows it: `source` and `deviations` as the configuration has them.

    A deviation also has `effects`: its claims as they are shown. `interpretations` are the paper's
    rows of ``claims.interpretations.csv`` as text.
    """

    deviations: list[dict[str, Any]]
    figures: list[FigureEntry]
    interpretations: list[dict[str, str]] = field(default_factory=list)

    @property
    def cover(self) -> FigureEntry | None:
        """Its first figure that is drawn."""
        return next((figure for figure in self.figures if figure.age and not figure.cells), None)


@dataclass(frozen=True)
class StudyEntry(_Titled):
    """A paper of a study of the checkout, from what the study recorded at its largest scale.

    Attributes:
        folder: of the study.
        figures: the recorded ones, each with title, caption, picture and where it was made.
    """

    folder: str
    figures: list[dict[str, str]]


def studies(spec: dict[str, Any]) -> list[StudyEntry]:
    """The studies of a job's spec; none of a folder that has none."""
    return [
        StudyEntry(
            *(name, each["source"]),
            [ClaimEntry(row | {"code": ""}, why=row["why"]) for row in each["claims"]],
            *(each["folder"], each["figures"]),
        )
        for name, each in spec.get("studies", {}).items()
    ]


def counted(claims: list[ClaimEntry]) -> dict[str, int]:
    """The number of claims with each verdict."""
    listed = [claim.verdict for claim in claims]
    return {verdict: listed.count(verdict) for verdict in judging.VERDICTS}


def grouped(claims: list[ClaimEntry], by: str = "statement") -> list[list[ClaimEntry]]:
    """Claims that agree in an attribute, in the order in which each value is first there."""
    groups: dict[Any, list[ClaimEntry]] = {}
    for claim in claims:
        groups.setdefault(getattr(claim, by), []).append(claim)
    return list(groups.values())


def findings(spec: dict[str, Any], papers: list[PaperEntry]) -> list[dict[str, Any]]:
    """The declared findings by number, with their figure and claims as they are shown here."""
    claims = {f"{claim.paper}/{claim.row['id']}": claim for each in papers for claim in each.claims}
    figures = {(figure.paper, figure.name): figure for each in papers for figure in each.figures}
    blocks = [
        each
        | {"shown": figures[paper.name, each["figure"]]}
        | {"made_of": [claims[name] for name in each["claims"] if name in claims]}
        for paper in papers
        for each in spec["papers"][paper.name].get("findings", [])
    ]
    return sorted(blocks, key=lambda each: int(each["number"]))
