"""Rule `claims`: every claim with its verdict, as drawn and under other interpretations."""

from pathlib import Path
from typing import Any

from grokatlas.errors import UserError
from grokatlas.results import files, layout
from grokatlas.results.manifest import ManifestWriter
from grokatlas.rules import interpretations
from grokatlas.rules.jobs.job_file import read_job_file
from grokatlas.rules.partial import CURRENT, EARLIER, at_hand, earlier, note_gaps, origin


def execute(job_file: Path, stem: Path, partial: bool = False) -> None:
    """Judge every claim.

    Args:
        job_file: the job's file.
        stem: where ``claims.csv`` and ``claims.interpretations.csv`` go, without suffix.
        partial: judge by the tables that are there, and leave out claims whose function fails;
            otherwise all have to be there, but for those of papers that are not selected.
    """
    import functools

    from grokatlas.claims import controls, judging
    from grokatlas.claims.interpretations import frame
    from grokatlas.declare import renaming

    job = read_job_file(job_file, "claims")
    scale, targets = job["spec"]["scale"], [Path(target) for target in job["inputs"]]
    ages = {target: at_hand("table", target) if partial else CURRENT for target in targets}
    ages |= earlier(job["spec"])
    there = [target for target in ages if ages[target]]
    writer = ManifestWriter(job, [layout.outputs("table", target)[0] for target in there])

    @functools.lru_cache(maxsize=8)  # figures of a paper share tables
    def read(target: Path) -> Any:
        return renaming.columns_today(files.read_parquet(layout.outputs("table", target)[0]))

    others = list(interpretations.Judge(job["spec"], ages, read).rows())
    under = {(row["paper"], row["id"], row["interpretation"]): row for row in others}
    rows, failed = [], []
    for paper, declared in job["spec"]["papers"].items():
        for claim in declared:
            stems = layout.table_stems(scale, paper, claim["read"])
            whole = scale in claim["scales"] and all(map(ages.get, stems.values()))
            tables = {name: read(target) for name, target in stems.items()} if whole else None
            try:
                row = judging.row(paper, claim, tables, scale)
                if scale == "paper":
                    row = controls.checked(paper, claim, row, tables, under)
            except UserError as error:
                if not partial and EARLIER not in map(ages.get, stems.values()):
                    raise
                row = judging.row(paper, claim, None, scale) | {"reason": str(error)}
                failed.append(f"{paper}/{claim['id']}")
            row["reason"] += f"; {claim['foreign']}" if "foreign" in claim else ""
            if whole:
                row |= origin(list(stems.values()), ages)
            rows.append(row)
    file, second = layout.outputs("claims", stem)
    files.write_csv(file, judging.frame(rows))
    files.write_csv(second, frame(others))
    layout.beside(stem, ".readings.csv").unlink(missing_ok=True)  # its name in version 0.2
    if partial:
        note_gaps(writer, ages, failed)
    writer.write(layout.manifest_of("claims", stem), [file, second])
