"""The results in the repository: evidence, verdicts, and for each figure its origin.

The evidence of an experiment is an archive of its table (`grokatlas.export.evidence`). Beside the
archives, in ``recorded``, are small tables, ``figures.csv``, ``claims.csv`` and
``claims.interpretations.csv``, which the pages of papers repeat; a picture (or a table's text) of
each figure is in the folder of its paper's pages. In all, ``kept`` tells whether the archives hold
what the row was made from: rows that were recorded before there were archives have none.
"""

import csv
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from grokatlas import text
from grokatlas.claims.interpretations import UNDEFINED
from grokatlas.claims.verdicts import NOT_RUN, tally
from grokatlas.errors import UserError
from grokatlas.export import evidence
from grokatlas.plan.jobs import Plan
from grokatlas.publish import experiments, groks
from grokatlas.results import csv_file, files, freshness, layout, revision
from grokatlas.results.layout import SCALES
from grokatlas.rules import atlas

FIGURES = "figures.csv"
CLAIMS = "claims.csv"
INTERPRETATIONS = "claims.interpretations.csv"  # claims under other interpretations of their paper
KEPT = "yes"
ORIGIN = (
    *("paper", "figure", "scale", "machine", "commit", "made", "runs", "train_seconds"),
    *("so_far", "kept"),
)
JUDGED = (
    *("paper", "id", "scale", "verdict", "reason", "expected_low", "expected_high"),
    *("value", "lowest", "highest", "count", "commit", "code", "kept"),
)
CONTROL = ("control", "control_value", "control_verdict")
OTHERWISE = ("paper", "id", "interpretation", *JUDGED[2:])
INTERVAL = ("expected_low", "expected_high")
# by which rows of groks.csv are sorted, whichever scale is recorded last
GROKS_ORDER = ("scale", "paper", "experiment", "setting")

Row = dict[str, Any]


def take(scale: str, names: list[str], pages: Path) -> Iterator[str]:
    """Record the results of a scale: the evidence of experiments, pictures, verdicts.

    What was recorded at a larger scale stays. A figure or claim that the configuration no longer
    names is dropped.

    Args:
        scale: smoke, quick or paper.
        names: the experiments to record, as ``paper/experiment``, with the figures and claims that
            read their tables; every one that is made if empty.
        pages: the folder of the papers' pages.
    """
    _refuse_dirty()
    job_file = atlas.atlas_job_file(scale)
    spec = files.read_sealed(job_file)["spec"]
    plan, changed = experiments.plan_of_all(scale), set[Path]()
    if missing := {paper for paper, _ in plan.figures} - set(spec["papers"]):
        problem = f"leaves out {', '.join(sorted(missing))}, whose records would be dropped"
        raise UserError("config.yaml: papers", f"{problem}; write all")
    yield from experiments.record(plan, names, changed)
    atlas.from_what_is_there(job_file)
    rows = Rows(
        plan, {plan.tables[layout.owner_of_table("", name)].target for name in names}, changed
    )
    yield from rows.take_figures(pages)
    yield rows.take_claims()
    rows.take_groks()


class Rows:
    """The rows of figures and claims that a scale's results renew.

    Args:
        plan: of every paper at the scale.
        chosen: the tables whose figures and claims are taken; all if empty.
        changed: the tables whose archives are others now: what was told of them before is no longer
            vouched for.
    """

    def __init__(self, plan: Plan, chosen: set[Path], changed: set[Path]) -> None:
        self.plan = plan
        self.scale = plan.scale
        self.chosen = chosen
        self.changed = changed
        self._holdings: dict[Path, bool] = {}

    def take_figures(self, pages: Path) -> Iterator[str]:
        """Take the picture and the origin of every figure whose tables are all recorded."""
        rows = {
            (row["paper"], row["figure"]): row
            for row in csv_file.read(evidence.FOLDER / FIGURES, "paper", "figure", "scale")
        }
        for (name, figure), job in self.plan.figures.items():
            key, tables = (name, figure), {table.target for table in job.inputs}
            if not self._takes(rows.get(key), tables):
                self._doubt(rows.get(key), tables)
                continue
            if not self.plan.is_up_to_date(job):
                self._doubt(rows.get(key), tables)
                yield f"{name}/{figure}: not drawn from these tables yet; run `snakemake`"
                continue
            kept_picture = picture(pages, name, figure)
            kept_picture.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(files.verified(job.target.parent / kept_picture.name), kept_picture)
            row = {"paper": name, "figure": figure, "scale": self.scale, **origin(job.target)}
            rows[key] = row | {"kept": KEPT}
            yield f"{name}/{figure}: {row['machine']}"
        declared = [rows[key] for key in self.plan.figures if key in rows]
        _write(evidence.FOLDER / FIGURES, ORIGIN, declared)

    def take_claims(self) -> str:
        """Take the verdicts on every claim whose tables are all recorded."""
        stem = layout.claims_stem(self.scale)
        spec = files.read_sealed(layout.spec_path("claims", stem))["spec"]
        judged, otherwise = map(csv_file.read, map(files.verified, layout.outputs("claims", stem)))
        tables = {
            (name, claim["id"]): self._stems(name, claim["read"])
            for name, claims in spec["papers"].items()
            for claim in claims
        }
        rows = self._all_renewed(CLAIMS, (*JUDGED, *CONTROL), judged, tables)
        own = {(row["paper"], row["id"]): row for row in judged}
        for row in otherwise:
            row |= {key: own[row["paper"], row["id"]][key] for key in INTERVAL}
        under = {
            (name, each["claim"], each["interpretation"]): tables[
                name, each["same_as"] or each["claim"]
            ]
            | self._stems(name, [entry["table"] for entry in each["instead"].values()])
            for name, listed in spec.get("interpretations", {}).items()
            for each in listed
        }
        self._all_renewed(INTERPRETATIONS, OTHERWISE, otherwise, under)
        pairs = zip(rows, judged, strict=True)
        counted = [(row["verdict"], made) for row, made in pairs if not made.get("same_as")]
        later = [verdict for verdict, made in counted if made.get("afterwards")]
        return tally([verdict for verdict, _ in counted], later)

    def take_groks(self) -> None:
        """Take how long the settings of every recorded table that is here take to grok."""
        tables = {job.target: pair for pair, job in self.plan.tables.items()}
        held = {target for target in tables if self._holds(target)}
        renewed = {(self.scale, *tables[target]) for target in held}
        others = [
            row
            for row in csv_file.read(evidence.FOLDER / groks.FILE, *GROKS_ORDER)
            if (row["scale"], row["paper"], row["experiment"]) not in renewed
        ]
        rows = [*others, *groks.of_plan(self.plan, held)]
        rows.sort(key=lambda row: tuple(row[name] for name in GROKS_ORDER))
        _write(evidence.FOLDER / groks.FILE, groks.COLUMNS, rows)

    def _stems(self, paper: str, experiments: list[str]) -> set[Path]:
        return set(layout.table_stems(self.scale, paper, experiments).values())

    def _all_renewed(
        self,
        name: str,
        columns: tuple[str, ...],
        verdicts: list[Row],
        tables: Mapping[Any, set[Path]],
    ) -> list[Row]:
        """Renew and write a table of verdicts; of interpretations, what was judged alone.

        What has no meaning under its interpretation loses the verdict that it had. The columns
        before ``scale`` name a row; `tables` has what each row is made of.
        """
        names = columns[: columns.index("scale")]
        old = {
            tuple(row[key] for key in names): row
            for row in csv_file.read(evidence.FOLDER / name, *names, "scale", "verdict")
        }
        rows = []
        for row in verdicts:
            if row.get("state") == UNDEFINED:
                continue
            key = tuple(row[key] for key in names)
            renewed = self._renewed(row, old.get(key), tables[key])
            rows.append({column: renewed.get(column, "") for column in columns})
        if name == INTERPRETATIONS:
            rows = [row for row in rows if row["verdict"] != NOT_RUN]
        _write(evidence.FOLDER / name, columns, rows)
        return rows

    def _renewed(self, row: Row, old: Row | None, tables: set[Path]) -> Row:
        """The row of a claim that is to be kept: a new verdict, or what was known of it."""
        taken = self._takes(old, tables)
        if taken and row["verdict"] != NOT_RUN:
            return row | {"scale": self.scale, "kept": KEPT}
        if old is not None and not (taken and not old["scale"]):
            self._doubt(old, tables)
            return old
        if row["verdict"] != NOT_RUN:
            row |= dict.fromkeys(("value", "lowest", "highest", "commit", "code", *CONTROL), "")
            row |= {"count": "0", "reason": "its tables are not recorded"}
        return row | {"scale": "", "verdict": NOT_RUN, "kept": ""}

    def _takes(self, old: Row | None, tables: set[Path]) -> bool:
        """True if what was made of some tables is recorded now."""
        if self.chosen and not self.chosen & tables:
            return False
        return _newer(self.scale, old) and all(map(self._holds, tables))

    def _holds(self, table: Path) -> bool:
        """True if the archives hold the table that is here."""
        if table not in self._holdings:
            scale, _, paper, experiment = table.parts[-4:]
            recorded = evidence.path(scale, paper, experiment).is_file()
            manifests = evidence.manifests(scale, paper, experiment, "table") if recorded else {}
            here = freshness.manifest_or_none(layout.manifest_of("table", table))
            self._holdings[table] = here is not None and manifests.get(table.as_posix()) == here
        return self._holdings[table]

    def _doubt(self, row: Row | None, tables: set[Path]) -> None:
        """Mark a row whose archives are others now."""
        if row is not None and row["scale"] == self.scale and self.changed & tables:
            row["kept"] = ""


def _refuse_dirty() -> None:
    git = revision.facts()["git"]
    if git is None or git["dirty"]:
        problem = "differs from its commit" if git else "is in no repository, or git does not work"
        raise UserError("this checkout", f"{problem} (src, {revision.PAPERS}); commit, then record")


def picture(pages: Path, name: str, figure: str) -> Path:
    """The path of a figure's picture, or a published table's text, beside the pages."""
    outputs = layout.outputs("figure", pages / name / figure)
    return outputs[0 if layout.is_published_table(figure) else 1]


def origin(stem: Path) -> Row:
    """Machines, commits, date, number of runs, their wall time and what is left out of a figure."""
    manifest = files.read_sealed(layout.manifest_of("figure", stem))
    runs: dict[str, Row] = {}
    for experiment in manifest["spec"]["experiments"]:
        table = layout.table_stem(manifest["spec"]["scale"], manifest["spec"]["paper"], experiment)
        for cell in files.read_sealed(layout.manifest_of("table", table))["spec"]["cells"]:
            run = layout.run_folder(cell["run"])
            runs[cell["run"]] = files.read_sealed(layout.manifest_of("run", run))
    known = list(runs.values())
    return {
        "machine": "; ".join(sorted({text.machine(run) for run in known})),
        "commit": ", ".join(
            sorted({(run.get("git") or {}).get("commit", "")[:12] for run in known})
        ),
        "made": max((run["started"][:10] for run in known), default=manifest["started"][:10]),
        "runs": len(runs),
        "train_seconds": round(sum(run.get("train_seconds", 0.0) for run in known)),
        "so_far": manifest["spec"].get("so_far", ""),
    }


def _newer(scale: str, row: Row | None) -> bool:
    """True if results of a scale replace what was recorded."""
    return not row or not row["scale"] or SCALES.index(scale) >= SCALES.index(row["scale"])


def _write(file: Path, columns: tuple[str, ...], rows: list[Row]) -> None:
    with files.atomic(file) as temporary, temporary.open("w", encoding="utf-8", newline="") as out:
        writer = csv.DictWriter(out, columns, restval="", lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
