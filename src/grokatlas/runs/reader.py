"""The one reader of runs: those that a checkout plans, results hold, and the run store holds.

The state of a run follows from its manifest, its lock and its log. It is up to date if its manifest
has the planned digest and names the data that exist (`results.freshness` decides the same for
Snakemake) and its files exist or nothing that is to be made needs them.
"""

import functools
from collections.abc import Callable
from pathlib import Path
from typing import Any

from grokatlas.audit.stale import changed_code
from grokatlas.audit.tree import Tree
from grokatlas.plan import declared_jobs, remaining
from grokatlas.plan.jobs import Job
from grokatlas.results import layout
from grokatlas.results.result import Result
from grokatlas.run_store.command import Stored, stored
from grokatlas.runs import progress
from grokatlas.runs.run import RunEntry, Use

Jobs = dict[str, Job]


def every(results: Path, root: Path | None, jobs: Jobs | None = None) -> list[RunEntry]:
    """Every run, those of results and of the plan first; one of the store that is the same is one.

    Args:
        results: the tree.
        root: the run store; None for none.
        jobs: what is planned, upstream first; all that the checkout declares if None.
    """
    jobs = declared_jobs.jobs(results=results) if jobs is None else jobs
    nothing_made = results == layout.RESULTS and not results.is_dir()
    tree = None if nothing_made and (root or jobs) else Tree(results)
    uses = _uses(jobs or {}, tree)
    held = progress.held_locks()

    @functools.cache
    def again() -> set[str]:
        here = jobs if jobs and results == layout.RESULTS else {}
        return {job.target.as_posix() for job in remaining.unmade([*here.values()])}

    planned = [target for target, job in (jobs or {}).items() if job.kind == "run"]
    places = f"{layout.run_folder('').as_posix()}/"
    targets = [target for target in tree.results if target.startswith(places)] if tree else []
    by_id: dict[str, list[RunEntry]] = {}
    for target in dict.fromkeys([*planned, *targets]):
        run = _here(target, tree, jobs, held, again)
        if run is not None:
            by_id[run.id] = [run]
    for each in stored(root, "run") if root else []:
        id_ = each.place.name.partition("-")[0]
        _add_stored(by_id.setdefault(id_, []), id_, each, jobs)
    entries = [run for runs in by_id.values() for run in runs]
    for place, run in enumerate(entries):
        run.uses = uses.get(run.id, [])
        if not run.readable():
            note = "its manifest is not one that this version writes"
            entries[place] = RunEntry(run.id, "damaged", note, run.uses, places=run.places)
    return sorted(entries, key=lambda run: ([str(use) for use in run.uses[:1]], run.id))


def _uses(jobs: Jobs, tree: Tree | None) -> dict[str, list[Use]]:
    """The cells of tables that each run is in: of the plan, and of tables that were made before."""
    uses: dict[str, list[Use]] = {}
    planned = [job.spec for job in jobs.values() if job.kind == "table"]
    results = tree.results.values() if tree else []
    tables = [result for result in results if result.sound.get("kind") == "table"]
    made = [table.sound["spec"] for table in tables if layout.home(table.sound) == table.target]
    now = {cell["run"] for spec in planned for cell in spec["cells"]}
    for specs, known in ((planned, set()), (made, now)):
        for spec in specs:
            for cell in spec["cells"]:
                use = Use(spec["scale"], spec["paper"], spec["experiment"], cell.get("label", ""))
                listed = uses.setdefault(cell["run"], [])
                if cell["run"] not in known and use not in listed:
                    listed.append(use)
    return uses


def _here(
    target: str,
    tree: Tree | None,
    jobs: Jobs | None,
    held: set[int] | None,
    again: Callable[[], set[str]],
) -> RunEntry | None:
    """A run of results or of the plan; None for a job file that nothing is behind any more."""
    result = (tree.results.get(target) if tree else None) or Result(target)
    job = jobs.get(target) if jobs else None
    run = RunEntry(Path(target).name, "waiting", digest=job.digest if job else "")
    run.spec = job.spec if job else result.planned.get("spec", {})
    folder = tree.path(target) if tree else Path(target)
    if result.files or result.manifest:
        run.places["results"] = folder
    if result.sound:
        run.spec, run.manifest = result.sound["spec"], result.sound
        run.digest = result.sound["digest"]
    absent = [name for name in result.outputs if name not in result.files]
    same = jobs is None or (job is not None and _same(tree, result, job))
    if result.sound and same and not (absent and target in again()):
        gone = "its files are not here" if absent else ""
        run.state = "up to date"
        run.note = "; ".join(filter(None, [gone, progress.finished(result.sound)]))
        return run
    run.state, run.note = progress.unfinished(folder, run.spec, held)
    if run.state == "running" or not (result.manifest or result.files):
        return None if run.state == "waiting" and job is None else run
    if not result.sound:
        run.state, run.note = "damaged", result.problem
    elif job is None:
        run.state, run.note = "undeclared", "no paper declares it at any scale"
    else:
        run.state = "stale"
        run.note = "its files are not here" if same else _why(result.sound, job)
    return run


def _same(tree: Tree | None, result: Result, job: Job) -> bool:
    """Tell if a run is the planned one, made from the data that are here."""
    if tree is None or not job.matches(result.sound):
        return False
    owners = ((tree.owner(name), name, sha256) for name, sha256 in result.inputs.items())
    return all(not owner or tree.fits(owner, name, sha256) for owner, name, sha256 in owners)


def _add_stored(here: list[RunEntry], id_: str, each: Stored, jobs: Jobs | None) -> None:
    """Add a run of the store to those of the same id; one that is the same in results is one."""
    if each.entry is None:
        note = "is not what its manifest records"
        here.append(RunEntry(id_, "damaged", note, digest=each.key, places={"store": each.place}))
        return
    manifest: dict[str, Any] = each.entry.manifest
    same = [run for run in here if run.digest == manifest["digest"]]
    if same and same[0].manifest:
        same[0].places["store"] = each.place
        return
    for run in same:
        if run.state == "waiting":  # it would be brought in, not trained
            here.remove(run)
    state, note = _stored_state(manifest, jobs, id_)
    run = RunEntry(id_, state, note, spec=manifest["spec"], manifest=manifest)
    run.note = "; ".join(filter(None, [note, progress.finished(manifest)]))
    run.digest, run.places = manifest["digest"], {"store": each.place}
    here.append(run)


def _stored_state(manifest: dict[str, Any], jobs: Jobs | None, id_: str) -> tuple[str, str]:
    """The state of a run of the store for this checkout, and why it is not up to date."""
    if jobs is None:
        return "up to date", ""
    job = jobs.get(layout.run_folder(id_).as_posix())
    if job is None:
        return "undeclared", "no paper declares it at any scale"
    if job.matches(manifest):
        return "up to date", ""
    return "stale", _why(manifest, job)


def _why(manifest: dict[str, Any], job: Job) -> str:
    """The reason for which a run is stale: its code, else its data."""
    causes = changed_code(manifest, job)
    return "; ".join(f"{cause.kind}: {cause.text}" for cause in causes) or "its data changed"
