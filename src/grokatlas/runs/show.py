"""``grokatlas show``: what is known of a run, with its spec, and of what runs are made for."""

import json
from collections.abc import Iterator

from grokatlas.audit import claim
from grokatlas.declare import names
from grokatlas.declare.papers import load_papers
from grokatlas.engine import members
from grokatlas.errors import UserError, closest
from grokatlas.plan import declared_jobs
from grokatlas.plan.jobs import with_ancestors
from grokatlas.results import layout
from grokatlas.runs import reader


def main(name: str, scale: str | None) -> Iterator[str]:
    """A run's state, members and spec; a figure's or table's state and runs; a claim.

    Args:
        name: the first digits of a run, ``paper/figure``, ``paper/experiment`` or a claim's id.
        scale: of a figure or table; the configured one if None.
    """
    if claim.is_named(name):
        yield from claim.lines(claim.facts(name, layout.RESULTS))
    elif "/" in name:
        yield from _made_of_runs(name, scale or declared_jobs.scale() or layout.SCALES[-1])
    else:
        yield from _run(name)


def _made_of_runs(name: str, scale: str) -> Iterator[str]:
    """The state of a figure or table, of the runs behind it, and the command that makes it."""
    paper, _, own = name.partition("/")
    # where one is named, no mistake in another one matters
    papers = load_papers(names.PAPERS, [paper] if names.is_paper(paper) else "all")
    known = [f"{p}/{each}" for p in papers for each in (*papers[p].figures, *papers[p].experiments)]
    if name not in known:
        hint = closest(name, known) or "`grokatlas status` lists what there is"
        raise UserError(name, f"no figure or experiment of {names.PAPERS} is called so; {hint}")
    jobs = declared_jobs.of_paper(paper, scale, {own})
    stems = (layout.figure_stem(scale, paper, own), layout.table_stem(scale, paper, own))
    job = next(jobs[stem.as_posix()] for stem in stems if stem.as_posix() in jobs)
    there = all(file.exists() for file in job.outputs)
    yield f"{job.kind} {name} at scale {scale}: {job.state() if there else 'not made'}"
    if job.kind == "figure":
        yield f"draws: {', '.join(job.spec['experiments'])}"
        on_it = [claim.id for claim in papers[paper].claims if claim.figure == own]
        yield f"claims: {', '.join(on_it) or 'none'}"
    needed = {each.target.as_posix(): each for each in with_ancestors([job])}
    for run in reader.every(layout.RESULTS, None, needed):
        if layout.run_folder(run.id).as_posix() in needed:
            yield f"run {run.id}: {run.state}; {', '.join(map(str, run.uses))}"
    yield f"made by: snakemake {job.outputs[0]}"


def _run(name: str) -> Iterator[str]:
    """A run's state, members and spec."""
    runs = [each for each in reader.every(layout.RESULTS, None) if each.id.startswith(name)]
    if not runs:
        raise UserError(f"run {name}", "no run begins so; `grokatlas runs` lists them")
    if len(runs) > 1:
        several = ", ".join(run.id for run in runs)
        raise UserError(f"run {name}", f"is not unique, give more digits: {several}")
    (shown,) = runs
    yield f"run {shown.id}"
    yield f"of: {', '.join(map(str, shown.uses)) or 'no table'}"
    yield f"state: {shown.state}{f'; {shown.note}' * bool(shown.note)}"
    commit = (shown.manifest.get("git") or {}).get("commit", "unknown")
    if shown.manifest:
        yield f"made: {shown.manifest.get('started')}, commit {commit}"
    if shown.spec:
        yield f"members: {len(members.of(shown.spec))}"
        yield json.dumps(shown.spec, indent=2, sort_keys=True)
