"""`python -m benchmarks`: every workload in a process of its own, then the report."""

import argparse
import datetime as dt
import json
import os
import platform
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import torch

import grokatlas
from benchmarks import report, worker
from benchmarks.workloads import WORKLOADS
from grokatlas.results import environment

ROOT = Path(__file__).parent.parent
BY_HAND = "<!-- by hand: `make benchmark` keeps what follows -->"


def main() -> None:
    """Measure and write ``performance.md`` and ``performance.json``; of a GPU files of its own.

    What was measured on a GPU is in ``performance-cuda.md``, and its targets in the other page.
    """
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    text = "measure these alone; the others stay as they were measured before, on this machine"
    parser.add_argument("--only", nargs="+", choices=WORKLOADS, default=list(WORKLOADS), help=text)
    parser.add_argument("--quick", action="store_true", help="a rough look in two minutes")
    text = "of timing for a workload, at least two rounds"
    parser.add_argument("--seconds", type=float, default=worker.SECONDS, help=text)
    parser.add_argument("--device", choices=("cpu", "cuda"), default=_device())
    parser.add_argument("--output", type=Path, default=ROOT / "docs", help="folder (docs)")
    given = parser.parse_args()
    results = {
        "machine": _machine(given.device),
        "versions": _versions(),
        "device": given.device,
        "quick": given.quick,
        "workloads": [_measure(name, given) for name in given.only],
    }
    numbers = _numbers(given.output, given.device)
    results = report.beside_earlier(results, _read(numbers))
    results["targets"] = report.targets(results)
    given.output.mkdir(parents=True, exist_ok=True)
    numbers.write_text(json.dumps(results, indent=1) + "\n")
    for written in write_pages(given.output):
        print(f"written: {written}")


def write_pages(folder: Path) -> list[Path]:
    """Write the pages of what was measured before, in a folder."""
    cpu, gpu = (_read(_numbers(folder, device)) for device in ("cpu", "cuda"))
    written = []
    if cpu:
        page = folder / "performance.md"
        page.write_text(report.page(cpu, gpu) + _by_hand(page))
        written.append(page)
    if gpu:
        page = folder / "performance-cuda.md"
        page.write_text(report.page(gpu) + _by_hand(page))
        written.append(page)
    return written


def _numbers(folder: Path, device: str) -> Path:
    return folder / f"performance{'-cuda' if device == 'cuda' else ''}.json"


def _read(numbers: Path) -> dict[str, Any]:
    results: dict[str, Any] = json.loads(numbers.read_text()) if numbers.exists() else {}
    return results


def _by_hand(page: Path) -> str:
    """The text that people added below the report, from `BY_HAND` on."""
    _, mark, rest = (page.read_text() if page.exists() else "").partition(BY_HAND)
    return f"\n{mark}{rest}" if mark else ""


def _measure(name: str, given: argparse.Namespace) -> dict[str, Any]:
    """One workload, in a process of its own."""
    print(f"{WORKLOADS[name].title} ...", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder) / "measured.json"
        command = [sys.executable, "-m", "benchmarks.worker", name, str(output)]
        command += ["--device", given.device, "--seconds", str(given.seconds)]
        command += ["--quick"] if given.quick else []
        subprocess.run(command, check=True, cwd=ROOT)
        measured: dict[str, Any] = json.loads(output.read_text())
    return measured | {"date": dt.date.today().isoformat()}


def _device() -> str:
    return "cuda" if torch.cuda.is_available() else "cpu"


def _machine(device: str) -> dict[str, Any]:
    processor = environment.host()["cpu"]
    machine: dict[str, Any] = {"processor": processor, "threads": torch.get_num_threads()}
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    machine["memory"] = f"{memory / 1e9:.0f} GB"
    if device == "cuda":
        machine["GPU"] = torch.cuda.get_device_name()
    return machine


def _versions() -> dict[str, str]:
    return {
        "grokatlas": grokatlas.__version__,
        "Python": platform.python_version(),
        "torch": torch.__version__,
        "NumPy": np.__version__,
    }


if __name__ == "__main__":
    main()
