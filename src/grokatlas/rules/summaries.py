"""What the rules `claims` and `atlas` run: from all that a scale made to verdicts and pages.

Each also works from what is there: on results that are not complete, or that earlier code made.
"""

import sys
from pathlib import Path
from typing import Any

from grokatlas.errors import UserError
from grokatlas.results import files as store
from grokatlas.results.manifest import Recorder
from grokatlas.rules import jobs

CURRENT, EARLIER = "current", "earlier"


def claims(job_file: Path, stem: Path, partial: bool = False) -> None:
    """Rule `claims`: every claim with its verdict.

    Args:
        job_file: the job's file.
        stem: where ``claims.csv`` goes, without suffix.
        partial: judge by the tables that are there, and leave out claims whose function fails;
            otherwise all have to be there.

    Raises:
        UserError: a table is missing or damaged, or a claim's function fails.
    """
    import functools

    from grokatlas.claims import judging

    job = jobs.planned(job_file, "claims")
    scale, targets = job["spec"]["scale"], [Path(target) for target in job["inputs"]]
    ages = {target: at_hand("table", target) if partial else CURRENT for target in targets}
    there = [target for target in targets if ages[target]]
    recorder = Recorder(job, [store.outputs("table", target)[0] for target in there])

    @functools.lru_cache(maxsize=8)  # figures of a paper share tables
    def read(target: Path) -> Any:
        return store.read_parquet(store.outputs("table", target)[0])

    rows, failed = [], []
    for paper, declared in job["spec"]["papers"].items():
        for claim in declared:
            stems = {n: store.table_stem(scale, paper, n) for n in claim["experiments"]}
            whole = scale in claim["scales"] and all(ages[target] for target in stems.values())
            tables = {name: read(target) for name, target in stems.items()} if whole else None
            try:
                row = judging.row(paper, claim, tables, scale)
            except UserError as error:
                if not partial:
                    raise
                row = judging.row(paper, claim, None, scale) | {"reason": str(error)}
                failed.append(f"{paper}/{claim['id']}")
            if whole:
                row |= _origin(list(stems.values()), ages)
            rows.append(row)
    (file,) = store.outputs("claims", stem)
    store.write_csv(file, judging.frame(rows))
    _note_gaps(recorder, ages, failed)
    recorder.write(store.manifest_of("claims", stem), [file])


def atlas(job_file: Path, folder: Path, partial: bool = False) -> None:
    """Rule `atlas`: one static folder of pages.

    Args:
        job_file: the job's file.
        folder: of the pages.
        partial: show what is there, and what is not as such; otherwise everything has to be.

    Raises:
        UserError: a figure is missing or damaged.
    """
    from grokatlas.atlas import build

    job = jobs.planned(job_file, "atlas")
    targets = {Path(target): _kind(Path(target)) for target in job["inputs"]}
    ages = {t: at_hand(kind, t) if partial else CURRENT for t, kind in targets.items()}
    there = [target for target in targets if ages[target]]
    files = [file for target in there for file in store.outputs(targets[target], target)]
    for file in files:
        store.verified(file)
    recorder = Recorder(job, files)
    made = build.write(job["spec"], ages, folder)
    _note_gaps(recorder, ages)
    recorder.write(store.manifest_of("atlas", folder), made)


def from_what_is_there(atlas_job: Path) -> Path:
    """Claims and atlas from the results that lie here; tells on stderr how many are missing.

    Args:
        atlas_job: the planned atlas's job file.

    Returns:
        the first page.

    Raises:
        UserError: the job file cannot be used.
    """
    inputs = [Path(target) for target in jobs.planned(atlas_job, "atlas")["inputs"]]
    (stem,) = (target for target in inputs if _kind(target) == "claims")
    claims(store.spec_path("claims", stem), stem, partial=True)
    folder = store.target_of(atlas_job)
    atlas(atlas_job, folder, partial=True)
    gaps = store.read_json(store.manifest_of("atlas", folder)).get("partial", {})
    for age, text in (("absent", "not made yet"), ("earlier", "made by earlier code")):
        if gaps.get(age):
            print(f"{len(gaps[age])} of {len(inputs)} results are {text}", file=sys.stderr)
    return store.outputs("atlas", folder)[0]


def planned(scale: str | None) -> Path:
    """The job file of the atlas of this checkout's scale, written with all others of the plan.

    Raises:
        UserError: this is no checkout, or the configuration has a mistake.
    """
    from grokatlas.plan import remaining

    want = remaining.at(scale)
    (job,) = want.project.prepare(want.plan.scale).atlas.values()
    return job.spec_path


def at_hand(kind: str, target: Path) -> str:
    """Whether a job's result lies here, whole and of the planned spec.

    Returns:
        ``current``; ``earlier`` where other code made it, or it was made from what is older than
        the plan; empty where it cannot be used.
    """
    try:
        manifest = store.read_sealed(store.manifest_of(kind, target))
        planned = store.read_sealed(store.spec_path(kind, target))
        if manifest["spec"] != planned["spec"]:
            return ""
        for file in store.outputs(kind, target):
            store.verified(file)
    except (UserError, KeyError):
        return ""
    return CURRENT if manifest["digest"] == planned["digest"] else EARLIER


def _kind(target: Path) -> str:
    return "claims" if target.name == "claims" else "figure"


def _origin(targets: list[Path], ages: dict[Path, str]) -> dict[str, str]:
    """The commits that made a claim's tables, and whether their code is the one here."""
    commits = set()
    for target in targets:
        git = store.read_sealed(store.manifest_of("table", target)).get("git") or {}
        commits.add(git.get("commit", "unknown")[:12] + (" dirty" if git.get("dirty") else ""))
    code = CURRENT if all(ages[target] == CURRENT for target in targets) else EARLIER
    return {"commit": ", ".join(sorted(commits)), "code": code}


def _note_gaps(recorder: Recorder, ages: dict[Path, str], failed: list[str] | None = None) -> None:
    """Let a manifest tell what was absent, made by earlier code or failed: it never fits a plan."""
    absent = [target.as_posix() for target, age in ages.items() if not age]
    earlier = [target.as_posix() for target, age in ages.items() if age == EARLIER]
    if absent or earlier or failed:
        recorder.note(partial={"absent": absent, "earlier": earlier, "failed": failed or []})
