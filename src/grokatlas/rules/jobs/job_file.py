"""The start of every rule: its job file, and errors of components in one line."""

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from grokatlas.code import code_digest
from grokatlas.errors import UserError
from grokatlas.results import files
from grokatlas.rules.jobs import undeclared_reads


def read_job_file(job_file: Path, kind: str) -> dict[str, Any]:
    """A job file, if it is of this kind and the code here is the code it was planned with.

    From here on this process imports the text of that code, whatever becomes of its files.

    Raises:
        UserError: the file is missing, was edited or is of another kind, or the code changed since
            the plan was made: the manifest would name code that did not run.
    """
    if job_file.suffix != ".json":
        problem = "is no job file: these end in .json; give a spec.json of results"
        raise UserError(str(job_file), problem)
    job = files.read_sealed(job_file)
    if "outputs" in job or job.get("kind") != kind:
        what = "manifest" if "outputs" in job else f"job file of kind {job.get('kind')!r}"
        raise UserError(str(job_file), f"is a {what}; give a job file of kind {kind!r}")
    here = code_digest.pinned(list(job["code"]))
    named = code_digest.named_modules(job["kind"], job["spec"])
    same = code_digest.named_values(here, named) == code_digest.named_values(job["code"], named)
    if not same or code_digest.values(here) != code_digest.values(job["code"]):
        names = code_digest.changed(job["code"], here) or ["modules were moved"]
        problem = f"the code changed since it was planned ({', '.join(names)})"
        raise UserError(str(job_file), f"{problem}; run `snakemake` again")
    undeclared_reads.refuse(list(job["code"]))
    return job


@contextlib.contextmanager
def one_line_errors(job_file: Path, what: str) -> Iterator[None]:
    """Errors of components in one line, unless ``GROKATLAS_TRACEBACK`` asks for more."""
    from grokatlas.rules.jobs import component_errors

    try:
        yield
    except UserError:
        raise
    except (Exception, SystemExit) as error:
        text = component_errors.line(error, job_file)
        if text is None:
            raise
        problem = f"{what} failed: {text} {component_errors.MORE}"
        raise UserError(str(job_file), problem) from None
