"""How much is left to make: jobs, and hours of GPUs and cores; from recorded ones if they fit."""

import contextlib
import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from grokatlas import registry
from grokatlas.cluster.doctor import cluster
from grokatlas.cluster.doctor.findings import Finding
from grokatlas.declare.settings import Settings
from grokatlas.errors import UserError
from grokatlas.plan import resources
from grokatlas.plan.jobs import Job
from grokatlas.results import files, gpu_leases, layout
from grokatlas.run_store import entry as entries
from grokatlas.run_store import store as run_store

NEAR = 2.0  # times the work of a recorded run: taken over whatever the run took
FAR = 100.0  # not taken over beyond that
LONG = (
    60.0  # seconds that a run has to have taken to be taken over up to there: starting counts less
)
HOUR = 3600.0
BASES = {
    "cuda": "from like ones recorded on a GPU",
    "cpu": "from like ones recorded on a CPU",
    "formula": "by the formula of one CPU core",
    "unknown": "measures not counted, none like them is recorded",
}


@dataclass(frozen=True)
class TimedRun:
    """A finished run or measure.

    Attributes:
        kind: names of its components.
        device: cpu or cuda.
        work: seconds of one core by the formula.
        seconds: that it took.
    """

    kind: tuple[str, ...]
    device: str
    work: float
    seconds: float


@dataclass(frozen=True)
class Estimate:
    """What a job will take.

    Attributes:
        seconds: about.
        basis: what that is taken from: cpu or cuda, where a like run was recorded, or formula.
    """

    seconds: float
    basis: str


def look(missing: list[Job], scale: str, settings: Settings) -> Iterator[Finding]:
    """The number of jobs by kind; then the hours of those that take long."""
    root = run_store.chosen()
    brought = [job for job in missing if _stored(root, job)]
    missing = [job for job in missing if job not in brought]
    if not missing:
        yield Finding("ok", "forecast", f"everything is made at scale {scale}")
        return
    counts = Counter(job.kind for job in missing)
    text = ", ".join(f"{number} {kind}{'s' * (number > 1)}" for kind, number in counts.items())
    stored = f"; {len(brought)} runs come from the run store" if brought else ""
    yield Finding("ok", "forecast", f"to make at scale {scale}: {text}{stored}")
    known = recorded()
    any_gpu = settings.device != "cpu" and (cluster.here() or bool(gpu_leases.devices()))
    hours: dict[str, list[Estimate | None]] = {"GPU": [], "core": []}
    for job in missing:
        if job.kind in ("run", "measure"):
            gpu = any_gpu and resources.uses_gpu(job.kind, job.spec)
            hours["GPU" if gpu else "core"].append(estimate(job, known, gpu))
    for unit, estimates in hours.items():
        if estimates:
            yield Finding("ok", f"{unit}-hours", _summary(estimates))


def _summary(jobs: list[Estimate | None]) -> str:
    estimates = [job for job in jobs if job is not None]
    total = sum(each.seconds for each in estimates) / HOUR
    longest = max((each.seconds for each in estimates), default=0) / HOUR
    counts = Counter(each.basis if each else "unknown" for each in jobs)
    basis = ", ".join(f"{counts[key]} {text}" for key, text in BASES.items() if counts[key])
    return f"about {total:.2g}, the longest job {longest:.2g} ({basis})"


def recorded() -> list[TimedRun]:
    """Every finished run and measure below ``results``; what cannot be read is left out."""
    found = []
    measures = layout.measure_stem("", "")
    runs = registry.own_files(layout.run_folder(""), "*/manifest.json")
    for path in [*registry.own_files(measures, "*/*.manifest.json"), *runs]:
        with contextlib.suppress(UserError, LookupError, TypeError, ValueError, OSError):
            found.append(_record(files.read_json(path), path.parent.name))
    return found


def _record(manifest: dict[str, Any], run: str) -> TimedRun:
    if manifest["kind"] == "run":
        spec, took = manifest["spec"], float(manifest["train_seconds"])
        return TimedRun(_kind(spec), manifest["device"]["type"], resources.seconds(spec), took)
    spec = files.read_json(layout.spec_path("run", layout.run_folder(run)))["spec"]
    kind = (manifest["spec"]["measure"]["name"], *_kind(spec))
    return TimedRun(kind, "cpu", _measure_work(spec), float(manifest["wall_seconds"]))


def _measure_work(spec: dict[str, Any]) -> float:
    return max(resources.measure_seconds(spec), 1.0)  # one of no snapshots reads the history


def estimate(job: Job, known: list[TimedRun], gpu: bool) -> Estimate | None:
    """What a run or a measure will take.

    Taken from the finished one of the same components whose work by the formula is nearest, times
    the ratio of the two. If there is none near enough, a run's is the formula's, a measure's is not
    known.

    Args:
        job: a run or a measure.
        known: finished ones.
        gpu: whether the job will have a GPU; those recorded on one are then preferred.
    """
    if job.kind == "measure":
        spec = job.inputs[0].spec
        work, kind = _measure_work(spec), (job.spec["measure"]["name"], *_kind(spec))
    else:
        work, kind = resources.seconds(job.spec), _kind(job.spec)
    like = [each for each in known if each.kind == kind and _near(each, work)]
    device = "cuda" if gpu else "cpu"
    like = [each for each in like if each.device == device] or like
    if like:
        best = min(like, key=lambda each: abs(math.log(each.work / work)))
        return Estimate(best.seconds * work / best.work, best.device)
    return Estimate(work, "formula") if job.kind == "run" else None


def _near(run: TimedRun, work: float) -> bool:
    ratio = max(run.work / work, work / run.work)
    return ratio <= (FAR if run.seconds >= LONG else NEAR)


def _kind(spec: dict[str, Any]) -> tuple[str, ...]:
    """The names of a run's components, and its precision."""
    names = []
    for block in registry.FOLDERS:
        entry = spec.get(block, [])
        listed = entry if isinstance(entry, list) else [entry]
        names += [f"{block}.{each['name']}" for each in listed if block != "observables"]
    return (*names, spec["train"]["dtype"])


def _stored(root: Path | None, job: Job) -> bool:
    """Whether the run store has a run, which is then copied instead of trained."""
    if root is None or job.kind != "run":
        return False
    places = (entries.place_of(root, "run", job.target.name, each) for each in job.digests)
    return any(map(entries.exists, places))
