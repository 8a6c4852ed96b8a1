"""The studies of a checkout that recorded something, as the pages of its atlas show them."""

from pathlib import Path
from typing import Any

from grokatlas import registry
from grokatlas.declare.models import Paper
from grokatlas.declare.papers import load_papers
from grokatlas.errors import UserError
from grokatlas.results import csv_file, hashing
from grokatlas.results.layout import SCALES

PAGES = Path("docs/papers")  # of a study: the pages and pictures of its papers
RECORDED = Path("recorded")
STATED = {"id", "figure", "statement", "place", "source", "published", "unit", "why"}

Row = dict[str, str]


def folders(checkout: Path = Path()) -> list[Path]:
    """The studies of a checkout that recorded something; none of any other folder."""
    files = registry.own_files(checkout / registry.STUDIES, f"*/{registry.STUDY}")
    return [file.parent for file in files if (file.parent / RECORDED).is_dir()]


def files_read(checkout: Path = Path()) -> list[Path]:
    """The files of these studies that `shown` reads."""
    patterns = ("config/papers/**/*", f"{RECORDED}/*.csv", f"{PAGES}/*/*.png")
    return [
        file
        for folder in folders(checkout)
        for pattern in patterns
        for file in registry.own_files(folder, pattern)
    ]


def shown() -> dict[str, dict[str, Any]]:
    """The recorded results of each paper of these studies, by its name.

    ``source`` and ``folder``; ``figures`` with title, caption, origin and picture; ``claims`` as
    stated, and as they were judged at the largest scale that was run.

    Raises:
        UserError: two of these studies have a paper of one name.
    """
    papers: dict[str, dict[str, Any]] = {}
    for folder in folders():
        for name, paper in load_papers(folder / "config/papers", "all").items():
            if name in papers:
                problem = f"is a paper of {papers[name]['folder']} as well; rename one of the two"
                raise UserError((folder / "config/papers" / name).as_posix(), problem)
            papers[name] = {
                "source": paper.source.model_dump(mode="json"),
                "folder": folder.as_posix(),
                "figures": _figures(folder, name, paper),
                "claims": _claims(folder, name, paper),
            }
    return papers


def _figures(folder: Path, name: str, paper: Paper) -> list[dict[str, Any]]:
    figures = []
    for row in _rows(folder / RECORDED / "figures.csv", name):
        picture = folder / PAGES / name / f"{row['figure']}.png"
        entry = paper.figures.get(row["figure"])
        if entry and picture.is_file():
            about = {"title": entry.title or row["figure"], "caption": entry.caption}
            about |= {"picture": picture.as_posix(), "sha256": hashing.file_sha256(picture)}
            about["quick_note"] = (row["scale"] != SCALES[-1] and entry.quick_note) or ""
            blocks = [paper.experiments[each].import_ for each in entry.experiments]
            about["imported"] = "yes" if all(blocks) else ""
            figures.append(row | about)
    return figures


def _claims(folder: Path, name: str, paper: Paper) -> list[dict[str, Any]]:
    rows = {row["id"]: row for row in _rows(folder / RECORDED / "claims.csv", name)}
    stated = [claim.model_dump(mode="json", include=STATED) for claim in paper.claims]
    return [each | rows[each["id"]] for each in stated if each["id"] in rows]


def _rows(file: Path, paper: str) -> list[Row]:
    return [row for row in csv_file.read(file, "paper") if row["paper"] == paper]
