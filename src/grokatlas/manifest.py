"""What a job records about itself: enough to trace, verify and repeat it."""

import importlib.metadata
import os
import platform
import resource
import socket
import subprocess
import time
from pathlib import Path
from typing import Any

from grokatlas import digest, job_files, store
from grokatlas.components import PACKAGE
from grokatlas.errors import UserError

PACKAGES = ("torch", "numpy", "numba", "pandas", "pyarrow", "safetensors", "scikit-learn")
PACKAGES += ("adversarial-robustness-toolbox", "matplotlib", "snakemake")


class Recorder:
    """Collects the manifest of one job, from its start to its last written file.

    Args:
        job: the job file's content (kind, spec, code, digest).
        inputs: files the job reads.
    """

    def __init__(self, job: dict[str, Any], inputs: list[Path]) -> None:
        self.job = job
        self.inputs = {str(file): _recorded_sha256(file) for file in inputs}
        self.git = git_state()
        self.started = time.time()
        self.clock = time.perf_counter()
        self.extra: dict[str, Any] = {}

    def note(self, **facts: Any) -> None:
        """Add facts that only the job knows, such as its device."""
        self.extra.update(facts)

    def write(self, path: Path, outputs: list[Path]) -> None:
        """Write the manifest; the last file of a job, so that it vouches for the others."""
        usage = resource.getrusage(resource.RUSAGE_SELF)
        content = {
            "kind": self.job["kind"],
            "digest": self.job["digest"],
            "spec": self.job["spec"],
            "code": self.job["code"],
            "inputs": self.inputs,
            "outputs": {file.name: digest.file_sha256(file) for file in outputs},
            "git": self.git,
            "versions": versions(),
            "host": host(),
            "started": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(self.started)),
            "wall_seconds": round(time.perf_counter() - self.clock, 3),
            "cpu_seconds": round(usage.ru_utime + usage.ru_stime, 3),
            "peak_memory_mb": round(usage.ru_maxrss / 1024, 1),
            **self.extra,
        }
        store.write_json(path, store.sealed(content))
        # what seems newer than its outputs would make Snakemake remove them
        job_files.date_back(map(Path, self.inputs), path.stat().st_mtime)


def code_of(manifest: dict[str, Any]) -> dict[str, str]:
    """The code that a result stands for: that of its last acceptance, else the one that made it."""
    accepted = manifest.get("accepted") or [{}]
    code: dict[str, str] = accepted[-1].get("code", manifest["code"])
    return code


def versions() -> dict[str, str]:
    """Versions of Python and of the packages that can change a number."""
    found = {"python": platform.python_version()}
    for package in ("grokatlas", *PACKAGES):
        try:
            found[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found


def host() -> dict[str, Any]:
    """The machine: name, system, CPU model, cores; and the batch job, if one is known."""
    facts: dict[str, Any] = {
        "name": socket.gethostname(),
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        "cpu": _cpu_model(),
        "cores": os.cpu_count(),
    }
    job = os.environ.get("SLURM_JOB_ID")
    return facts | ({"slurm_job": job} if job else {})


def git_state() -> dict[str, Any] | None:
    """Commit and dirty flag of the code; None outside its git checkout.

    Dirty means that a tracked file differs from the commit, or that a file that can change a number
    is not tracked.
    """
    try:
        root = Path(_git(PACKAGE, "rev-parse", "--show-toplevel"))
        if (root / "src" / PACKAGE.name).resolve() != PACKAGE.resolve():
            return None
        commit = _git(root, "rev-parse", "HEAD")
        dirty = _git(root, "status", "--porcelain", "--untracked-files=no")
        sources = ("src", "config", "workflow", "Snakefile")
        dirty += _git(root, "status", "--porcelain", "--untracked-files=normal", "--", *sources)
    except (OSError, subprocess.SubprocessError):
        return None
    return {"commit": commit, "dirty": bool(dirty)}


def _git(folder: Path, *arguments: str) -> str:
    command = ["git", "-C", str(folder), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=10)
    return done.stdout.strip()


def _cpu_model() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.processor() or "unknown"


def _recorded_sha256(path: Path) -> str:
    """The hash a file's manifest records (it was checked when the file was read), else its own."""
    manifest = store.manifest_path(path)
    if manifest.exists() and manifest != path:
        recorded: str | None = store.read_json(manifest).get("outputs", {}).get(path.name)
        if recorded:
            return recorded
    try:
        return digest.file_sha256(path)
    except OSError as error:
        raise UserError(str(path), f"cannot be read: {error.strerror}; run `snakemake`") from None
