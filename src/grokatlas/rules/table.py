"""Rule `table`: the tidy table of an experiment, with what light measures find in its runs."""

from pathlib import Path
from typing import Any

from grokatlas.results import files, layout
from grokatlas.results.manifest import ManifestWriter
from grokatlas.rules.finished_run import FinishedRun
from grokatlas.rules.jobs.job_file import one_line_errors, read_job_file
from grokatlas.rules.measure import measured


def execute(job_file: Path, stem: Path) -> None:
    """Join the table of an experiment."""
    job = read_job_file(job_file, "table")
    read = []
    for cell in job["spec"]["cells"]:
        history, _ = layout.outputs("run", layout.run_folder(cell["run"]))
        read += [history, *_computed(cell).values()]
    writer = ManifestWriter(job, read)
    (file,) = layout.outputs("table", stem)
    files.write_parquet(file, joined(job["spec"], job_file))
    writer.write(layout.manifest_of("table", stem), [file])


def joined(spec: dict[str, Any], job_file: Path) -> Any:
    """The table of an experiment from its finished runs and measures, as a data frame."""
    from grokatlas.rules import split_table, tidy_table

    parts, names = [], []
    for cell in spec["cells"]:
        run = FinishedRun(layout.run_folder(cell["run"]))
        records = {"history": run.history}
        records |= {name: files.read_parquet(file) for name, file in _computed(cell).items()}
        for block in cell.get("light", []):
            with one_line_errors(job_file, f"{block['name']} of run {cell['run']}"):
                records[block["name"]] = measured(block, run)
        parts.append(tidy_table.cell_rows(cell, run.spec, records))
        names.append([*records])
    rows = split_table.joined(spec["cells"], names, parts)
    return tidy_table.join(rows, spec)


def _computed(cell: dict[str, Any]) -> dict[str, Path]:
    """The files of a cell's measures, by name."""
    found = {}
    for name in cell["measures"]:
        (file,) = layout.outputs("measure", layout.measure_stem(cell["run"], name))
        found[name.rpartition("-")[0] or name] = file
    return found
