"""A commit as a side of a comparison: its pictures, its verdicts and its recorded tables."""

import csv
import io
import zipfile
from collections.abc import Callable
from functools import partial
from pathlib import Path, PurePosixPath

from grokatlas.claims.verdicts import NOT_RUN
from grokatlas.declare import claim_models, models, versions
from grokatlas.declare.papers import load_papers
from grokatlas.errors import UserError
from grokatlas.export import evidence
from grokatlas.publish import recorded
from grokatlas.publish.compare.commit import Commit
from grokatlas.publish.compare.sides import Drawn, Judged, Row, Side
from grokatlas.results import layout

PAGES = "docs/papers"
PAPERS = "config/papers"
WORDED = {
    recorded.FIGURES: ("paper", "figure", "scale"),
    recorded.CLAIMS: ("paper", "id", "scale", "verdict", "reason"),
}
COUNTED = ("expected_low", "expected_high", "value", "lowest", "highest", "count")


def read(label: str, scratch: Path) -> Side:
    """Figures and claims that a commit holds.

    Args:
        label: a name that git resolves to a commit.
        scratch: an empty folder, for files that are taken out of the commit.
    """
    contents = _Contents(label, scratch)
    return Side(
        label=label,
        about=f"commit {contents.commit.title}",
        identity=contents.commit.sha,
        notes=contents.notes,
        figures=contents.figures(),
        claims=contents.claims(),
    )


class _Contents:
    """The files of a commit that a comparison reads, and its papers."""

    def __init__(self, label: str, scratch: Path) -> None:
        self.commit = Commit(label)
        self.notes: list[str] = []
        self._label = label
        self._scratch = scratch
        self._files = self.commit.files(PAGES, PAPERS, evidence.FOLDER.as_posix())
        self._papers = self._declared()

    def figures(self) -> list[Drawn]:
        """Every picture, and every published table's text, in the folders of pages."""
        rows = {(row["paper"], row["figure"]): row for row in self._rows(recorded.FIGURES)}
        drawn = []
        for path in self._files:
            file = PurePosixPath(path)
            key = file.parent.name, file.stem
            if path == recorded.picture(Path(PAGES), *key).as_posix():
                drawn.append(self._figure(path, key, rows.get(key, {})))
        return drawn

    def claims(self) -> list[Judged]:
        """The recorded rows of declared claims; one that another paper counts is left out."""
        rows = {(row["paper"], row["id"]): row for row in self._rows(recorded.CLAIMS)}
        if not self._papers:
            return [Judged(row) for row in rows.values()]
        return [
            Judged(_declared_row(claim, name, rows.get((name, claim.id))))
            for name, paper in self._papers.items()
            for claim in paper.claims
            if not versions.same_claim(self._papers, name, claim)
        ]

    def _rows(self, name: str) -> list[Row]:
        file = f"{evidence.FOLDER}/{name}"
        contents = self._files.get(file)
        text = self.commit.read(contents).decode("utf-8", "replace") if contents else ""
        rows = list(csv.DictReader(io.StringIO(text, newline="")))
        for number, row in enumerate(rows, 2):
            absent = [column for column in WORDED[name] if row.get(column) is None]
            problem = f"has no column {absent[0]}" if absent else ""
            try:
                Judged(row).numbers(*COUNTED)
            except ValueError as error:
                problem = f"has no number where one is expected: {error}"
            if problem:
                raise UserError(f"{self._label}: {file}", f"row {number} {problem}")
        return rows

    def _declared(self) -> dict[str, models.Paper]:
        """The papers as the commit declares them; none where this version cannot read them."""
        declared = {path: c for path, c in self._files.items() if path.startswith(f"{PAPERS}/")}
        for path, contents in declared.items():
            file = self._scratch / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(self.commit.read(contents))
        try:
            return load_papers(self._scratch / PAPERS, "all") if declared else {}
        except UserError as error:
            self.notes.append(f"the configuration of {self._label} is not read: {error}")
            return {}

    def _figure(self, path: str, key: tuple[str, str], row: Row) -> Drawn:
        paper, name = key
        entry = self._papers[paper].figures.get(name) if paper in self._papers else None
        version = self._files[path]
        return Drawn(
            key=key,
            scale=row.get("scale", ""),
            so_far=row.get("so_far", ""),
            path=path,
            version=version,
            read=partial(self.commit.read, version),
            numbers=self._tables(row["scale"], paper, entry.experiments) if row and entry else {},
        )

    def _tables(
        self, scale: str, paper: str, experiments: list[str]
    ) -> dict[str, tuple[str, Callable[[], Path]]]:
        """The recorded tables of a figure; see `Drawn.numbers`."""
        tables: dict[str, tuple[str, Callable[[], Path]]] = {}
        for experiment in experiments:
            owner = layout.owner_of_table(paper, experiment)
            archive = evidence.path(scale, *owner).as_posix()
            if archive in self._files:
                table = layout.table_stem(scale, paper, experiment).as_posix() + ".parquet"
                take = partial(self._unpacked, archive, table)
                tables[f"table {owner[1]}"] = (self._files[archive], take)
        return tables

    def _unpacked(self, archive: str, table: str) -> Path:
        """A table out of its archive."""
        content = io.BytesIO(self.commit.read(self._files[archive]))
        try:
            with zipfile.ZipFile(content) as opened:
                return Path(opened.extract(table, self._scratch))
        except (zipfile.BadZipFile, KeyError, OSError):
            problem = f"holds no {table}, or is damaged"
            raise UserError(f"{self._label}: {archive}", problem) from None


def _declared_row(claim: claim_models.Claim, paper: str, row: Row | None) -> Row:
    """A claim's recorded row with what is declared of it.

    One whose interval was changed since it was judged counts as not judged, as on the pages.
    """
    low, high = ("" if each is None else repr(float(each)) for each in claim.expected)
    declared = {
        "statement": claim.statement,
        "published": claim.published,
        "unit": claim.unit,
        "expected_low": low,
        "expected_high": high,
    }
    unjudged = {"paper": paper, "id": claim.id, "verdict": NOT_RUN, "reason": "", "scale": ""}
    if row is None:
        return unjudged | declared
    if list(Judged(row).numbers("expected_low", "expected_high")) != claim.expected:
        return unjudged | declared | {"reason": "its interval was changed since it was judged"}
    return row | declared
