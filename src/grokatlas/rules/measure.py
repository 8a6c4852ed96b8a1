"""Rule `measure`: one measure of one run."""

import os
from pathlib import Path
from typing import Any

from grokatlas import registry
from grokatlas.engine import members
from grokatlas.errors import UserError, shown
from grokatlas.results import files, layout
from grokatlas.results.foreign import OF_TABLES
from grokatlas.results.manifest import ManifestWriter
from grokatlas.rules.finished_run import FinishedRun
from grokatlas.rules.jobs import first_import
from grokatlas.rules.jobs.job_file import one_line_errors, read_job_file


def execute(job_file: Path, stem: Path) -> None:
    """Compute a measure."""
    from grokatlas.plan import resources
    from grokatlas.results import gpu_leases

    job = read_job_file(job_file, "measure")
    if resources.uses_gpu("measure", job["spec"]) and os.environ.get("GROKATLAS_DEVICE") != "cpu":
        gpu_leases.take()
    run, data = (Path(folder) for folder in job["inputs"])
    writer = ManifestWriter(job, [*layout.outputs("run", run), *layout.outputs("dataset", data)])
    (file,) = layout.outputs("measure", stem)
    block = job["spec"]["measure"]
    with one_line_errors(job_file, block["name"]):
        files.write_parquet(file, measured(block, FinishedRun(run, data)))
    writer.write(layout.manifest_of("measure", stem), [file])


def measured(block: dict[str, Any], run: FinishedRun) -> Any:
    """A measure of a run, as a data frame.

    Raises:
        UserError: the measure returns something else, columns that its table cannot have, or rows
            of other members than the run's.
    """
    import pandas as pd

    keywords = registry.keywords(block)
    first_import.of_libraries(registry.path("measures", block["name"]))
    rows = registry.load("measures", block["name"]).build(**keywords)(run)
    where = registry.shown_component("measures", block["name"])
    if not isinstance(rows, pd.DataFrame):
        problem = f"returns {type(rows).__name__}; return a DataFrame, one row for each member"
        raise UserError(where, problem)
    if "member" not in rows:
        raise UserError(where, "returns no column member, which says whose a row is; add it")
    of_tables = {*OF_TABLES, *members.paths(run.spec)}
    if taken := sorted({*rows} & of_tables):
        raise UserError(where, f"returns a column {taken[0]}, which every table has; rename it")
    number = len(members.of(run.spec))
    others = [each for each in rows["member"].tolist() if each not in range(number)]
    if others:
        problem = f"returns a row of member {shown(others[0])}"
        raise UserError(where, f"{problem}, and the run has members 0 to {number - 1}")
    return rows
