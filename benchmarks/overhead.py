"""The cost of the cluster profile beside the work: `python -m benchmarks.overhead [JOBS]`.

In a clone, `snakemake -n` at paper scale; then, with one paper of JOBS tiny data sets, Snakemake
makes all of them on the cluster at hand, a job each. `sacct` tells what the jobs themselves took.
"""

import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from datetime import datetime
from pathlib import Path

ROOT = Path(__file__).parent.parent
PAPER = """\
source: {title: overhead, arxiv: "0000.00000"}
figures:
  fig1: {experiments: [two_weights], caption: none}
"""
EXPERIMENTS = """\
two_weights:
  task: {{name: one_sample, point: [1.0, 1.0], target: 2.0, test_points: 100}}
  model: {{name: linear, init: 0.5, negative_slope: 1.0}}
  loss: {{name: mse, reduction: sample_mean, half: false}}
  optimizer: {{name: gd, lr: 0.1}}
  train: {{steps: 10}}
  sweep: {{task.test_seed: {seeds}}}
"""


def main() -> None:
    """Measure and print."""
    jobs = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    with tempfile.TemporaryDirectory() as clone:
        atlas = Path(clone) / "atlas"
        subprocess.run(["git", "clone", "--quiet", str(ROOT), str(atlas)], check=True)
        planned = [_snakemake(atlas, "paper", "-n") for _ in range(3)]
        dry = {"wall": [wall for wall, _ in planned], "cpu": [cpu for _, cpu in planned]}
        shutil.rmtree(atlas / "config/papers")
        folder = atlas / "config/papers/geometry"
        folder.mkdir(parents=True)
        (folder / "paper.yaml").write_text(PAPER)
        experiments = EXPERIMENTS.format(seeds=list(range(1000, 1000 + jobs)))
        (folder / "experiments.yaml").write_text(experiments)
        before = set((atlas / "results/data").glob("*/spec.json"))
        _snakemake(atlas, "smoke", "-n")  # writes the job files
        specs = sorted(set((atlas / "results/data").glob("*/spec.json")) - before)
        targets = [str((file.parent / "manifest.json").relative_to(atlas)) for file in specs]
        print(json.dumps({"paper -n": dry, "cluster": _measured(atlas, targets)}, indent=1))


def _measured(atlas: Path, targets: list[str]) -> dict[str, float]:
    """Seconds of Snakemake and of its jobs, for so many data sets."""
    wall, cpu = _snakemake(atlas, "smoke", "--", *targets)
    fields = "--format=WorkDir,State,ElapsedRaw,TotalCPU,Start,End"
    command = ["sacct", "-n", "-P", "-S", "now-1day", fields]  # with -X, TotalCPU would be 0
    lines = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
    rows = [line.split("|") for line in lines if line.startswith(f"{atlas}|")]
    starts, ends = ([datetime.fromisoformat(row[k]) for row in rows] for k in (4, 5))
    span = (max(ends) - min(starts)).total_seconds()
    manifests = [json.loads((atlas / target).read_text()) for target in targets]
    return {
        "jobs": len(rows),
        "completed": sum(row[1] == "COMPLETED" for row in rows),
        "wall": round(wall, 1),
        "from_first_start_to_last_end": span,
        "wall_beyond": round(wall - span, 1),
        "elapsed_of_jobs": sum(float(row[2]) for row in rows),
        "head_cpu_per_job": round(cpu / len(rows), 3),
        "job_cpu_per_job": round(sum(_seconds(row[3]) for row in rows) / len(rows), 3),
        "wall_of_their_work": round(sum(made["wall_seconds"] for made in manifests), 1),
    }


def _seconds(text: str) -> float:
    """A time as `sacct` writes it, such as ``00:05.421``."""
    return sum(60**place * float(part) for place, part in enumerate(reversed(text.split(":"))))


def _snakemake(atlas: Path, scale: str, *arguments: str) -> tuple[float, float]:
    """Wall and CPU seconds of Snakemake on this machine, its calls of Slurm's commands included."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    line = [sys.executable, "-m", "snakemake", "--profile", "slurm", "--config", f"scale={scale}"]
    variables = {
        k: v for k, v in os.environ.items() if k not in ("SNAKEMAKE_PROFILE", "PYTHONPATH")
    }
    subprocess.run([*line, *arguments], cwd=atlas, env=variables, check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return round(time.monotonic() - start, 2), round(cpu, 2)


if __name__ == "__main__":
    main()
