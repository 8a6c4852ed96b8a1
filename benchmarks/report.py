"""The page of what was measured, with every target and whether it was met."""

import textwrap
from collections.abc import Callable
from itertools import pairwise
from typing import Any

from benchmarks.workloads import WORKLOADS

TRACED = ("gradient_training", "isolated_first_layer")  # others are compiled for CPUs
NOISE = 1.05  # a rise of the cost of a member by less is not told from noise
INTRODUCTION = """\
Written by `python -m benchmarks` (`--device cuda` on a GPU, `--only WORKLOAD` for one of them); the
numbers are in the file of the same name beside it, which ends in `.json`. Ours against two peers
that train one member, written as users write them: *script* is a module, `torch.optim`, a
`DataLoader` that fetches sample by sample, and `loss.item()` after each step; *careful* has its
data on the device, no loader, a fused optimizer, and one forward pass for loss and regulariser. For
dynamics that are an equation, *script* is the equation as papers and authors' code write it,
*careful* a loop without temporaries. A test makes sure that all three compute the same updates.

All contenders of a workload take turns in one process with the same threads and dtype; a number is
the median of the best round. A member-update is one update of one member. The floor of a step is
what its list of operations needs at the measured speed of the device: multiplications and additions
of matrix products, or bytes read and written by every operation, whichever takes longer.\
""".splitlines()
MEMORY = 6e9  # bytes, of XOR in float64
UNKNOWN = "not measured"
ON_GPU = [name for name, each in WORKLOADS.items() if each.spec["dynamics"]["name"] in TRACED]


def page(results: dict[str, Any], gpu: dict[str, Any] | None = None) -> str:
    """The report in Markdown.

    Args:
        results: ``machine``, ``versions``, ``device``, ``quick``, and ``workloads``, as
            `worker.measure` returns them, each with its ``date``.
        gpu: the same of a GPU, of which a page of a CPU shows the targets; None if there is none.
    """
    lines = [
        f"# Speed and memory{' on a GPU' if results['device'] == 'cuda' else ''}",
        "",
        *INTRODUCTION,
        "",
        *_machine(results),
    ]
    for measured in results["workloads"]:
        lines += ["", *_section(measured)]
    lines += ["", *_targets(results)]
    if results["device"] == "cpu":
        lines += ["", *gpu_section(gpu or {})]
    return "\n".join([*lines, ""])


def beside_earlier(results: dict[str, Any], earlier: dict[str, Any]) -> dict[str, Any]:
    """The measurements, with earlier ones of other workloads where all else was the same.

    Args:
        results: as for `page`.
        earlier: likewise, or empty.
    """
    if any(results[key] != earlier.get(key) for key in ("machine", "versions", "device", "quick")):
        return results
    measured = {each["name"]: each for each in (*earlier["workloads"], *results["workloads"])}
    return results | {"workloads": [measured[name] for name in WORKLOADS if name in measured]}


def targets(results: dict[str, Any]) -> list[dict[str, Any]]:
    """Every target of what was measured: what it asks, what was seen, whether it is met."""
    judged = []
    for measured in results["workloads"]:
        judge = _gpu_targets if results["device"] == "cuda" else _cpu_targets
        judged += [{"workload": measured["name"]} | target for target in judge(measured)]
    return judged


def _cpu_targets(measured: dict[str, Any]) -> list[dict[str, Any]]:
    each = _per_member(measured)
    judged = []
    if 1 in each:
        ratio = measured["careful"] / each[1]
        judged.append(
            _target("one member: at least as fast as careful", f"{ratio:.2f}x", ratio >= 1)
        )
    if "table1" in WORKLOADS[measured["name"]].kind:
        ratio = measured["script"] / min(each.values())
        judged.append(_target("at least 10x script per member", f"{ratio:.1f}x", ratio >= 10))
    if len(each) > 1:
        counts = sorted(each)
        rises = {(few, many): each[many] / each[few] for few, many in pairwise(counts)}
        worst = max(rises, key=lambda pair: rises[pair])
        seen = f"{rises[worst]:.2f}x from {worst[0]} to {worst[1]} members"
        asked = f"cost of a member never rises with their number (within {NOISE - 1:.0%})"
        judged.append(_target(asked, seen, rises[worst] <= NOISE))
    if measured["name"] == "xor" and measured["published_size"]:
        held = measured["peak_memory"]["bytes"]
        judged.append(_target("one member in 6 GB", f"{held / 1e9:.2f} GB", held <= MEMORY))
    return judged


def _gpu_targets(measured: dict[str, Any]) -> list[dict[str, Any]]:
    """The targets of a workload on a GPU; of one that was not measured, ``met`` is None."""
    workload = WORKLOADS[measured["name"]]
    each = _per_member(measured) if "ours" in measured else {}
    judged = []
    if "mlp" in workload.kind:
        ratio = measured["careful"] / each[16] if 16 in each else None
        judged.append(_at("16 members: 20x careful per member", ratio, lambda x: x >= 20))
        ratio = 64 * each[64] / each[1] if 1 in each and 64 in each else None
        judged.append(
            _at("a step of 64 members takes at most 4x that of one", ratio, lambda x: x <= 4)
        )
    floors = measured.get("floor", {})
    for count in (workload.members[0], workload.members[-1]):
        floor = floors.get(str(count))
        ratio = each[count] * count / floor["seconds"] if floor else None
        judged.append(_at(f"a step of {count} beside the device's floor", ratio, None))
    waits = measured.get("waits_for_host")
    seen = UNKNOWN if waits is None else f"{'waits' if waits else 'no wait'}, {measured['how']}"
    asked = "a step never waits for the host"
    judged.append({"asked": asked, "seen": seen, "met": None if waits is None else not waits})
    return judged


def _at(asked: str, ratio: float | None, fulfils: Callable[[float], bool] | None) -> dict[str, Any]:
    """A target by a ratio; one that asks for nothing is only shown."""
    if ratio is None:
        return {"asked": asked, "seen": UNKNOWN, "met": None}
    met = None if fulfils is None else bool(fulfils(ratio))
    return {"asked": asked, "seen": f"{ratio:.1f}x", "met": met}


def _target(asked: str, seen: str, met: bool) -> dict[str, Any]:
    return {"asked": asked, "seen": seen, "met": bool(met)}


def _per_member(measured: dict[str, Any]) -> dict[int, float]:
    """Seconds per update of one member, by the number of members."""
    return {int(count): seconds / int(count) for count, seconds in measured["ours"].items()}


def _machine(results: dict[str, Any]) -> list[str]:
    rows = [*results["machine"].items(), *results["versions"].items()]
    lines = ["| | |", "| --- | --- |", *(f"| {key} | {value} |" for key, value in rows)]
    if results["quick"]:
        lines += ["", "**A quick look: few rounds and members. The numbers are rough.**"]
    return lines


def _section(measured: dict[str, Any]) -> list[str]:
    workload, each = WORKLOADS[measured["name"]], _per_member(measured)
    lines = [
        f"## {workload.title}",
        "",
        *textwrap.wrap(
            f"`{workload.source}`, {measured['dtype']}, {measured['parameters']:,} parameters of a "
            f"member, {measured['rounds']} rounds, {measured['date']}.{_notes(measured)}",
            width=100,
        ),
        "",
        "| | ms per member-update | member-updates per second | against script | against careful |",
        "| --- | --- | --- | --- | --- |",
    ]
    rows = [("script", measured["script"]), ("careful", measured["careful"])]
    rows += [(f"ours, {count} member{'s' * (count > 1)}", each[count]) for count in sorted(each)]
    for name, seconds in rows:
        ratios = [f"{measured[peer] / seconds:.2f}x" for peer in ("script", "careful")]
        lines.append(
            f"| {name} | {seconds * 1e3:.4g} | {1 / seconds:,.0f} | {' | '.join(ratios)} |"
        )
    for count, reason in measured["skipped"].items():
        lines.append(f"| ours, {count} members | skipped: {reason} | | | |")
    held = measured["peak_memory"]
    count = held["members"]
    lines += [
        "",
        f"Peak memory with {count} member{'s' * (count > 1)}: {held['bytes'] / 1e9:.2f} GB.",
    ]
    return lines + _floors(measured)


def _floors(measured: dict[str, Any]) -> list[str]:
    speed = measured["floor"].get("device")
    if speed is None:
        return []
    lines = [
        "",
        f"The device does {speed['flops_per_second'] / 1e9:,.0f} Gflop/s in a large matrix product "
        f"and moves {speed['bytes_per_second'] / 1e9:,.0f} GB/s in a large copy.",
        "",
        "| members | operations | Gflop | MB moved | floor, ms a step | ours, ms a step |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for count, floor in measured["floor"].items():
        if count != "device":
            numbers = f"{floor['flops'] / 1e9:.3g} | {floor['bytes'] / 1e6:,.0f}"
            times = f"{floor['seconds'] * 1e3:.3g} | {measured['ours'][count] * 1e3:.3g}"
            lines.append(f"| {count} | {floor['operations']} | {numbers} | {times} |")
    return lines


def _notes(measured: dict[str, Any]) -> str:
    notes = ""
    if not measured["published_data"]:
        notes += " Random pixels stand for the images: a step's time does not depend on them."
    if not measured["published_size"]:
        notes += f" **Not the published size: {WORKLOADS[measured['name']].quick}.**"
    return notes


def gpu_section(results: dict[str, Any]) -> list[str]:
    """The targets of a GPU, workload by workload, with what was seen.

    Args:
        results: as for `page`, of a GPU; empty if none was at hand.
    """
    measured = {each["name"]: each for each in results.get("workloads", [])}
    judged = []
    for name in ON_GPU:
        rows = _gpu_targets(measured.get(name, {"name": name}))
        judged += [{"workload": name} | row for row in rows]
    if results:
        where = f"On {results['machine']['GPU']}; [all numbers](performance-cuda.md)."
    else:
        where = "No GPU was at hand: `python -m benchmarks --device cuda` measures all of it."
    return ["## Targets on a GPU", "", where, "", *_table(judged)]


def _targets(results: dict[str, Any]) -> list[str]:
    judged = targets(results)
    asked = [target for target in judged if target["met"] is not None]
    met = sum(target["met"] for target in asked)
    return ["## Targets", "", f"{met} of {len(asked)} met.", "", *_table(judged)]


def _table(judged: list[dict[str, Any]]) -> list[str]:
    lines = ["| workload | asked | seen | |", "| --- | --- | --- | --- |"]
    verdicts = {True: "met", False: "**missed**", None: ""}
    for target in judged:
        title = WORKLOADS[target["workload"]].title
        verdict = verdicts[target["met"]]
        lines.append(f"| {title} | {target['asked']} | {target['seen']} | {verdict} |")
    return lines
