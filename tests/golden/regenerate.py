"""The golden traces: `python tests/golden/regenerate.py [CASE ...]` writes them anew.

Only after a change that is meant to change numbers; the diff of the csv files shows what it did.
"""

import functools
import json
import operator
import platform
import sys
from pathlib import Path
from typing import Any

import pandas as pd
import torch
import yaml

from grokatlas.engine import dataset, members, training

HERE = Path(__file__).parent
MACHINE = HERE / "machine.json"


def _cases() -> dict[str, dict[str, Any]]:
    """The spec of each trace, as `cases.yaml` puts them together."""
    data = yaml.safe_load((HERE / "cases.yaml").read_text(encoding="utf-8"))
    made = {}
    for name, case in data["cases"].items():
        parts = [data["blocks"][block] for block in reversed(case["blocks"])]
        spec = functools.reduce(operator.or_, parts, data["every"])
        own = {"dtype": name.rpartition("-")[2]} | case.get("train", {})
        made[name] = spec | {"train": spec["train"] | own}
    return made


CASES = _cases()
REAL_DATA = ("mnist", "cifar10")  # traces of files that are no part of this repository


def trace(case: str) -> pd.DataFrame:
    """The history of a case: losses and norms of two members, at each of 20 steps."""
    spec = CASES[case]
    result = training.train(spec, dataset.make(members.tasks(spec)), torch.device("cpu"))
    return pd.DataFrame(result.history).astype({"member": "int64", "step": "int64"})


def machine() -> dict[str, str]:
    """What the last digits depend on: torch's release and the CPU, by which kernels are chosen."""
    capability = torch.backends.cpu.get_cpu_capability()
    return {"torch": torch.__version__, "capability": capability, "cpu": _cpu()}


def _cpu() -> str:
    """Name, family and model of the CPU, as far as the system tells."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text(encoding="utf-8").splitlines() if info.exists() else []
    facts = dict(line.split(":", 1) for line in lines if ":" in line)
    wanted = ("model name", "cpu family", "model", "stepping")
    known = {key.strip(): value.strip() for key, value in facts.items()}
    return ", ".join(known.get(key, platform.machine()) for key in wanted)


def main(cases: list[str]) -> None:
    """Write the traces of some cases, or of all."""
    torch.set_num_threads(1)
    if not cases:
        MACHINE.write_text(json.dumps(machine(), indent=1) + "\n", encoding="utf-8")
    elif json.loads(MACHINE.read_text(encoding="utf-8")) != machine():
        sys.exit("the other traces were written on another machine: write all of them anew")
    for case in cases or CASES:
        trace(case).to_csv(HERE / f"{case}.csv", index=False, lineterminator="\n")
        print(HERE / f"{case}.csv")


if __name__ == "__main__":
    main(sys.argv[1:])
