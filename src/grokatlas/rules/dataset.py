"""Rule `dataset`: the arrays of a task (of the task of each member, if they differ)."""

from pathlib import Path

from grokatlas.errors import UserError
from grokatlas.results import files, layout
from grokatlas.results.manifest import ManifestWriter
from grokatlas.rules.jobs import component_contracts, component_errors
from grokatlas.rules.jobs.job_file import read_job_file


def execute(job_file: Path, out: Path) -> None:
    """Make a data set."""
    job = read_job_file(job_file, "dataset")
    writer = ManifestWriter(job, [])
    try:
        arrays, metadata = component_contracts.data(job["spec"]["tasks"]).arrays()
    except UserError as error:
        raise UserError(f"{job_file}: {error.place}", error.problem) from None
    except Exception as error:
        text = component_errors.line(error)
        if text is None:
            raise
        raise UserError(f"{job_file}: task", text) from None
    (file,) = layout.outputs("dataset", out)
    files.write_arrays(file, arrays, metadata)
    writer.write(layout.manifest_of("dataset", out), [file])
