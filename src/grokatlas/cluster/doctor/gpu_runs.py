"""Runs that will train on a GPU: whether their steps can be captured, and whether they fit it."""

import os
import shutil
import subprocess
from collections.abc import Iterator

from grokatlas.cluster.doctor import cluster
from grokatlas.cluster.doctor.findings import Finding, State
from grokatlas.engine.memory import group_size
from grokatlas.plan import gpu_runs, resources
from grokatlas.plan.jobs import Job
from grokatlas.results import gpu_leases
from grokatlas.text import file_size, some_of

USUAL = 80 * 10**9  # bytes of a GPU that cannot be asked, as those of a cluster
NAMED = 3  # runs that a line names
PATIENCE = 60.0  # seconds that nvidia-smi may take
QUERY = ("--query-gpu=memory.total", "--format=csv,noheader,nounits")


def look(missing: list[Job], device: str) -> Iterator[Finding]:
    """A line on capture and one on memory; none where no run will train on a GPU."""
    trained = [job for job in missing if job.kind == "run" and "task" in job.spec]
    runs = [job for job in trained if resources.uses_gpu("run", job.spec)]
    if device == "cpu" or not runs or not (cluster.here() or gpu_leases.devices()):
        return
    yield from _capture(runs)
    yield from _memory(runs)


def _capture(runs: list[Job]) -> Iterator[Finding]:
    """The runs that replay captured steps, and those that take them one by one, by component."""
    if os.environ.get("GROKATLAS_CAPTURE") == "0":
        text = f"GROKATLAS_CAPTURE=0: {len(runs)} GPU runs take their steps one by one"
        yield Finding("ok", "capture", text)
        return
    apart: dict[str, list[Job]] = {}
    for job in runs:
        if waiting := gpu_runs.waiting(job.spec):
            apart.setdefault(" and ".join(waiting), []).append(job)
    count = len(runs) - sum(len(jobs) for jobs in apart.values())
    texts = [f"{count} of {len(runs)} GPU runs replay captured steps"]
    for why, jobs in apart.items():
        texts.append(f"one by one, as {why} waits for the host: {_names(jobs)}")
    yield Finding("ok", "capture", "; ".join(texts))


def _memory(runs: list[Job]) -> Iterator[Finding]:
    """The largest run against the memory of a GPU."""
    known = _of_this_machine()
    total, whose = known or USUAL, "here" if known else "assumed, none can be asked here"
    needs = {job: gpu_runs.needs(job.spec) for job in runs}
    sizes = {job: group_size(each, total) for job, each in needs.items()}
    most = max(needs.values(), key=lambda each: each.bytes(each.members))
    text = (
        f"the largest run needs about {file_size(most.bytes(most.members))} of {file_size(total)}"
    )
    text = f"{text} ({whose})"
    if refused := [job for job in runs if sizes[job] == 0]:
        hint = "`sweep` their seeds instead of `ensemble`, or set device: cpu"
        state: State = "fail" if known else "warn"
        text = f"{text}; do not fit even member by member: {_names(refused)}; {hint}"
        yield Finding(state, "gpu-memory", text)
    elif parted := [job for job in runs if sizes[job] < needs[job].members]:
        text = f"{text}; their members move in groups, which takes longer: {_names(parted)}"
        yield Finding("warn", "gpu-memory", text)
    else:
        yield Finding("ok", "gpu-memory", text)


def _names(jobs: list[Job]) -> str:
    return some_of([job.target.name for job in jobs], NAMED)


def _of_this_machine() -> int | None:
    """Bytes of the smallest GPU here; None where nvidia-smi does not say, or jobs go elsewhere."""
    if cluster.here() or not shutil.which("nvidia-smi"):
        return None
    command = ["nvidia-smi", *QUERY]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=PATIENCE)
    sizes = [line.strip() for line in done.stdout.splitlines()]
    known = [int(size) << 20 for size in sizes if size.isdigit()]
    return min(known, default=None)
