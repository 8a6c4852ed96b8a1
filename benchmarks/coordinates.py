"""An update of the XOR clusters in all coordinates beside one in those of the span.

`python -m benchmarks.coordinates` takes about five minutes of one core at the published size.
"""

import torch

from benchmarks import timing
from benchmarks.start import Ours
from benchmarks.workloads import WORKLOADS
from grokatlas.engine import dataset, members
from grokatlas.rules.jobs import devices

CPU = torch.device("cpu")
BUDGET, BLOCK = 60.0, 1.0  # seconds of all rounds, and of one contender's turn


def main() -> None:
    """Print milliseconds of one member's update with and without GrokAlign, and their ratios."""
    devices.use_repeatable_kernels()
    spec = WORKLOADS["xor"].of(1)
    plain = {key: value for key, value in spec.items() if key != "penalties"}
    print("                 all coordinates, ms    of the span, ms    ratio")
    for name, each in (("weight decay", plain), ("GrokAlign", spec)):
        seconds = compared(each)
        ratio = seconds["all"] / seconds["span"]
        print(f"{name:16} {1e3 * seconds['all']:20.0f} {1e3 * seconds['span']:18.1f} {ratio:8.1f}")


def compared(spec: dict) -> dict[str, float]:
    """Seconds of an update of a run in ``all`` coordinates and in those of the ``span``."""
    data = dataset.make(members.tasks(spec))
    moved = spec | {"train": spec["train"] | {"coordinates": "span"}}
    contenders = {"all": Ours(spec, data, CPU), "span": Ours(moved, data, CPU)}
    timed = timing.compare(contenders, CPU, BUDGET, BLOCK)
    return {name: samples.best for name, samples in timed.items()}


if __name__ == "__main__":
    main()
