"""Keep results after a change of code that was proven neutral, and record it in a note."""

import functools
import subprocess
import time
import unicodedata
from pathlib import Path
from typing import Any

from grokatlas.audit import locate, stale
from grokatlas.audit.tree import Tree
from grokatlas.audit.verify import BROKEN, Report, verify
from grokatlas.code import code_digest
from grokatlas.declare.names import CONFIG
from grokatlas.errors import UserError
from grokatlas.plan import declared_jobs
from grokatlas.plan.jobs import Job
from grokatlas.results import account, files, manifest, revision
from grokatlas.results.ancestry import ancestors, descendants


def accept(paths: list[str], results: Path, reason: str) -> list[str]:
    """Give results, and what depends on them, the digests of the current plan.

    A digest covers everything upstream. So what the named results were made from is accepted with
    them, and so is every result downstream whose own spec and code are unchanged.

    Returns:
        one line for each accepted result, and for each that must still be remade.

    Raises:
        UserError: the reason is not one line, a result does not verify or its spec changed. Nothing
            is written then.
    """
    if any(unicodedata.category(each) in ("Cc", "Zl", "Zp") for each in reason.strip()):
        raise UserError(
            "accept --reason", "has a line break or a control character; write one line"
        )
    tree, jobs = Tree(results), declared_jobs.jobs()
    if jobs is None:
        raise UserError(str(CONFIG), "no configuration here; accept in a checkout")
    named = list(dict.fromkeys(target for text in paths for target in _named(tree, text)))
    for target in named:
        if target not in jobs:
            raise UserError(target, "no paper declares it at any scale; it cannot be accepted")
        if not _here(tree, target):
            raise UserError(target, "was not made yet; run `snakemake` to make it")
    inputs = functools.partial(stale.inputs, jobs)
    needed = [target for target in ancestors(named, inputs) if _here(tree, target)]
    renewed = [t for t in needed if not _is_up_to_date(tree, jobs[t])]
    affected = descendants(renewed, jobs, inputs)
    judged = dict.fromkeys([*needed, *(target for target in affected if _here(tree, target))])
    report = verify(tree, jobs, list(judged))
    for target in needed:
        _check(target, report)
    stamped, lines = _stamp(tree, jobs, set(needed), affected, report)
    for target in stamped:
        record = tree.results[target].manifest
        assert record is not None
        note = _note(record.content, jobs[target], reason.strip())
        accepted = [*record.content.get("accepted", []), note]
        content = {**record.content, "digest": note["new"], "accepted": accepted}
        files.write_json(tree.path(record.name), files.sealed(content))
    return lines or ["nothing to accept: all of it is up to date"]


def _named(tree: Tree, text: str) -> list[str]:
    """The results that a path or name means; below a folder, those that were made, if any was."""
    targets = locate.targets(tree, [text])
    return [target for target in targets if _here(tree, target)] or targets


def _here(tree: Tree, target: str) -> bool:
    """True if a job left anything besides its job file."""
    result = tree.results.get(target)
    return result is not None and (result.manifest is not None or bool(result.files))


def _is_up_to_date(tree: Tree, job: Job) -> bool:
    """True if a job's result has the planned digest, or was not made here."""
    target = job.target.as_posix()
    return not _here(tree, target) or job.matches(tree.results[target].sound)


def _check(target: str, report: Report) -> None:
    """Refuse what is not sound, or what was made from another spec."""
    own = [(name, f) for name, f in report.findings.items() if report.targets[name] == target]
    for name, finding in own:
        if finding.verdict in (*BROKEN, "orphan"):
            problem = f"is {finding.verdict} ({finding.reason}); only sound results are accepted"
            raise UserError(name, problem)
        if finding.verdict == "stale-spec":
            problem = f"its spec changed ({finding.reason}); it must be made again"
            raise UserError(target, problem)


def _stamp(
    tree: Tree, jobs: dict[str, Job], needed: set[str], affected: set[str], report: Report
) -> tuple[list[str], list[str]]:
    """The results to re-stamp, upstream first, and the lines to print about these and the rest."""
    unsound = {report.targets[name] for name, f in report.findings.items() if f.verdict in BROKEN}
    stamped: list[str] = []
    lines: list[str] = []
    for target, job in jobs.items():
        if target not in affected or not _here(tree, target):
            continue
        if _is_up_to_date(tree, job):
            continue
        content = tree.results[target].sound
        why = ""
        if target in unsound:
            why = "it does not verify"
        elif content.get("partial"):
            why = "it was made from results that were not complete"
        elif target not in needed:
            old = [j.target.as_posix() for j in job.inputs if not _is_up_to_date(tree, j)]
            why = _own_change(content, job, [name for name in old if name not in stamped])
        if why:
            lines.append(f"remains  {target}: {why}; `snakemake` remakes it")
        else:
            stamped.append(target)
            lines.append(f"accepted {target}: {content['digest'][:12]} -> {job.digest[:12]}")
    return stamped, lines


def _own_change(content: dict[str, Any], job: Job, stale: list[str]) -> str:
    """The reason why a result downstream cannot follow; empty if it can."""
    if files.sealed({"spec": content["spec"]}) != files.sealed({"spec": job.spec}):
        return "its own spec changed"
    modules = code_digest.changed(manifest.code_of(content), job.code)
    if modules:
        return f"its own code changed too ({', '.join(modules)})"
    return f"{stale[0]} is not accepted" if stale else ""


def _note(content: dict[str, Any], job: Job, reason: str) -> dict[str, Any]:
    return {
        "old": content["digest"],
        "new": job.digest,
        "changed": code_digest.changed(manifest.code_of(content), job.code),
        "code": job.code,
        **revision.facts(),
        "reason": reason,
        "who": _who(),
        "when": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
    }


def _who() -> str:
    """The name that git signs with, else the login name."""
    try:
        return revision.git(None, "config", "user.name").decode().strip() or account.name()
    except (OSError, subprocess.SubprocessError):
        return account.name()
