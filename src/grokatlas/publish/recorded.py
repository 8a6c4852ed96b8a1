"""What docs keep of results: verdicts, and for each figure its scale, machine and commit.

Two small tables, ``claims.csv`` and ``figures.csv``, are beside the pages that `pages.py` makes
from them, with a picture (or a table's text) of each figure in the folder of its paper.
"""

import csv
import shutil
from pathlib import Path
from typing import Any

from grokatlas import text
from grokatlas.claims.verdicts import NOT_RUN, tally
from grokatlas.errors import UserError
from grokatlas.results import files, layout
from grokatlas.results.layout import SCALES
from grokatlas.rules import atlas
from grokatlas.rules.partial import at_hand

FIGURES = "figures.csv"
CLAIMS = "claims.csv"
ORIGIN = (
    *("paper", "figure", "scale", "machine", "commit", "made", "runs", "train_seconds"),
    "so_far",
)
JUDGED = (
    *("paper", "id", "scale", "verdict", "reason", "expected_low", "expected_high"),
    *("value", "lowest", "highest", "count", "commit", "code"),
)

Row = dict[str, Any]


def take(scale: str, pages: Path) -> list[str]:
    """Take the figures and verdicts of a scale's results into the pages' folder.

    What was recorded at a larger scale stays. A figure or claim that the configuration no longer
    names is dropped.

    Args:
        scale: whose claims and atlas are written first, from the results that are here.
        pages: the folder of the papers' pages.

    Returns:
        one line for each figure and for the verdicts.

    Raises:
        UserError: this is no checkout, or a result is damaged.
    """
    job_file = atlas.atlas_job_file(scale)
    atlas.from_what_is_there(job_file)
    spec = files.read_sealed(job_file)["spec"]
    told = []
    figures = {(row["paper"], row["figure"]): row for row in read(pages / FIGURES)}
    declared = [(name, key) for name, paper in spec["papers"].items() for key in paper["figures"]]
    for name, figure in declared:
        stem = layout.figure_stem(scale, name, figure)
        if not _newer(scale, figures.get((name, figure))) or not at_hand("figure", stem):
            continue
        kept = picture(pages, name, figure)
        kept.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(files.verified(stem.parent / kept.name), kept)
        figures[name, figure] = {"paper": name, "figure": figure, "scale": scale, **origin(stem)}
        told.append(f"{name}/{figure}: {figures[name, figure]['machine']}")
    _write(pages / FIGURES, ORIGIN, [figures[key] for key in declared if key in figures])
    told.append(_take_claims(scale, pages))
    return told


def picture(pages: Path, name: str, figure: str) -> Path:
    """Where a figure's picture, or a published table's text, is kept beside the pages."""
    made = layout.outputs("figure", pages / name / figure)
    return made[0 if layout.is_published_table(figure) else 1]


def read(file: Path) -> list[Row]:
    """The rows of one of the two tables, as text; none where there is no file."""
    try:
        with file.open(encoding="utf-8", newline="") as stream:
            return list(csv.DictReader(stream))
    except FileNotFoundError:
        return []


def origin(stem: Path) -> Row:
    """Machines, commits, date, number of runs, their wall time and what is left out of a figure."""
    manifest = files.read_sealed(layout.manifest_of("figure", stem))
    runs: dict[str, Row | None] = {}
    for experiment in manifest["spec"]["experiments"]:
        table = layout.table_stem(manifest["spec"]["scale"], manifest["spec"]["paper"], experiment)
        for cell in files.read_sealed(layout.manifest_of("table", table))["spec"]["cells"]:
            try:
                found = files.read_sealed(layout.manifest_of("run", layout.run_folder(cell["run"])))
            except UserError:
                found = None  # a tables-only tree has no runs
            runs[cell["run"]] = found
    known = [run for run in runs.values() if run]
    return {
        "machine": "; ".join(sorted({text.machine(run) for run in known})),
        "commit": ", ".join(
            sorted({(run.get("git") or {}).get("commit", "")[:12] for run in known})
        ),
        "made": manifest["started"][:10],
        "runs": len(runs),
        "train_seconds": round(sum(run.get("train_seconds", 0.0) for run in known)),
        "so_far": manifest["spec"].get("so_far", ""),
    }


def _newer(scale: str, row: Row | None) -> bool:
    """Whether results of a scale replace what was recorded."""
    return not row or not row["scale"] or SCALES.index(scale) >= SCALES.index(row["scale"])


def _take_claims(scale: str, pages: Path) -> str:
    kept = {(row["paper"], row["id"]): row for row in read(pages / CLAIMS)}
    rows, counted = [], []
    (file,) = layout.outputs("claims", layout.claims_stem(scale))
    for row in read(files.verified(file)):
        old = kept.get((row["paper"], row["id"]))
        judged = row["verdict"] != NOT_RUN and _newer(scale, old)
        if judged or old is None or not old["scale"]:
            old = {key: row.get(key, "") for key in JUDGED} | {"scale": scale if judged else ""}
        rows.append(old)
        counted += [] if row.get("same_as") else [old["verdict"]]
    _write(pages / CLAIMS, JUDGED, rows)
    return tally(counted)


def _write(file: Path, columns: tuple[str, ...], rows: list[Row]) -> None:
    with files.atomic(file) as temporary, temporary.open("w", encoding="utf-8", newline="") as out:
        writer = csv.DictWriter(out, columns, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
