"""Rule `table`: the tidy table of an experiment, with what light measures find in its runs."""

from pathlib import Path

from grokatlas.results import files, layout
from grokatlas.results.manifest import Recorder
from grokatlas.rules.finished_run import FinishedRun
from grokatlas.rules.job_file import one_line_errors, read_job_file
from grokatlas.rules.measure import measured


def execute(job_file: Path, stem: Path) -> None:
    """Join the table of an experiment."""
    from grokatlas.rules import split_table, tidy_table

    job = read_job_file(job_file, "table")
    cells, read = [], []
    for cell in job["spec"]["cells"]:
        history, _ = layout.outputs("run", layout.run_folder(cell["run"]))
        computed = {}
        for name in cell["measures"]:
            (file,) = layout.outputs("measure", layout.measure_stem(cell["run"], name))
            computed[name.rpartition("-")[0] or name] = file
        read += [history, *computed.values()]
        cells.append((cell, computed))
    recorder = Recorder(job, read)
    parts, names = [], []
    for cell, computed in cells:
        run = FinishedRun(layout.run_folder(cell["run"]))
        records = {"history": run.history}
        records |= {name: files.read_parquet(file) for name, file in computed.items()}
        for block in cell.get("light", []):
            with one_line_errors(job_file, f"{block['name']} of run {cell['run']}"):
                records[block["name"]] = measured(block, run)
        parts.append(tidy_table.cell_rows(cell, run.spec, records))
        names.append([*records])
    (file,) = layout.outputs("table", stem)
    rows = split_table.joined(job["spec"]["cells"], names, parts)
    files.write_parquet(file, tidy_table.join(rows, job["spec"]))
    recorder.write(layout.manifest_of("table", stem), [file])
