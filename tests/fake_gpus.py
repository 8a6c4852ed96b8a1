"""A machine with GPUs that are names: an `nvidia-smi` that lists them."""

import os
import tempfile
from pathlib import Path

import pytest

from grokatlas.results import gpu_leases
from tests.checkout import program


def install(folder: Path, monkeypatch: pytest.MonkeyPatch, *lines: str) -> None:
    """Let ``nvidia-smi -L`` say these lines, and leases lie in a folder; nothing is leased yet."""
    lister = program(folder / "bin" / "nvidia-smi", "\n".join(["cat <<END", *lines, "END"]))
    monkeypatch.setenv("PATH", f"{lister.parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("TMPDIR", str(folder))
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    monkeypatch.setattr(gpu_leases, "_held", [])
    monkeypatch.setenv(gpu_leases.VISIBLE, "")  # so that what a lease sets is undone
    monkeypatch.delenv(gpu_leases.VISIBLE)


def gpu(number: int) -> str:
    """A line of `nvidia-smi -L`."""
    return f"GPU {number}: Pretended (UUID: GPU-{number}{number}aa)"
