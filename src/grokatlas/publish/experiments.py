"""Recording the evidence of experiments, and what a checkout would make otherwise."""

import functools
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from grokatlas import text
from grokatlas.declare.names import CONFIG
from grokatlas.errors import UserError, nearest
from grokatlas.export import evidence
from grokatlas.plan import recorded_studies
from grokatlas.plan.jobs import Plan, with_ancestors
from grokatlas.plan.project import Project


def plan_of_all(scale: str) -> Plan:
    """The plan of every paper at a scale, also of those that the settings do not select."""
    return Project(CONFIG, {"papers": "all"}, warn=lambda text: None).at(scale)


def record(plan: Plan, names: list[str], changed: set[Path]) -> Iterator[str]:
    """Write archives; what cannot be recorded is a line, or an error if it was asked for by name.

    Args:
        plan: of every paper.
        names: of experiments, as ``paper/experiment``; every one that is made if empty.
        changed: gets the targets of the tables whose archives are others now.
    """
    declared = {f"{paper}/{experiment}": job for (paper, experiment), job in plan.tables.items()}
    for name in names:
        if name not in declared:
            raise UserError(name, f"is no experiment; {nearest(name, list(declared))}")
    for name in names or declared:
        try:
            yield from _record_one(plan, name, bool(names), changed)
        except UserError as error:
            if names:
                raise
            yield f"{name}: not recorded: {error}"
    if problem := evidence.disagreement():
        hint = "record both experiments, or restore that file from git"
        raise UserError(str(evidence.FOLDER), f"{problem}; {hint}")


def _record_one(plan: Plan, name: str, named: bool, changed: set[Path]) -> Iterator[str]:
    """Write an experiment's archive: of its table, or of its finished runs if there is none."""
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
    if here == "absent":
        behind = with_ancestors(each for jobs in runs.values() for each in jobs)
        _refuse_loss(place, {each.target.as_posix() for each in behind})
    parts = [each.target for jobs in runs.values() for each in jobs]
    if evidence.write(place, parts if here == "absent" else [job.target]):
        changed.add(job.target)
    size = text.file_size(evidence.path(*place).stat().st_size)
    total = sum(each.kind == "run" for each in job.inputs)
    some = f" ({len(runs)} of {total} runs so far)" if here == "absent" else ""
    yield f"{name}: {size}{some}{'' if job.target in changed else ', as before'}"


def _refuse_loss(place: tuple[str, str, str], runs: set[str]) -> None:
    """Refuse to replace an archive that holds more than the runs that are finished here."""
    file = evidence.path(*place)
    if not file.is_file():
        return
    more = evidence.manifests(*place, "run").keys() - runs
    if evidence.manifests(*place, "table") or more:
        held = "its table" if not more else f"{len(more)} more runs"
        problem = f"holds {held}, which recording would remove"
        raise UserError(str(file), f"{problem}; run `grokatlas restore` and `snakemake` first")


def state(scale: str | None = None) -> dict[str, str]:
    """The reason why this checkout would make an archive otherwise, by ``scale/paper/experiment``.

    It is empty where it would be the same.
    """
    planned = functools.cache(plan_of_all)
    places = evidence.archives(scale)
    return {"/".join(place): _why_otherwise(planned(place[0]), *place) for place in places}


def _why_otherwise(plan: Plan, *place: str) -> str:
    """The reason why an archive's table, or its runs without one, would be made otherwise."""
    scale, paper, experiment = place
    table = plan.tables.get((paper, experiment))
    if table is None:
        return "no paper declares it any more"
    declared = {job.target.as_posix(): job for job in with_ancestors([table])}
    manifests = evidence.manifests(scale, paper, experiment, "table")
    for kind in () if manifests else ("run", "measure"):
        manifests |= evidence.manifests(scale, paper, experiment, kind)
    same = all(
        target in declared and declared[target].matches(content)
        for target, content in manifests.items()
    )
    return "" if same else "its code or its spec changed since"


def state_as_text(scale: str | None) -> Iterator[str]:
    """`state` as text, with the size of each archive, and a summary."""
    reasons = state(scale)
    sizes = {name: (evidence.FOLDER / f"{name}.zip").stat().st_size for name in reasons}
    for name, problem in reasons.items():
        yield f"{name}: {text.file_size(sizes[name])}, {problem or 'as this checkout makes it'}"
    otherwise = sum(map(bool, reasons.values()))
    total = text.file_size(sum(sizes.values()))
    yield f"{len(reasons)} experiments, {total}; {otherwise} would be made otherwise now"
    for study in recorded_studies.folders():
        yield from _state_of_study(study, scale)


def _state_of_study(study: Path, scale: str | None) -> Iterator[str]:
    """The state of a study of the checkout, which a process in its folder tells."""
    command = [sys.executable, "-m", "grokatlas", "recorded"]
    command += ["--scale", scale] if scale else []
    done = subprocess.run(command, cwd=study, capture_output=True, text=True, check=False)
    if done.returncode:
        raise UserError(study.as_posix(), done.stderr.strip())
    for line in done.stdout.splitlines():
        yield f"{study.as_posix()}: {line}"
