"""This machine: its GPUs, its disk, and a lock that was left over."""

import contextlib
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from grokatlas.cluster import slurm, unlock
from grokatlas.cluster.doctor import cluster, files
from grokatlas.cluster.doctor.findings import Finding, State
from grokatlas.errors import UserError
from grokatlas.plan import resources
from grokatlas.plan.jobs import Job
from grokatlas.results import gpu_leases, links
from grokatlas.text import file_size

LEAST = 2 * 10**9  # bytes that should be free besides: data sets, tables, logs
PATIENCE = 120.0  # seconds that torch may take to start


def gpus(missing: list[Job], device: str) -> Iterator[Finding]:
    """The devices of this machine, and whether torch sees them; not where jobs go to a cluster."""
    if cluster.here():
        return
    if device == "cpu":
        yield Finding("ok", "gpu", "not wanted (device: cpu)")
        return
    found = gpu_leases.devices()
    if not found:
        fail = device == "cuda"
        hint = "install its driver, or set device: auto" if fail else "runs train on the CPU"
        yield Finding("fail" if fail else "ok", "gpu", f"nvidia-smi shows none here; {hint}")
        return
    command = [sys.executable, "-c", cluster.PROBE]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=PATIENCE)
    _, _, name = done.stdout.strip().partition("|")
    if done.returncode or name == "no GPU":
        last = done.stderr.strip().splitlines()[-1:] or ["a build without CUDA, or an old driver"]
        text = f"nvidia-smi shows {len(found)}, but torch sees none: {last[0]}"
        state: State = "fail" if device == "cuda" else "warn"
        yield Finding(state, "gpu", f"{text}; install the torch of your driver's CUDA")
        return
    costly = [job for job in missing if job.kind in ("run", "measure")]
    wanting = sum(resources.of_job(job, device).gpu for job in costly)
    yield Finding("ok", "gpu", f"{len(found)} here ({name}) for {wanting} jobs; each leases one")


def disk(missing: list[Job]) -> Iterator[Finding]:
    """The space for the runs that are not made yet."""
    links.check()
    place = files.place()
    free = shutil.disk_usage(place).free
    need = sum(resources.bytes_written(job.spec) for job in missing if job.kind == "run")
    text = f"{file_size(free)} free in {place}, missing runs need about {file_size(need)}"
    if free > 2 * need + LEAST:
        yield Finding("ok", "disk", text)
    else:
        hint = "make room, or make `results` a link to a folder on another disk (docs/cluster.md)"
        yield Finding("warn" if free > need else "fail", "disk", f"{text}; {hint}")


def lock(folder: Path) -> Iterator[Finding]:
    """What a Snakemake that was killed left: its lock, and jobs on a cluster."""
    if jobs := slurm.workflow_or_none(folder):
        yield Finding("ok", "lock", f"held by the Snakemake of jobs {jobs}")
        return
    if pid := unlock.snakemake(folder):
        yield Finding("ok", "lock", f"held by the Snakemake that runs here (process {pid})")
        return
    left = []
    with contextlib.suppress(UserError):  # that Slurm does not answer has its own line
        left = unlock.jobs(folder)
    locked = unlock.locked(folder)
    if left or locked:
        what = " and ".join(["a lock"] * locked + [f"{len(left)} jobs"] * bool(left))
        hint = "unless it runs on another machine: grokatlas unlock"
        yield Finding("fail", "lock", f"{what} left over, of a Snakemake that was killed; {hint}")
        return
    yield Finding("ok", "lock", "none is left over")
