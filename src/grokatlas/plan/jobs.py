"""The jobs of a plan, and which of them depend on which."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from grokatlas.code import code_digest
from grokatlas.results import files, freshness, hashing, layout, manifest, records_only
from grokatlas.results.ancestry import ancestors, descendants

# field of a plan -> the kind of its jobs, upstream first
KINDS = {
    "datasets": "dataset",
    "runs": "run",
    "measures": "measure",
    "tables": "table",
    "figures": "figure",
    "claims": "claims",
    "atlas": "atlas",
}


@dataclass(frozen=True, eq=False)
class Job:
    """One job of the workflow: what it makes, from what, under which digest.

    Attributes:
        kind: dataset, run, measure, table, figure, claims or atlas.
        target: the folder (dataset, run, atlas) or the stem (the others) of its files.
        spec: plain data that describes the job completely.
        code: digest of every module that it can reach.
        inputs: the jobs whose files it reads.
    """

    kind: str
    target: Path
    spec: dict[str, Any]
    code: dict[str, str]
    inputs: tuple["Job", ...] = ()

    @cached_property
    def digests(self) -> hashing.Digests:
        """Change with the spec, the code or anything upstream, and with nothing else."""
        upstream = [job.digests for job in self.inputs]
        return hashing.of_job(self.kind, self.spec, self.code, upstream)

    @property
    def digest(self) -> str:
        """The digest of a result that is made now."""
        return self.digests.today

    @property
    def spec_path(self) -> Path:
        """The job file, which is the rule's first input."""
        return layout.spec_path(self.kind, self.target)

    @property
    def manifest(self) -> Path:
        """The manifest that the job leaves."""
        return layout.manifest_of(self.kind, self.target)

    @property
    def outputs(self) -> list[Path]:
        """The files that the job makes, without its manifest."""
        return layout.outputs(self.kind, self.target)

    @property
    def files_read(self) -> list[Path]:
        """The files of other jobs that this one reads."""
        return [file for each in self.inputs for file in each.read_by(self.kind)]

    def read_by(self, kind: str) -> list[Path]:
        """The files of it that jobs of a kind read: a table no snapshots, a run these alone."""
        if (self.kind, kind) == ("run", "run"):
            return [layout.snapshots_of(self.target)]
        return self.outputs[:1] if kind == "table" else self.outputs

    def matches(self, manifest: dict[str, Any]) -> bool:
        """Tell if a manifest, empty where it cannot be trusted, is of a whole result of this job.

        See `freshness.matches`.
        """
        return freshness.matches(manifest, self.digests, self.code)

    def state(self) -> freshness.State:
        """The state of its result now: up to date, stale or absent."""
        return freshness.state(self.kind, self.target, self._matches_here, self.files_read)

    def _matches_here(self, manifest: dict[str, Any]) -> bool:
        """`matches`; a digest of the former form says less of what the result was made from."""
        if not self.matches(manifest):
            return False
        if manifest["digest"] == self.digest:
            return True
        here = [(job, freshness.manifest_or_none(job.manifest)) for job in self.inputs]
        return all(known is None or job.matches(known) for job, known in here)

    @property
    def content(self) -> dict[str, Any]:
        """The content of the job file."""
        return {
            "kind": self.kind,
            "spec": self.spec,
            "code": self.code,
            "digest": self.digest,
            "inputs": [str(job.target) for job in self.inputs],
        }


@dataclass
class Plan:
    """All jobs of one scale, by the wildcards of their rules."""

    scale: str
    datasets: dict[str, Job] = field(default_factory=dict)
    runs: dict[str, Job] = field(default_factory=dict)
    measures: dict[tuple[str, str], Job] = field(default_factory=dict)
    tables: dict[tuple[str, str], Job] = field(default_factory=dict)
    figures: dict[tuple[str, str], Job] = field(default_factory=dict)
    claims: dict[str, Job] = field(default_factory=dict)  # by the scale, as the atlas
    atlas: dict[str, Job] = field(default_factory=dict)
    besides: set[Path] = field(default_factory=set)  # read by these two, and not made here
    sources: code_digest.Sources = field(default_factory=code_digest.Sources)
    _states: dict[Path, freshness.State] = field(default_factory=dict)

    def copy(self) -> "Plan":
        """A plan with the same jobs, to which others can be added; it shares all states."""
        groups: dict[str, Any] = {group: dict(getattr(self, group)) for group in KINDS}
        return replace(self, **groups)

    @property
    def jobs(self) -> list[Job]:
        """Every job, upstream first."""
        return [job for group in KINDS for job in getattr(self, group).values()]

    def state(self, job: Job) -> freshness.State:
        """The state of a job's result when it was first asked for."""
        if job.target not in self._states:
            self._states[job.target] = job.state()
        return self._states[job.target]

    def states(self) -> dict[Path, freshness.State]:
        """The state of every job's result, by target."""
        return {job.target: self.state(job) for job in self.jobs}

    def is_up_to_date(self, job: Job) -> bool:
        """Tell if a job's result is up to date."""
        return self.state(job) == "up to date"

    def look_again(self, targets: Iterable[Path]) -> list[Job]:
        """The jobs with these targets and all that depend on them; their states are forgotten."""
        chosen = set(targets)
        jobs = self.jobs
        forgotten = descendants(
            (job for job in jobs if job.target in chosen), jobs, lambda job: job.inputs
        )
        for job in forgotten:
            self._states.pop(job.target, None)
        return [job for job in jobs if job in forgotten]

    def inputs(self, job: Job) -> list[tuple[Path, bool]]:
        """Every file that a job reads and that this plan makes, and whether it is up to date.

        A job that is up to date and whose files are here waits for no file that was never here: the
        data set of a run that was made elsewhere, and what an archive left out. Snakemake may make
        such a file meanwhile for another job, and would then make this one again.
        """
        inputs = [each for each in job.inputs if each.target not in self.besides]
        read = [(file, each) for each in inputs for file in each.read_by(job.kind)]
        if self.is_up_to_date(job) and all(file.exists() for file in job.read_by("table")):
            content = files.read_json(job.manifest) if job.kind == "run" else None
            elsewhere = content is not None and manifest.made_elsewhere(content)
            read = [
                (file, each)
                for file, each in read
                if file.exists() or not (elsewhere or file.as_posix() in self._left_out)
            ]
        return [(file, self.is_up_to_date(each)) for file, each in read]

    @cached_property
    def _left_out(self) -> dict[str, str]:
        """The files that archives left out; many jobs ask."""
        return records_only.read(layout.RESULTS)


def with_ancestors(jobs: Iterable[Job]) -> list[Job]:
    """Jobs of one plan and all that they depend on."""
    return ancestors(jobs, lambda job: job.inputs)
