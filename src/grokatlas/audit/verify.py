"""One verdict for every file of a results tree, and the first broken edge behind it."""

import functools
from collections import Counter
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from grokatlas import registry
from grokatlas.audit import mixed
from grokatlas.audit.tree import Tree
from grokatlas.code import code_digest
from grokatlas.declare.names import CONFIG
from grokatlas.plan.jobs import Job
from grokatlas.results import dotted, foreign, hashing, layout
from grokatlas.results.manifest import MARK, code_of
from grokatlas.results.result import JsonFile, Result

NOT_KEPT = "not kept"  # an archive handed on the record of the file, and not the file
SOUND = ("ok", NOT_KEPT)
BROKEN = ("modified", "missing", "unverified")
VERDICTS = (*SOUND, "stale-code", "stale-spec", "modified", "missing", "orphan", "unverified")


@dataclass(frozen=True)
class Finding:
    """The verdict on one file.

    Attributes:
        verdict: one of `VERDICTS`.
        reason: what is wrong, empty for one of `SOUND`.
        chain: from the result that the file belongs to, to where the walk upstream broke.
    """

    verdict: str = "ok"
    reason: str = ""
    chain: tuple[str, ...] = ()


OK = Finding()


@dataclass
class Report:
    """The findings on files, and what else there is to say.

    Attributes:
        findings: by file.
        targets: the result of each file.
        accepted: the notes of every accepted result, by target.
        brought: the targets that were brought from a run store.
        hashes: sha256 of every file that was hashed.
        notes: of what could not be judged.
    """

    findings: dict[str, Finding] = field(default_factory=dict)
    targets: dict[str, str] = field(default_factory=dict)
    accepted: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    brought: list[str] = field(default_factory=list)
    hashes: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    @property
    def counts(self) -> dict[str, int]:
        """The number of files with each verdict."""
        counts = Counter(finding.verdict for finding in self.findings.values())
        return {verdict: counts[verdict] for verdict in VERDICTS}

    @property
    def ok(self) -> bool:
        """True if every file is ok, or was left out on purpose."""
        return all(finding.verdict in SOUND for finding in self.findings.values())


def verify(tree: Tree, jobs: dict[str, Job] | None, targets: list[str] | None = None) -> Report:
    """Judge every file of a tree, or of some targets and all they were made from.

    Args:
        tree: the results.
        jobs: of the checkout's plan; None judges hashes alone.
        targets: where to start from; everything by default.
    """
    judge = _Judge(tree, jobs)
    chosen = list(tree.results) if targets is None else tree.ancestors(targets)
    tree.hash_all(judge.named(chosen))
    report = Report()
    for target in chosen:
        for name, finding in judge.files(target).items():
            report.findings[name] = finding
            report.targets[name] = target
        notes = tree.results[target].sound.get("accepted")
        if notes:
            report.accepted[target] = notes
        if MARK in tree.results[target].sound:
            report.brought.append(target)
    for name, finding in judge.absent(chosen).items():
        report.findings.setdefault(name, finding)
        report.targets.setdefault(name, name)
    report.hashes = {n: tree.sha256(n) for n in judge.named(chosen) if tree.path(n).is_file()}
    report.findings = dict(sorted(report.findings.items()))
    report.notes = _notes(tree, jobs, chosen)
    return report


class _Judge:
    """Walks from any result to its origin, each result judged once."""

    def __init__(self, tree: Tree, jobs: dict[str, Job] | None) -> None:
        self.tree = tree
        self.jobs = jobs
        self._files: dict[str, dict[str, Finding]] = {}
        self._open: set[str] = set()

    def named(self, targets: list[str]) -> list[str]:
        """The files there are that some manifest vouches for."""
        names = [name for target in targets for name in self.tree.results[target].outputs]
        there = (set(self.tree.results[target].files) for target in targets)
        lying = set().union(*there) - self.tree.refused.keys()
        return [name for name in names if name in lying]

    def absent(self, targets: list[str]) -> dict[str, Finding]:
        """The files that a manifest read and that are not here."""
        findings = {}
        for target in targets:
            for name in self.tree.results[target].sound.get("inputs", {}):
                if self.tree.owner(name) is None:
                    verdict, reason = self._absence(name)
                    reason = reason or f"{target} was made from it"
                    findings[name] = Finding(verdict, reason, (target, name))
        return findings

    def _absence(self, name: str) -> tuple[str, str]:
        """The verdict on a file that no result has, and why, if a link is the reason."""
        link = self.tree.link_above(name)
        return ("unverified", f"{link} {self.tree.refused[link]}") if link else ("missing", "")

    def files(self, target: str) -> dict[str, Finding]:
        """The verdict on every file of a result."""
        if target not in self._files:
            result = self.tree.results[target]
            findings = self._own(result)
            shared = self.whole(result)
            job = result.job.name if result.job else None
            for name, finding in findings.items():
                if finding.verdict == "ok" and name != job and shared.verdict != "ok":
                    findings[name] = shared
            self._files[target] = findings
        return self._files[target]

    def _own(self, result: Result) -> dict[str, Finding]:
        """The verdicts on a result's files, from these files alone."""
        findings: dict[str, Finding] = {}
        manifest, job = (self._record(r, result) for r in (result.manifest, result.job))
        moved = bool(result.sound) and _moved(result)
        if moved:
            manifest = job = Finding("orphan", f"is {layout.home(result.sound)}, moved or renamed")
        if result.job:
            findings[result.job.name] = job
        elif result.manifest:
            name = result.manifest.name.removesuffix("manifest.json") + "spec.json"
            findings[name] = Finding("missing", f"{result.manifest.name} has no job file")
        if result.manifest:
            findings[result.manifest.name] = manifest
        elif result.files and result.job:
            name = result.job.name.removesuffix("spec.json") + "manifest.json"
            findings[name] = Finding("missing", "the files beside it have no manifest")
        trusted = manifest.verdict == "ok" or moved
        for name in sorted(result.files | (result.outputs.keys() if trusted else set())):
            findings[name] = self._output(name, result, manifest, trusted)
            if moved and findings[name].verdict == "ok":
                findings[name] = manifest
        return findings

    def _record(self, record: JsonFile | None, result: Result) -> Finding:
        """The verdict on a manifest or job file by itself."""
        if record is None:
            return OK
        if record.verdict != "ok":
            return Finding(record.verdict, record.problem)
        home = layout.home(record.content)
        if home is not None and home != result.target:
            return Finding("modified", f"is that of {home or 'nothing'}, not of {result.target}")
        if record is result.manifest and not _agree(result):
            return Finding("modified", f"is not of the job that {result.target}'s job file names")
        return OK

    def _output(self, name: str, result: Result, manifest: Finding, trusted: bool) -> Finding:
        if name in self.tree.refused:
            return Finding("unverified", self.tree.refused[name])
        if result.manifest is None:
            verdict = "unverified" if result.job else "orphan"
            return Finding(verdict, "no manifest vouches for it")
        if not trusted:
            return Finding("unverified", f"{result.manifest.name} {manifest.reason}")
        recorded = result.outputs.get(name)
        if recorded is None:
            return Finding("orphan", f"{result.manifest.name} does not name it")
        if name not in result.files:
            if self.tree.left_out(name):
                return Finding(NOT_KEPT)
            return Finding("missing", f"{result.manifest.name} names it")
        try:
            if self.tree.sha256(name) == recorded:
                return OK
        except OSError as error:
            return Finding("unverified", f"cannot be read: {error.strerror}")
        return Finding("modified", f"its sha256 is not the one in {result.manifest.name}")

    def whole(self, result: Result) -> Finding:
        """The verdict that all files of a result share: its origin, then its age."""
        if not result.sound or _moved(result):
            return OK
        if result.target in self._open:
            return Finding("unverified", "was made from itself", (result.target,))
        self._open.add(result.target)
        try:
            broken = self._origin(result)
            return broken if broken.verdict != "ok" else self._age(result)
        finally:
            self._open.discard(result.target)

    def _origin(self, result: Result) -> Finding:
        """The first input that does not hold, or ok."""
        for name, recorded in result.sound["inputs"].items():
            owner = self.tree.owner(name)
            if owner is None:
                _, reason = self._absence(name)
                return self._edge(
                    result, name, f"is not read: {reason}" if reason else "is missing"
                )
            upstream = self.files(owner.target).get(name, OK)
            if upstream.verdict in BROKEN or (upstream.verdict == "orphan" and not owner.sound):
                if upstream.verdict == "unverified" and len(upstream.chain) > 1:
                    return replace(upstream, chain=(result.target, *upstream.chain))
                return self._edge(result, name, f"is {upstream.verdict}")
            if not self.tree.fits(owner, name, recorded):
                problem = "was made again since and differs; run `snakemake`"
                return self._edge(result, name, problem)
        declared = self.jobs is not None and result.target in self.jobs
        for name, problem in foreign.changed(result.sound, declared):
            return self._edge(result, name, problem)
        return OK

    def _edge(self, result: Result, name: str, problem: str) -> Finding:
        return Finding("unverified", f"{name} {problem}", (result.target, name))

    def _age(self, result: Result) -> Finding:
        """The verdict on a sound result's age: is it what the checkout would make now?"""
        if self.jobs is None:
            return OK
        target, manifest = result.target, result.sound
        job = self.jobs.get(target)
        if job is None:
            if target in self.used:
                reason = "no paper declares it any more"
                return Finding("stale-spec", reason, (self.used[target], target))
            return Finding("orphan", "no paper declares it at any scale; it may be removed")
        if hashing.of(manifest["spec"]) != hashing.of(job.spec):
            path, old, new = dotted.differences(manifest["spec"], job.spec)[0]
            return Finding("stale-spec", f"{path} was {old}, now {new}", (target,))
        if manifest["kind"] == "figure" and manifest.get("partial"):
            return Finding("stale-code", "was drawn from tables of earlier code", (target,))
        if job.matches({**manifest, "partial": None}):  # of pages of a part, `partial` says so
            return OK
        modules = code_digest.changed(code_of(manifest), job.code)
        if modules:
            return Finding("stale-code", f"changed since: {', '.join(modules)}", (target,))
        for upstream in job.inputs:
            name = upstream.target.as_posix()
            if name in self.tree.results and self.tree.results[name].sound:
                older = self._age(self.tree.results[name])
                if older.verdict != "ok":
                    return replace(older, chain=(target, *older.chain))
        return Finding("stale-code", "what it was made from was renewed since", (target,))

    @functools.cached_property
    def used(self) -> dict[str, str]:
        """Every result that a declared one was made from, with one that was."""
        users: dict[str, str] = {}
        for declared in (target for target in self.tree.results if target in (self.jobs or {})):
            for target in self.tree.ancestors([declared])[1:]:
                users.setdefault(target, declared)
        return users


def _moved(result: Result) -> bool:
    """True if a whole result is in the place of another one."""
    home = layout.home(result.sound)
    if home is None or home == result.target:
        return False
    job = result.job
    return job is None or (job.verdict == "ok" and layout.home(job.content) == home)


def _agree(result: Result) -> bool:
    """True if a manifest and the job file beside it are of one job, as far as both are sound."""
    if not result.sound or result.job is None or result.job.verdict != "ok":
        return True
    manifest, job = result.sound, result.job.content
    same = manifest["digest"] == job["digest"]
    return manifest["kind"] == job["kind"] and (not same or manifest["spec"] == job["spec"])


def _notes(tree: Tree, jobs: dict[str, Job] | None, chosen: list[str]) -> list[str]:
    notes = []
    if jobs is None:
        notes.append(f"no {CONFIG}/ here: whether code and specs are current was not judged")
    elif not _same_code(Path("src/grokatlas")):
        notes.append(f"code is compared with {registry.PACKAGE}, not with src/ of this folder")
    notes += mixed.notes(tree, chosen)
    waiting = [t for t in chosen if not tree.results[t].manifest and not tree.results[t].files]
    if waiting:
        notes.append(f"{len(waiting)} planned jobs were not run yet")
    if tree.leftovers:
        text = f"{len(tree.leftovers)} temporary files of killed jobs, such as {tree.leftovers[0]}"
        notes.append(f"{text}; they may be removed")
    return notes


def _same_code(folder: Path) -> bool:
    return not folder.is_dir() or folder.resolve() == registry.PACKAGE.resolve()
