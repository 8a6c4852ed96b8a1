"""What the repository keeps of results: evidence, verdicts, and for each figure its origin.

The evidence of an experiment is an archive of its table (`grokatlas.export.evidence`). Beside the
archives, in ``recorded``, are two small tables, ``claims.csv`` and ``figures.csv``, which the pages
of papers repeat; a picture (or a table's text) of each figure is in the folder of its paper's
pages. In both, ``kept`` tells whether the archives hold what the row was made from: rows that were
recorded before there were archives have none.
"""

import csv
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from grokatlas import text
from grokatlas.claims.verdicts import NOT_RUN, tally
from grokatlas.errors import UserError, nearest
from grokatlas.export import evidence
from grokatlas.plan import remaining
from grokatlas.plan.jobs import Plan
from grokatlas.results import files, layout, revision
from grokatlas.results.layout import SCALES
from grokatlas.rules import atlas
from grokatlas.rules.partial import CURRENT, at_hand

FIGURES = "figures.csv"
CLAIMS = "claims.csv"
KEPT = "yes"
ORIGIN = (
    *("paper", "figure", "scale", "machine", "commit", "made", "runs", "train_seconds"),
    *("so_far", "kept"),
)
JUDGED = (
    *("paper", "id", "scale", "verdict", "reason", "expected_low", "expected_high"),
    *("value", "lowest", "highest", "count", "commit", "code", "kept"),
)

Row = dict[str, Any]


def take(scale: str, experiments: list[str], pages: Path) -> Iterator[str]:
    """Record what a scale's results hold: the evidence of experiments, pictures, verdicts.

    What was recorded at a larger scale stays. A figure or claim that the configuration no longer
    names is dropped.

    Args:
        scale: quick or paper.
        experiments: which to record, as ``paper/experiment``; every one that is made if empty.
        pages: the folder of the papers' pages.

    Yields:
        one line for each experiment, each figure, and the verdicts.

    Raises:
        UserError: this is no checkout, files of it differ from its commit, a result is damaged, or
            a named experiment cannot be recorded.
    """
    _refuse_dirty()
    job_file = atlas.atlas_job_file(scale)
    plan = remaining.at(scale).plan
    yield from _take_evidence(plan, experiments)
    atlas.from_what_is_there(job_file)
    yield from _take_figures(files.read_sealed(job_file)["spec"], pages)
    yield _take_claims(scale)


def state(scale: str | None = None) -> dict[str, str]:
    """What this checkout would make otherwise than it is recorded.

    Args:
        scale: of these alone.

    Returns:
        by ``scale/paper/experiment`` of every archive, why; empty where it would be the same.

    Raises:
        UserError: an archive is damaged, or the configuration has a mistake.
    """
    found, plans = {}, dict[str, Plan]()
    for at, paper, experiment in evidence.archives(scale):
        if at not in plans:
            plans[at] = remaining.at(at).plan
        problem = _why_otherwise(plans[at], at, paper, experiment)
        found[f"{at}/{paper}/{experiment}"] = problem
    return found


def _why_otherwise(plan: Plan, *place: str) -> str:
    """Why an archive's table, or its runs where it has none yet, would be made otherwise."""
    table = plan.tables.get((place[1], place[2]))
    if table is None:
        return "no paper declares it any more"
    declared = {job.target.as_posix(): job.digest for job in (table, *table.inputs)}
    made = evidence.manifests(*place, "table") or evidence.manifests(*place, "run")
    same = all(content["digest"] == declared.get(target) for target, content in made.items())
    return "" if same else "its code or its spec changed since"


def state_as_text(scale: str | None) -> Iterator[str]:
    """`state` as text, with the size of each archive, and a summary."""
    found = state(scale)
    sizes = {name: evidence.path(*name.split("/")).stat().st_size for name in found}
    for name, problem in found.items():
        yield f"{name}: {text.file_size(sizes[name])}, {problem or 'as this checkout makes it'}"
    otherwise = sum(map(bool, found.values()))
    total = text.file_size(sum(sizes.values()))
    yield f"{len(found)} experiments, {total}; {otherwise} would be made otherwise now"


def _refuse_dirty() -> None:
    git = revision.facts()["git"]
    if git is None or git["dirty"]:
        problem = "differs from its commit" if git else "is in no repository, or git does not work"
        raise UserError(
            "this checkout", f"{problem} ({', '.join(revision.SOURCES)}); commit, then record"
        )


def _take_evidence(plan: Plan, experiments: list[str]) -> Iterator[str]:
    """Write archives; what cannot be recorded is a line, or an error if it was asked for by name.

    Raises:
        UserError: for a named experiment.
    """
    declared = {f"{paper}/{experiment}": job for (paper, experiment), job in plan.tables.items()}
    for name in experiments:
        if name not in declared:
            raise UserError(name, f"is no experiment; {nearest(name, list(declared))}")
    for name in experiments or declared:
        try:
            yield from _take_experiment(plan, name, bool(experiments))
        except UserError as error:
            if experiments:
                raise
            yield f"{name}: not recorded: {error}"


def _take_experiment(plan: Plan, name: str, named: bool) -> Iterator[str]:
    """Write the archive of an experiment: of its table, or of its finished runs if there is none.

    Raises:
        UserError: the table or a run cannot be recorded; or nothing is made, if it was named.
    """
    paper, _, experiment = name.partition("/")
    job, place = plan.tables[paper, experiment], (plan.scale, paper, experiment)
    here, runs = plan.state(job), evidence.finished(job, plan.is_up_to_date)
    if here == "stale":
        problem = "was made by other code or of another spec than this checkout has"
        raise UserError(name, f"{problem}; run `snakemake`, or `grokatlas accept`")
    if here == "absent" and not runs:
        if named:
            raise UserError(name, f"is not made; run `snakemake -- {job.outputs[0]}`")
        return
    parts = [each.target for jobs in runs.values() for each in jobs]
    changed = evidence.write(place, parts if here == "absent" else [job.target])
    size = text.file_size(evidence.path(*place).stat().st_size)
    total = sum(each.kind == "run" for each in job.inputs)
    some = f" ({len(runs)} of {total} runs so far)" if here == "absent" else ""
    yield f"{name}: {size}{some}{'' if changed else ', as before'}"


def _take_figures(spec: Row, pages: Path) -> Iterator[str]:
    """Take the picture and the origin of every figure whose tables are all recorded."""
    scale = spec["scale"]
    figures = {(row["paper"], row["figure"]): row for row in read(evidence.FOLDER / FIGURES)}
    declared = {
        (name, key): layout.table_stems(scale, name, entry["experiments"])
        for name, paper in spec["papers"].items()
        for key, entry in paper["figures"].items()
    }
    for (name, figure), tables in declared.items():
        stem = layout.figure_stem(scale, name, figure)
        if not _newer(scale, figures.get((name, figure))) or not all(map(_kept, tables.values())):
            continue
        if at_hand("figure", stem) != CURRENT:
            yield f"{name}/{figure}: not drawn from these tables yet; run `snakemake`"
            continue
        kept = picture(pages, name, figure)
        kept.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(files.verified(stem.parent / kept.name), kept)
        row = {"paper": name, "figure": figure, "scale": scale, **origin(stem), "kept": KEPT}
        figures[name, figure] = row
        yield f"{name}/{figure}: {row['machine']}"
    _write(evidence.FOLDER / FIGURES, ORIGIN, [figures[key] for key in declared if key in figures])


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
    """Whether results of a scale replace what was recorded."""
    return not row or not row["scale"] or SCALES.index(scale) >= SCALES.index(row["scale"])


def _kept(table: Path) -> bool:
    """Whether the archives hold the table that is here."""
    scale, _, paper, experiment = table.parts[-4:]
    try:
        made = evidence.manifests(scale, paper, experiment, "table").get(table.as_posix())
        return made == files.read_sealed(layout.manifest_of("table", table))
    except UserError:
        return False


def _take_claims(scale: str) -> str:
    """Take the verdicts on every claim whose tables are all recorded."""
    kept = {(row["paper"], row["id"]): row for row in read(evidence.FOLDER / CLAIMS)}
    stem = layout.claims_stem(scale)
    spec = files.read_sealed(layout.spec_path("claims", stem))["spec"]
    tables = {
        (name, claim["id"]): layout.table_stems(scale, name, claim["experiments"]).values()
        for name, claims in spec["papers"].items()
        for claim in claims
    }
    rows, counted = [], []
    for row in read(files.verified(layout.outputs("claims", stem)[0])):
        key = row["paper"], row["id"]
        old = kept.get(key)
        recorded = _newer(scale, old) and all(map(_kept, tables[key]))
        if recorded and row["verdict"] != NOT_RUN:
            old = {name: row.get(name, "") for name in JUDGED} | {"scale": scale, "kept": KEPT}
        elif old is None or (recorded and not old["scale"]):
            if row["verdict"] != NOT_RUN:
                row |= dict.fromkeys(("value", "lowest", "highest", "commit", "code"), "")
                row |= {"count": "0", "reason": "its tables are not recorded"}
            unjudged = {"scale": "", "verdict": NOT_RUN, "kept": ""}
            old = {name: row.get(name, "") for name in JUDGED} | unjudged
        rows.append(old)
        counted += [] if row.get("same_as") else [old["verdict"]]
    _write(evidence.FOLDER / CLAIMS, JUDGED, rows)
    return tally(counted)


def _write(file: Path, columns: tuple[str, ...], rows: list[Row]) -> None:
    with files.atomic(file) as temporary, temporary.open("w", encoding="utf-8", newline="") as out:
        writer = csv.DictWriter(out, columns, restval="", lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
