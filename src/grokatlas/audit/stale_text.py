"""Stale results as text: causes, results, and the commands that make or keep them."""

import functools
from collections import Counter
from pathlib import PurePosixPath

from grokatlas import text as words
from grokatlas.audit import mixed
from grokatlas.audit.stale import Group, Jobs, Stale, find, inputs
from grokatlas.audit.tree import Tree
from grokatlas.declare.names import CONFIG
from grokatlas.errors import UserError
from grokatlas.plan import declared_jobs
from grokatlas.results import layout
from grokatlas.results.ancestry import ancestors

SUMMARIES = ("claims", "atlas")  # they need all of a scale
KINDS = mixed.KINDS | {"figure": "figures", "claims": "claims", "atlas": "pages"}
FEW = 3  # names that a command lists before a folder of all of them is looked for


def lines(tree: Tree, name: str | None) -> list[str]:
    """All that Snakemake would make again now, why, and the commands that make or keep it.

    Args:
        tree: the results, those of the working directory.
        name: a target, to look at it and what it is made from alone; None for everything.
    """
    jobs = declared_jobs.jobs(next_call=True)
    if jobs is None:
        problem = f"no {CONFIG}/ here, so nothing says what is current"
        raise UserError("--stale", f"{problem}; run it in a checkout")
    if tree.folder.resolve() != layout.RESULTS.resolve():
        problem = f"is about {layout.RESULTS} of this checkout, not about {tree.folder}"
        raise UserError("--stale", f"{problem}; go to the folder whose config/ made it")
    everything = jobs
    if name is not None:
        if name not in jobs:
            raise UserError(name, "no paper declares it at any scale; `grokatlas prune` removes it")
        behind = {*ancestors([name], functools.partial(inputs, jobs))}
        jobs = {target: job for target, job in jobs.items() if target in behind}
    stale = find(tree, jobs)
    text = [
        line for group in stale.groups for line in (*_group(tree, everything, group, stale), "")
    ]
    return [*text, _summary(jobs, stale)]


def _group(tree: Tree, jobs: Jobs, group: Group, stale: Stale) -> list[str]:
    """A cause, its results, a count of them, and its commands."""
    seconds = sum(
        float(tree.results[target].sound.get("wall_seconds", 0))
        for target in group.targets
        if target in tree.results
    )
    took = f"; {words.duration(seconds)} when made" if seconds else ""
    changed = " changed since" if group.cause.kind != "files" else ""
    text = [f"{group.cause.kind}{changed}: {group.cause.text}"]
    text += _listed(jobs, group.targets)
    text.append(f"  {_counted(jobs, group.targets)}{took}")
    text.append(f"  make again: {make_again(jobs, group.targets)}")
    keeping = keep(tree, jobs, group, stale)
    return [*text, *([f"  or keep:    {keeping}"] if keeping else [])]


def _listed(jobs: Jobs, targets: list[str]) -> list[str]:
    """Results, a line for each kind and place."""
    tables = _tables(jobs)
    places: dict[str, list[str]] = {}
    for target in targets:
        kind, (_, folder, *rest) = jobs[target].kind, target.split("/")
        if kind in SUMMARIES:
            places.setdefault(f"{KINDS[kind]} of {folder} scale", [])
            continue
        own = rest[1:] if kind in ("table", "figure") else rest
        where = f"at {folder} scale" if kind in ("table", "figure") else tables.get(target, "")
        places.setdefault(f"{KINDS[kind]} {where}".strip(), []).append("/".join(own))
    return [f"  {place}{': ' * bool(names)}{', '.join(names)}" for place, names in places.items()]


def _tables(jobs: Jobs) -> dict[str, str]:
    """The first table that runs, measures and data are behind, and how many others there are.

    Tables that were made count; all, where none of them was.
    """
    tables_behind: dict[str, list[tuple[bool, str]]] = {}
    for target, job in jobs.items():
        if job.kind == "table":
            name = f"{job.spec['scale']} {job.spec['paper']}/{job.spec['experiment']}"
            made = job.manifest.exists()
            for ancestor in ancestors([target], functools.partial(inputs, jobs)):
                tables_behind.setdefault(ancestor, []).append((made, name))
    words_by_target = {}
    for target, tables in tables_behind.items():
        first, *more = [name for made, name in tables if made] or [name for _, name in tables]
        others = f" and {words.count(len(more), 'other table')}" if more else ""
        words_by_target[target] = f"of {first}{others}"
    return words_by_target


def _counted(jobs: Jobs, targets: list[str]) -> str:
    """The number of results of each kind."""
    kinds = Counter(jobs[target].kind for target in targets)
    return ", ".join(
        KINDS[kind] if kind in SUMMARIES else words.count(n, KINDS[kind].removesuffix("s"))
        for kind, n in kinds.items()
    )


def make_again(jobs: Jobs, targets: list[str]) -> str:
    """The command that makes some results again, and what is made from them as far as it is there.

    Plain `snakemake` is it where all of the scale was made; else it would train what was not.
    """
    summaries = [target for target in targets if jobs[target].kind in SUMMARIES]
    scales = list(dict.fromkeys(jobs[target].spec["scale"] for target in summaries))
    whole = [scale for scale in scales if _all_made(jobs, scale)]
    settled = ancestors(
        [layout.atlas_folder(scale).as_posix() for scale in whole], functools.partial(inputs, jobs)
    )
    own = [target for target in targets if target not in {*summaries, *settled}]
    used = {name for target in own for name in inputs(jobs, target)}
    files = [jobs[target].outputs[0].as_posix() for target in own if target not in used]
    commands = [f"snakemake --config scale={scale}" for scale in whole]
    commands += [f"snakemake -- {' '.join(files)}"] if files else []
    commands += [f"grokatlas atlas --scale {scale}" for scale in scales if scale not in whole]
    return " && ".join(commands)


def _all_made(jobs: Jobs, scale: str) -> bool:
    """True if every table and figure of a scale was made, by whichever code."""
    own = [job for job in jobs.values() if job.kind in ("table", "figure")]
    return all(job.state() != "absent" for job in own if job.spec["scale"] == scale)


def keep(tree: Tree, jobs: Jobs, group: Group, stale: Stale) -> str:
    """The command that keeps what a change of code made stale; empty for any other cause."""
    if group.cause.kind != "code":
        return ""
    refused = {root for each in stale.groups if each.cause.kind != "code" for root in each.targets}
    roots = [root for root in group.roots if root not in refused]
    if not roots:
        return ""
    names = " ".join(_short(name) for name in _folders(tree, jobs, roots, stale))
    return f'grokatlas accept {names} --reason "..."'


def _folders(tree: Tree, jobs: Jobs, roots: list[str], stale: Stale) -> list[str]:
    """Results, or folders that hold these and else only what is up to date."""
    others = {*stale.again}.difference(roots)
    targets = [t for t, result in tree.results.items() if result.manifest or result.files]
    by_folder: dict[str, list[str]] = {}
    for root in roots:
        parts = PurePosixPath(root).parts
        by_folder.setdefault(
            "/".join(parts[: 2 if parts[1] not in layout.SCALES else 3]), []
        ).append(root)
    named: list[str] = []
    for folder, inner in by_folder.items():
        below = [target for target in targets if target.startswith(f"{folder}/")]
        clean = all(target in jobs and target not in others for target in below)
        named += [folder] if clean and len(inner) > FEW else inner
    return named


def _short(target: str) -> str:
    """A run by its id, anything else by its path."""
    return target.rpartition("/")[2] if target.startswith("results/runs/") else target


def _summary(jobs: Jobs, stale: Stale) -> str:
    """The last line."""
    if not stale.again:
        return f"nothing would be made again; {words.count(stale.made, 'result')} are up to date"
    anew = f", and {_counted(jobs, stale.anew)} for the first time" if stale.anew else ""
    return f"{len(stale.again)} of {words.count(stale.made, 'result')} would be made again{anew}"
