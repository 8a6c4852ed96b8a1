"""Results that would be made again now, grouped by what changed.

A result is stale by itself (its spec, its code or its files changed) or by what it was made from. A
group holds a cause, the results that it made stale by themselves, and all that depends on these.
"""

import functools
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Literal

from grokatlas.audit.tree import Tree
from grokatlas.code import code_digest
from grokatlas.plan import changes
from grokatlas.plan.jobs import Job
from grokatlas.results import layout
from grokatlas.results.manifest import code_of
from grokatlas.results.result import Result

FINAL = ("figure", "claims", "atlas")  # what plain `snakemake` makes; the rest only if needed
SETTINGS = 4  # changed settings that a cause names

Jobs = dict[str, Job]


@dataclass(frozen=True)
class Cause:
    """The kind of thing that changed (code, configuration, or files of results), with words."""

    kind: Literal["code", "configuration", "files"]
    text: str


@dataclass
class Group:
    """All that one cause makes stale: `roots` by themselves, `targets` with all that needs them."""

    cause: Cause
    roots: list[str] = field(default_factory=list)
    targets: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Stale:
    """All that would be made again.

    Attributes:
        groups: by cause; a result that has several causes is in several groups.
        again: every result of them, upstream first.
        anew: the results that these need and that were never made.
        made: the number of declared results that were made.
    """

    groups: list[Group]
    again: list[str]
    anew: list[str]
    made: int


def inputs(jobs: Jobs, target: str) -> list[str]:
    """The targets that a declared result is made from."""
    return [job.target.as_posix() for job in jobs[target].inputs]


def find(tree: Tree, jobs: Jobs) -> Stale:
    """Everything that was made in ``results`` and that Snakemake would make again now.

    Args:
        tree: the results, those of the working directory.
        jobs: the declared ones, by target, upstream first; or a part with all upstream of it.
    """
    again, anew = _to_make(jobs)
    groups: dict[Cause, Group] = {}
    reached: dict[str, list[Cause]] = {}
    for target in again:
        own = own_causes(tree, jobs, target)
        upstream = inputs(jobs, target)
        causes = dict.fromkeys([*own, *(c for name in upstream for c in reached.get(name, []))])
        if not causes:
            own = [_renewed(upstream, jobs)]
            causes = dict.fromkeys(own)
        reached[target] = list(causes)
        for cause in causes:
            group = groups.setdefault(cause, Group(cause))
            group.targets.append(target)
            group.roots += [target] if cause in own else []
    made = sum(job.manifest.exists() for job in jobs.values())
    return Stale(list(groups.values()), again, anew, made)


def _to_make(jobs: Jobs) -> tuple[list[str], list[str]]:
    """The results that were made and would be made again, and those never made that these need."""
    again: list[str] = []
    anew: list[str] = []
    needed: set[str] = set()
    for target, job in reversed(jobs.items()):
        state = job.state()
        made = state == "stale" or job.manifest.exists()
        asked = target in needed or (made and job.kind in FINAL)
        if state == "stale" or (asked and not all(file.exists() for file in job.outputs)):
            (again if made else anew).append(target)
            needed |= {upstream.target.as_posix() for upstream in job.inputs}
    return again[::-1], anew[::-1]


def own_causes(tree: Tree, jobs: Jobs, target: str) -> list[Cause]:
    """The causes that make a result stale by itself, apart from what it was made from."""
    result, job = tree.results.get(target), jobs[target]
    if result is None or not result.sound:
        problem = result.problem if result else "no manifest vouches for it"
        return [Cause("files", f"{target}: {problem}")]
    content = result.sound
    if papers := _other_papers(content["spec"], job.spec):
        return [Cause("configuration", papers)]
    settings = changes.of_settings(
        content["spec"],
        job.spec,
        functools.partial(_run_spec, tree),
        {each.target.name: each.spec for each in job.inputs}.get,
    )
    causes = [Cause("configuration", _listed(settings))] if settings else []
    causes += changed_code(content, job)
    if content.get("partial"):
        causes.append(Cause("files", f"{target}: was made while other results were not complete"))
    return causes + [Cause("files", text) for text in _changed_files(tree, result, job)]


def _run_spec(tree: Tree, run: str) -> dict[str, Any] | None:
    """The spec of a run that was made, or of its job file; None where neither is sound."""
    result = tree.results.get(layout.run_folder(run).as_posix())
    return (result.sound or result.planned).get("spec") if result else None


def _other_papers(old: dict[str, Any], new: dict[str, Any]) -> str:
    """The papers that claims or pages have and had not, or had and have not, in words."""
    before, after = (set(spec.get("papers", {})) for spec in (old, new))
    named = ((after - before, "absent", "present"), (before - after, "present", "absent"))
    return "; ".join(
        f"papers {', '.join(sorted(names))} were {was}, now {now}"
        for names, was, now in named
        if names
    )


def changed_code(manifest: dict[str, Any], job: Job) -> list[Cause]:
    """The modules that changed since a result was made, as one cause; nothing if none did."""
    modules = code_digest.changed(code_of(manifest), job.code)
    return [Cause("code", ", ".join(modules))] if modules else []


def _changed_files(tree: Tree, result: Result, job: Job) -> list[str]:
    """The files of a result, or of what it was made from, that are not as its manifest says."""
    problems = []
    for name, recorded in result.inputs.items():
        owner = tree.owner(name)
        if owner and owner.sound and not tree.fits(owner, name, recorded):
            problems.append(f"{name} was made again since, with other bytes")
    absent = [file.as_posix() for file in job.outputs if not file.exists()]
    if absent and len(absent) < len(job.outputs):
        problems.append(f"{', '.join(absent)} {'is' if len(absent) == 1 else 'are'} not here")
    elif absent:
        problems.append(f"the files of {result.target} are not here")
    return problems


def _renewed(upstream: list[str], jobs: Jobs) -> Cause:
    """The cause of a result that is as declared itself, and so is all that is here behind it."""
    absent = [name for name in upstream if jobs[name].state() == "absent"]
    if absent:
        return Cause("files", f"the spec or code of {absent[0]}, which is not here, changed")
    return Cause("files", "what it was made from was accepted or made again since")


def _listed(settings: Iterable[tuple[str, str, str]]) -> str:
    """Changed settings in words, the first of them alone where there are many."""
    texts = [f"{path} was {old}, now {new}" for path, old, new in settings]
    more = [f"and {len(texts) - SETTINGS} more"] if len(texts) > SETTINGS + 1 else []
    return "; ".join(texts[: SETTINGS if more else None] + more)
