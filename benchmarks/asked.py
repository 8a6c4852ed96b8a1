"""Minutes and memory that runs ask for beside what they took: `python -m benchmarks.asked RUNS...`.

RUNS are folders of finished runs, such as ``results/runs``; a run found twice counts once.
"""

import json
import sys
from pathlib import Path

from grokatlas.plan import resources


def main() -> None:
    """Print a line for each run, those that asked for the shortest time last."""
    runs = {}
    for folder in sys.argv[1:]:
        for file in Path(folder).glob("*/manifest.json"):
            runs[file.parent.name] = json.loads(file.read_text())
    lines = [_line(run, made) for run, made in runs.items()]
    print("run           dynamics                      minutes asked   taken  factor     MB  asked")
    for _, line in sorted(lines, reverse=True):
        print(line)


def _line(run: str, made: dict) -> tuple[int, str]:
    """The request of a run, from its spec, beside its processor time and memory."""
    asked, taken = resources.of_run(made["spec"]), made["cpu_seconds"] / 60
    name = made["spec"]["dynamics"]["name"]
    text = f"{run}  {name:29s} {asked.runtime:13d} {taken:7.2f} {asked.runtime / taken:7.1f} "
    return asked.runtime, f"{text}{made['peak_memory_mb']:6.0f} {asked.mem_mb:6d}"


if __name__ == "__main__":
    main()
