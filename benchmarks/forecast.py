"""`python -m benchmarks.forecast`: the time of all runs on this device, from a few timed updates.

Runs that differ in seeds and values alone take as long as each other, so that one of a class is
timed. Training that ends where it generalises takes less than what is said.
"""

import argparse
import json
import math
import time
from typing import Any

import pandas as pd
import torch

from benchmarks.start import Ours
from benchmarks.timing import wait
from grokatlas.engine import dataset, members
from grokatlas.plan import remaining
from grokatlas.plan.jobs import with_ancestors
from grokatlas.results import foreign
from grokatlas.rules.jobs import devices

UNTIMED: dict[str, list[Any]] = {"observables": [], "measures": []}


def main() -> None:
    """Time every class of run, and print the hours of each paper as a table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.forecast", description=__doc__)
    parser.add_argument("--scale", default="paper")
    parser.add_argument("--seconds", type=float, default=1.0, help="of timing for a class (1)")
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    given = parser.parse_args()
    devices.use_repeatable_kernels()  # as runs do
    print(forecast(given.scale, torch.device(given.device), given.seconds).to_string(index=False))


def forecast(scale: str, device: torch.device, seconds: float) -> pd.DataFrame:
    """The hours of training of each paper's figures, of all, and of the longest run.

    A run that several papers show counts for each, and for all once. ``left_out`` are the runs
    that could not be timed, of which a line says why.

    Args:
        scale: of the figures.
        device: that trains.
        seconds: of timing for a class of runs.
    """
    timed: dict[str, float] = {}
    rows = []
    every: dict[str, float] = {}
    for paper, specs in _specs(scale).items():
        hours = {}
        for run, spec in specs.items():
            key = class_of(spec)
            if key not in timed:
                timed[key] = _tried(paper, spec, device, seconds)
            hours[run] = timed[key] * spec["train"]["steps"] / 3600
        every |= hours
        rows.append(_row(paper, hours))
    return pd.DataFrame([*rows, _row("all", every)])


def class_of(spec: dict[str, Any]) -> str:
    """A spec without its seeds, numbers that are no sizes, and what is logged."""
    return json.dumps(_sizes({**spec, **UNTIMED, "train": _updates(spec["train"])}))


def seconds_per_step(spec: dict[str, Any], device: torch.device, seconds: float) -> float:
    """The seconds of an update of all members of a run, without its logs."""
    given = {key: value for key, value in spec.items() if key not in ("start", *UNTIMED)}
    ours = Ours({**given, "observables": []}, dataset.make(members.tasks(spec)), device)
    ours.steps(2)
    count, steps, begins = 1, 0, time.perf_counter()
    while (took := time.perf_counter() - begins) < seconds:
        ours.steps(count)
        wait(device)
        # compiled loops take any number of steps in no time, up to those of the run
        steps, count = steps + count, min(2 * count, spec["train"]["steps"])
    return took / steps


def _specs(scale: str) -> dict[str, dict[str, dict[str, Any]]]:
    """The specs of all runs that train, by paper and run."""
    figures = remaining.at(scale).plan.figures
    made: dict[str, dict[str, dict[str, Any]]] = {}
    for (paper, _), figure in figures.items():
        for job in with_ancestors([figure]):
            if job.kind == "run" and not foreign.kind(job.spec):
                made.setdefault(paper, {})[job.target.name] = job.spec
    return made


def _tried(paper: str, spec: dict[str, Any], device: torch.device, seconds: float) -> float:
    """The seconds of an update; not a number, with a line why, where its data are not at hand."""
    try:
        return seconds_per_step(spec, device, seconds)
    except Exception as error:  # a forecast goes on with the others
        print(f"left out: {paper}, task {spec['task']['name']}: {error}")
        return math.nan


def _row(paper: str, hours: dict[str, float]) -> dict[str, Any]:
    each = pd.Series(hours, dtype=float)
    numbers = {"hours": round(each.sum(), 2), "longest": round(each.max(), 2)}
    return {"paper": paper, "runs": len(each), **numbers, "left_out": int(each.isna().sum())}


def _updates(train: dict[str, Any]) -> dict[str, Any]:
    return {key: train[key] for key in ("batch_size", "dtype", "shuffle") if key in train}


def _sizes(value: Any, key: str = "") -> Any:
    """Blocks without floats and seeds; of a list of an ensemble's values its length."""
    if isinstance(value, dict):
        pairs = {k: _sizes(v, f"{key}.{k}") for k, v in value.items() if not k.endswith("seed")}
        return pairs | {k: len(v) for k, v in value.items() if key == ".ensemble"}
    if isinstance(value, list):
        return [_sizes(each, key) for each in value]
    return None if isinstance(value, float) else value


if __name__ == "__main__":
    main()
