"""The plan of all papers at a scale, for the next Snakemake in this folder.

Such a plan is a function of the configuration, of the recorded numbers that its texts name, of what
the studies of a checkout recorded, and of the source tree. Where each of these files has the
contents that it had, the jobs are those that were planned before, and nothing is parsed, checked or
hashed again. Two plans are never kept: one of some papers, which depends on the figures that are
here, and one with a `script`, which depends on files anywhere. As in `plan.cache`, a file that is
absent, damaged or of other code is no plan.
"""

import contextlib
import json
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pydantic

from grokatlas import registry
from grokatlas.code import module_shape
from grokatlas.plan import cache, recorded_studies, summaries
from grokatlas.plan.jobs import KINDS, Job, Plan
from grokatlas.results import hashing
from grokatlas.results.foreign import SCRIPT

FILE = ".snakemake/grokatlas-plan-{}.json"  # of a scale
RECORDED = Path("recorded/claims.csv")  # beside the configuration: `declare.bound_numbers`
GROUPS = {kind: group for group, kind in KINDS.items()}
Captions = dict[str, dict[str, str]]


class KeptPlan:
    """The cached plan of one scale.

    Args:
        folder: the configuration.
        scale: smoke, quick or paper.

    The files are hashed here, so before anything of them is read for a plan that `keep` gets.
    """

    def __init__(self, folder: Path, scale: str) -> None:
        self._folder, self._scale = folder, scale
        self._file = Path(FILE.format(scale))
        self._key = self._hash_of_files()

    def read(self) -> tuple[Plan, Captions] | None:
        """The plan with its figures' captions by paper; None where there is none of these files."""
        content = cache.read(self._file)
        with contextlib.suppress(LookupError, TypeError, ValueError):  # of other code
            besides = content["besides"]
            if content["key"] == self._key and besides == _hashes(map(Path, besides)):
                return _plan(self._scale, content["jobs"], content["codes"]), content["captions"]
        return None

    def keep(self, plan: Plan, captions: Captions) -> None:
        """Keep a plan of all papers, unless a file of it was edited meanwhile."""
        besides = _hashes(_read_by_modules(plan))
        jobs, codes = _rows(plan)
        content = {"key": self._key, "besides": besides, "captions": captions}
        scripts = any(SCRIPT in run.spec for run in plan.runs.values())
        if not scripts and self._key == self._hash_of_files():
            cache.write(self._file, **content, jobs=jobs, codes=codes)

    def _hash_of_files(self) -> str:
        """A hash of all files that a plan is made from, but for those that modules name."""
        source = [*registry.modules().values(), *summaries.parts()]
        checkout = self._folder.parent
        declared = [*registry.own_files(self._folder, "**/*"), checkout / RECORDED]
        declared += recorded_studies.files_read(checkout)
        versions, content = [sys.version, pydantic.VERSION], _hashes([*source, *declared])
        return hashing.of([versions, str(registry.study()), content])


def _hashes(known: Iterable[Path]) -> dict[str, str | None]:
    """sha256 of files by path; None of a folder, and of what cannot be read."""
    return {str(file): cache.digest(file) for file in known}


def _read_by_modules(plan: Plan) -> Iterator[Path]:
    """The files that modules of a plan name (`FILES`)."""
    for name, (_, source) in plan.sources.parsed.items():
        path = module_shape.path_of(name)
        yield from (path.parent / file for file in source.files if path)


def _rows(plan: Plan) -> tuple[list[list[Any]], list[dict[str, str]]]:
    """The jobs of a plan as plain data, and their codes, each once: many jobs share one."""
    places = {job.target: place for place, job in enumerate(plan.jobs)}
    codes: dict[str, int] = {}
    rows = []
    for job in plan.jobs:
        code = codes.setdefault(json.dumps(job.code), len(codes))
        inputs = [places[each.target] for each in job.inputs]
        rows.append([job.kind, job.target.as_posix(), job.spec, code, inputs, job.digests])
    return rows, [json.loads(code) for code in codes]


def _plan(scale: str, rows: list[list[Any]], codes: list[dict[str, str]]) -> Plan:
    """The plan that `_rows` wrote; upstream comes first, so that each input is there."""
    plan, jobs = Plan(scale), list[Job]()
    for kind, target, spec, code, inputs, digests in rows:
        job = Job(kind, Path(target), spec, codes[code], tuple(jobs[place] for place in inputs))
        vars(job)["digests"] = hashing.Digests(*digests)
        jobs.append(job)
        group = getattr(plan, GROUPS[kind])
        group[scale if kind in ("claims", "atlas") else _wildcards(job)] = job
    return plan


def _wildcards(job: Job) -> str | tuple[str, str]:
    """The wildcards of a job's rule, by which a plan has it."""
    name = job.target.name
    return name if job.kind in ("dataset", "run") else (job.target.parent.name, name)
