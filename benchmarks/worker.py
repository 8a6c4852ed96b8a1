"""One workload, timed in a process of its own: its peak memory is then its own as well."""

import argparse
import json
import os
import resource
import sys
from pathlib import Path
from typing import Any

import torch

from benchmarks import floor, timing
from benchmarks.start import Ours, start
from benchmarks.workloads import WORKLOADS, bytes_needed, data_of
from grokatlas.engine import capture
from grokatlas.rules.jobs import devices

SECONDS = 70.0  # that the contenders of a workload have together


def measure(name: str, device: torch.device, quick: bool, seconds: float) -> dict[str, Any]:
    """Time ours at every number of members, and both peers, for so many seconds in all.

    Returns:
        plain numbers: seconds per step of each contender, what was skipped and why, peak memory of
        a run of the fewest members before any other began, counted operations and their floor.
    """
    workload = WORKLOADS[name]
    torch.manual_seed(0)
    counts = workload.members[::2] if quick and len(workload.members) > 2 else workload.members
    spec = workload.of(counts[0], quick)
    data, published = data_of(spec)
    ours = Ours(spec, data, device)
    begin = start(ours)
    ours.steps(2)
    peak = _peak(device)
    parameters = sum(value.numel() for value in begin.params.values())
    contenders = {f"ours {counts[0]}": ours, "careful": workload.careful(begin)}
    skipped = {}
    for count in counts[1:]:
        spec = workload.of(count, quick)
        reason = _too_large(bytes_needed(spec, parameters), device)
        if reason:
            skipped[str(count)] = reason
        else:
            contenders[f"ours {count}"] = Ours(spec, data_of(spec)[0], device)
    contenders["script"] = workload.script(begin)
    budget, block = (2.0, 0.1) if quick else (seconds, 0.4)
    timed = timing.compare(contenders, device, budget, block)
    return {
        "name": name,
        "dtype": spec["train"]["dtype"],
        "ours": {key.split()[1]: t.best for key, t in timed.items() if key.startswith("ours")},
        "careful": timed["careful"].best,
        "script": timed["script"].best,
        "rounds": len(timed["careful"].medians),
        "skipped": skipped,
        "published_data": published,
        "published_size": not (quick and workload.quick),
        "parameters": parameters,
        "peak_memory": {"members": counts[0], "bytes": peak},
        "floor": _floor(contenders, device, getattr(torch, spec["train"]["dtype"])),
        "waits_for_host": _waits(ours, device),
        "how": ours.run.how,
    }


def _floor(contenders: dict[str, Any], device: torch.device, dtype: torch.dtype) -> dict[str, Any]:
    """The floor for one member and for the most; none where steps are a compiled loop's."""
    floors: dict[str, Any] = {}
    many = [name for name in contenders if name.startswith("ours")]
    if contenders[many[0]].compiled:
        return floors
    speed = floor.device_speed(device, dtype)
    for name in (many[0], many[-1]):
        contenders[name].one_by_one()
        counted = floor.count(contenders[name])
        floors[name.split()[1]] = counted | {"seconds": floor.seconds(counted, speed)}
    return floors | {"device": speed}


def _peak(device: torch.device) -> int:
    if device.type == "cuda":
        return torch.cuda.max_memory_allocated(device)
    scale = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * scale


def _too_large(needed: int, device: torch.device) -> str:
    if device.type == "cuda":
        free = torch.cuda.mem_get_info(device)[0]
    else:
        free = os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    if needed <= 0.7 * free:
        return ""
    return f"needs about {needed / 1e9:.0f} GB, {free / 1e9:.0f} GB are free"


def _waits(ours: Ours, device: torch.device) -> bool | None:
    """True if a step waits for the host; None on a CPU, where it is not known."""
    if device.type != "cuda":
        return None
    ours.steps(2 * (capture.WARM + capture.CHUNK))  # what is captured first waits once
    torch.cuda.set_sync_debug_mode("error")
    try:
        ours.steps(3)
    except RuntimeError:
        return True
    finally:
        torch.cuda.set_sync_debug_mode("default")
    return False


def main() -> None:
    """Measure one workload and write its numbers as JSON."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.worker")
    parser.add_argument("name", choices=WORKLOADS)
    parser.add_argument("output", type=Path)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--seconds", type=float, default=SECONDS)
    given = parser.parse_args()
    devices.use_repeatable_kernels()  # as runs do: other kernels are timed otherwise
    measured = measure(given.name, torch.device(given.device), given.quick, given.seconds)
    given.output.write_text(json.dumps(measured))


if __name__ == "__main__":
    main()
