"""The manifest of a job: enough to trace, verify and repeat it."""

import sys
import time
from pathlib import Path
from typing import Any

from grokatlas.errors import UserError
from grokatlas.results import dates, environment, files, hashing, layout, revision

MARK = "run_store"  # key of a result that was brought in from the run store


class ManifestWriter:
    """The manifest of one job, from its start to its last written file."""

    def __init__(self, job: dict[str, Any], inputs: list[Path]) -> None:
        self.job = job
        self.inputs = {str(file): _recorded_sha256(file) for file in inputs}
        self.revision = revision.facts(job["code"])
        if problem := self.revision.get("git_problem"):
            print(f"warning: the commit of the code is not recorded: {problem}", file=sys.stderr)
        self.started = time.time()
        self.clock = time.perf_counter()
        self.extra: dict[str, Any] = {}

    def note(self, **facts: Any) -> None:
        """Add facts that only the job knows, such as its device."""
        self.extra.update(facts)

    def write(self, path: Path, outputs: list[Path]) -> None:
        """Write the manifest; the last file of a job, so that it vouches for the others."""
        content = {
            "kind": self.job["kind"],
            "digest": self.job["digest"],
            "spec": self.job["spec"],
            "code": self.job["code"],
            "inputs": self.inputs,
            "outputs": {file.name: hashing.file_sha256(file) for file in outputs},
            **self.revision,
            "versions": environment.versions(),
            "environment": environment.variables(),
            "host": environment.host(),
            "started": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(self.started)),
            "wall_seconds": round(time.perf_counter() - self.clock, 3),
            "cpu_seconds": round(time.process_time(), 3),
            "peak_memory_mb": environment.peak_memory_mb(),
            **self.extra,
        }
        files.write_json(path, files.sealed(content))
        # what seems newer than its outputs would make Snakemake remove them
        dates.date_back(map(Path, self.inputs), path.stat().st_mtime)


def code_of(manifest: dict[str, Any]) -> dict[str, str]:
    """The code of a result: that of its last acceptance, else the one that made it."""
    accepted = manifest.get("accepted") or [{}]
    code: dict[str, str] = accepted[-1].get("code", manifest["code"])
    return code


def made_elsewhere(manifest: dict[str, Any]) -> bool:
    """True if a run was brought in, or made its data itself: its data set need not be here."""
    return MARK in manifest or not manifest["inputs"]


def _recorded_sha256(path: Path) -> str:
    """The hash a file's manifest records (it was checked when the file was read), else its own."""
    manifest = layout.manifest_path(path)
    if manifest.exists() and manifest != path:
        recorded: str | None = files.read_json(manifest).get("outputs", {}).get(path.name)
        if recorded:
            return recorded
    try:
        return hashing.file_sha256(path)
    except OSError as error:
        raise UserError(str(path), f"cannot be read: {error.strerror}; run `snakemake`") from None
