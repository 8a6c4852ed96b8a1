"""Rule `dataset`: the arrays of a task (of the task of each member, if they differ)."""

from pathlib import Path

from grokatlas.engine import dataset
from grokatlas.errors import UserError
from grokatlas.results import files, layout
from grokatlas.results.manifest import Recorder
from grokatlas.rules.job_file import first_line, read_job_file


def execute(job_file: Path, out: Path) -> None:
    """Make a data set.

    Args:
        job_file: of the data set.
        out: its folder.

    Raises:
        UserError: the task cannot be made of its keywords, or a file it needs is missing.
    """
    job = read_job_file(job_file, "dataset")
    recorder = Recorder(job, [])
    try:
        arrays, metadata = dataset.make(job["spec"]["tasks"]).arrays()
    except (ValueError, ImportError, OSError, MemoryError) as error:
        raise UserError(f"{job_file}: task", first_line(error)) from None
    (file,) = layout.outputs("dataset", out)
    files.write_arrays(file, arrays, metadata)
    recorder.write(layout.manifest_of("dataset", out), [file])
