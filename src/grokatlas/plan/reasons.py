"""The reason why a result is made again, in a few words: Snakemake shows them in a dry run.

Snakemake gives the path of a changed input as its reason. The input here is the job file, and in a
dry run that is a file of its own, so its name says what changed. `grokatlas explain --stale` says
it at length.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from grokatlas.code import code_digest
from grokatlas.plan import changes
from grokatlas.results import layout
from grokatlas.results.manifest import code_of
from grokatlas.results.result import MANIFEST_TABLES, read_json_file
from grokatlas.text import some_of

if TYPE_CHECKING:
    from grokatlas.plan.jobs import Job

SHOWN = 2  # changes that are named
LONGEST = 120  # bytes of a reason: it becomes a file's name


def of(job: "Job") -> str:
    """The changes since a result that is stale was made.

    Returns:
        such as ``code: components.penalties.log_sum``, ``spec: optimizer.lr 0.001 -> 0.01`` or
        ``data: results/data/6a96be3fa731 was made again``; without a slash where it names no path.
    """
    manifest = _manifest(job.kind, job.target)
    if not manifest:
        return "files: no manifest vouches for them"
    reasons = []
    planned = {each.target.name: each.spec for each in job.inputs}
    if settings := changes.of_settings(manifest["spec"], job.spec, _run_spec, planned.get):
        texts = [f"{path} {was} -> {now}" for path, was, now in settings]
        reasons.append(f"spec: {some_of(texts, SHOWN)}")
    if modules := code_digest.changed(code_of(manifest), job.code):
        named = [name.removeprefix("grokatlas.") for name in modules]
        reasons.append(f"code: {some_of(named, SHOWN)}")
    if manifest.get("partial"):
        reasons.append("files: was made while others were not complete")
    return "; ".join(reasons) or _data(job)


def _manifest(kind: str, target: Path) -> dict[str, Any]:
    """The manifest of a result, or nothing where it is not sound."""
    file = layout.manifest_of(kind, target)
    record = read_json_file(file.as_posix(), file, MANIFEST_TABLES)
    return record.content if record.verdict == "ok" else {}


def _run_spec(run: str) -> dict[str, Any] | None:
    """The spec of a run that was made."""
    return _manifest("run", layout.run_folder(run)).get("spec")


def _data(job: "Job") -> str:
    """The first of the results that it was made from which is not the one that it was made from."""
    for other in job.inputs:
        if other.state() != "up to date":
            return f"data: {other.kind} {other.target.name} is {other.state()}"
    return "data: what it was made from was made again"


def file_name(job: "Job") -> str:
    """The reason as the name of a file that Snakemake shows as it is."""
    allowed = of(job).replace("/", ".").translate(dict.fromkeys(map(ord, "{}\n\r\t\0"), " "))
    short = allowed.encode()[:LONGEST].decode(errors="ignore")
    return short + ("..." if short != allowed else "")
