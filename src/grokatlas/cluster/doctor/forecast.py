"""The jobs that are left to make, and hours of GPUs and cores: by the rate of recorded ones."""

import contextlib
import statistics
from collections import Counter
from collections.abc import Iterator
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

LONG = 60.0  # seconds that a recorded job has to have taken: of a shorter one the start counts
HOUR = 3600.0
BASES = {
    "cuda": "from like ones recorded on a GPU",
    "cpu": "from like ones recorded on a CPU",
    "formula": "by the formula of one CPU core",
    "unknown": "measures not counted, none like them is recorded",
}
Kind = tuple[str, ...]  # names of a job's components
# seconds for each second of the formula, of the recorded jobs of a kind and a device
Rates = dict[tuple[Kind, str], list[float]]


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
    rates = recorded_rates()
    any_gpu = settings.device != "cpu" and (cluster.here() or bool(gpu_leases.devices()))
    hours: dict[str, list[tuple[float, str]]] = {"GPU": [], "core": []}
    for job in missing:
        if job.kind in ("run", "measure"):
            gpu = any_gpu and resources.uses_gpu(job.kind, job.spec)
            hours["GPU" if gpu else "core"].append(estimate(job, rates, gpu))
    for unit, estimates in hours.items():
        if estimates:
            seconds = [each for each, _ in estimates]
            bases = Counter(basis for _, basis in estimates)
            basis = ", ".join(f"{bases[key]} {text}" for key, text in BASES.items() if bases[key])
            total, longest = sum(seconds) / HOUR, max(seconds) / HOUR
            text = f"about {total:.2g}, the longest job {longest:.2g} ({basis})"
            yield Finding("ok", f"{unit}-hours", text)


def recorded_rates() -> Rates:
    """The rates of finished jobs below ``results``; what cannot be read is left out."""
    rates: Rates = {}
    measures = registry.own_files(layout.measure_stem("", ""), "*/*.manifest.json")
    for path in [*measures, *registry.own_files(layout.run_folder(""), "*/manifest.json")]:
        with contextlib.suppress(UserError, LookupError, TypeError, ValueError):
            manifest = files.read_json(path)
            if manifest["kind"] == "run":
                kind, work = _kind_and_work(manifest["spec"])
                took, device = manifest["train_seconds"], manifest["device"]["type"]
            else:
                run = layout.spec_path("run", layout.run_folder(path.parent.name))
                spec, measure = files.read_json(run)["spec"], manifest["spec"]["measure"]
                kind, work = _kind_and_work(spec, measure["name"])
                took, device = manifest["wall_seconds"], "cpu"
            if took >= LONG:
                rates.setdefault((kind, device), []).append(took / work)
    return rates


def estimate(job: Job, rates: Rates, gpu: bool) -> tuple[float, str]:
    """The seconds that a run or a measure will take, and what that is taken from.

    The formula's, times the median rate of like ones, on a GPU if the job will have one.
    """
    if job.kind == "run":
        kind, work = _kind_and_work(job.spec)
    else:
        kind, work = _kind_and_work(job.inputs[0].spec, job.spec["measure"]["name"])
    for device in ("cuda", "cpu") if gpu else ("cpu", "cuda"):
        if like := rates.get((kind, device)):
            return work * statistics.median(like), device
    return (work, "formula") if job.kind == "run" else (0.0, "unknown")


def _kind_and_work(spec: dict[str, Any], measure: str = "") -> tuple[Kind, float]:
    """The components of a run, or of a measure of it, and its seconds on a core by the formula."""
    blocks = [block for block in registry.FOLDERS if block != "observables"]
    components = registry.entries(spec, blocks)
    names = [measure, *(f"{block}.{entry['name']}" for _, block, entry in components)]
    # a measure of no snapshots reads the history
    work = max(resources.measure_seconds(spec), 1.0) if measure else resources.seconds(spec)
    return (*names, spec.get("train", {}).get("dtype", "")), work


def _stored(root: Path | None, job: Job) -> bool:
    """Tell if the run store has a run, which is then copied instead of trained."""
    if root is None or job.kind != "run":
        return False
    places = (entries.place_of(root, "run", job.target.name, digest) for digest in job.digests)
    return any(map(entries.exists, places))
